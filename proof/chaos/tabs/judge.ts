import type { AskPart } from "@colloquy/host";
import {
  askNamed,
  type Message,
  messagesOf,
  type State,
  textOf,
  toArray,
  toolResultOf,
  turnNumbered,
} from "@colloquy/machine";

import { entriesIn, stateOf } from "../../kit/journal.ts";
import { wordsOf } from "../../kit/report.ts";
import { judge } from "../story/judge.ts";
import { machineOf } from "../story/script.ts";
import type { TabCall } from "./server.ts";
import type { Ending, Seen } from "./talk.ts";

export interface Had {
  readonly journal: readonly unknown[];
  readonly again: readonly unknown[];
  readonly seen: readonly Seen[];
  readonly asked: ReadonlyMap<string, string>;
  readonly acknowledged: ReadonlySet<string>;
  /** The outcomes that askers got, one for each attempt. */
  readonly endings: readonly { readonly askId: string; readonly ending: Ending }[];
  readonly shown: readonly Shown[];
  readonly performed: readonly TabCall[];
  /** The time at which a tab began to go, by its number. */
  readonly gone: ReadonlyMap<number, number>;
  /** Tabs stalled past their leases, so others may repeat what they had begun. */
  readonly hasStalled: boolean;
}

export const judgeTabs = (had: Had): readonly string[] => {
  try {
    const state = stateOf(entriesIn(had.journal));
    const isTaken = (askId: string): boolean => askNamed(state, askId) !== null;
    const asked = Array.from(had.asked, ([askId, input]) => ({ askId, input })).filter(({ askId }) => isTaken(askId));
    const failed = had.endings.filter(({ askId, ending }) => ending.type === "failed" && isTaken(askId));
    const answered = had.endings.flatMap(({ askId, ending }) =>
      ending.type === "answered" ? [{ ...ending, askId } as const] : [],
    );
    return [
      ...judge({
        journal: had.journal,
        asked,
        unanswered: failed.map(({ askId }) => askId),
        facts: [...had.performed.map((call) => ({ type: "performed", ...call }) as const), ...answered],
        machine: machineOf(),
        hasStalled: had.hasStalled,
      }),
      ...[...had.acknowledged]
        .filter((askId) => !isTaken(askId))
        .map((askId) => `${askId} was acknowledged, and is lost`),
      ...(had.hasStalled ? [] : repeatProblems(had)),
      ...partProblems(had.shown, state),
      ...seenProblems(had),
    ];
  } catch (error) {
    return [wordsOf(error)];
  }
};

const repeatProblems = ({ performed, gone }: Had): readonly string[] =>
  performed.flatMap((call, index) =>
    performed
      .slice(0, index)
      .filter(({ id, tab }) => id === call.id && (gone.get(tab) ?? Number.POSITIVE_INFINITY) > call.at)
      .map(({ tab }) => `tab ${call.tab} called ${call.what} for ${call.id}, which tab ${tab} had called and is there`),
  );

/** Checks that every tab shows the journal, and that repeated asks journal nothing. */
const seenProblems = ({ journal, again, seen }: Had): readonly string[] => {
  const stored = JSON.stringify(journal);
  const messages = new Set(seen.map((each) => each.messages));
  return [
    ...(again.length === journal.length ? [] : [`asking again journalled ${again.length - journal.length} entries`]),
    ...(messages.size <= 1 ? [] : [`the tabs show ${messages.size} different conversations`]),
    ...seen.flatMap((each, index) =>
      JSON.stringify(each.journal) === stored
        ? []
        : [`the journal that tab ${index} of the last ones reads is another`],
    ),
  ];
};

export interface Shown {
  readonly tab: number;
  readonly askId: string;
  readonly part: AskPart;
}

const partProblems = (shown: readonly Shown[], state: State): readonly string[] => {
  const handles = Map.groupBy(shown, ({ tab, askId }) => `${askId} in tab ${tab}`);
  return [...handles].flatMap(([name, parts]) =>
    problemsOf(
      parts.map(({ part }) => part),
      state,
    ).map((problem) => `what was shown of ${name}: ${problem}`),
  );
};

const problemsOf = (parts: readonly AskPart[], state: State): readonly string[] => {
  const end = parts.at(-1);
  // The tab ended before the turn, or there was no turn.
  if (end?.type !== "turn.ended" || end.status !== "completed") return [];
  const turn = turnNumbered(state, end.turn);
  const messages = turn === undefined ? [] : toArray(turn.messages);
  return [...textProblems(textsIn(parts), messages), ...resultProblems(parts, messagesOf(state))];
};

/** Returns the shown text of each step, without void parts. */
const textsIn = (parts: readonly AskPart[]): ReadonlyMap<number, string> => {
  const texts = new Map<number, string>();
  for (const part of parts) {
    if (part.type === "step.started") texts.delete(part.step);
    if (part.type === "thread.lost" || (part.type === "signal" && part.signal.type === "retry.scheduled"))
      texts.delete(Math.max(...texts.keys()));
    if (part.type === "replay.started") for (const step of texts.keys()) if (step >= part.step) texts.delete(step);
    if (part.type === "text.delta") texts.set(part.step, (texts.get(part.step) ?? "") + part.text);
  }
  return texts;
};

const textProblems = (texts: ReadonlyMap<number, string>, messages: readonly Message[]): readonly string[] => {
  const said = messages.filter(({ role }) => role === "assistant").map((message) => textOf(message));
  return [...texts].flatMap(([step, text]) =>
    // A later reader may see only the end of the text.
    said.some((each) => each.includes(text))
      ? []
      : [`step ${step} said ${JSON.stringify(text)}, which is not journalled`],
  );
};

const resultProblems = (parts: readonly AskPart[], messages: readonly Message[]): readonly string[] =>
  parts.flatMap((part) => {
    if (part.type !== "toolResult") return [];
    const result = messages.map((message) => toolResultOf(message)).find((each) => each?.callId === part.callId);
    return result?.outcome === part.outcome
      ? []
      : [`${part.callId} is ${part.outcome}, and journalled as ${result?.outcome ?? "nothing"}`];
  });
