import { askNamed } from "@colloquy/machine";

import { entriesIn, stateOf } from "../../kit/journal.ts";
import { wordsOf } from "../../kit/report.ts";
import { judge } from "../story/judge.ts";
import { machineOf } from "../story/script.ts";
import type { TabCall } from "./server.ts";
import { partProblems, type Shown } from "./shown.ts";
import type { Ending, Seen } from "./talk.ts";

/** A conversation as tabs had it, after all of it ended. */
export interface Had {
  /** The journal, as the store has it, and once more when each ask had been asked again. */
  readonly journal: readonly unknown[];
  readonly again: readonly unknown[];
  /** The view of each tab at the end. */
  readonly seen: readonly Seen[];
  /** The asks with their inputs, and the ids of those that were acknowledged. */
  readonly asked: ReadonlyMap<string, string>;
  readonly acknowledged: ReadonlySet<string>;
  /** The outcomes that askers got, one for each time. */
  readonly endings: readonly { readonly askId: string; readonly ending: Ending }[];
  readonly shown: readonly Shown[];
  /** The calls, in the order of their arrival. */
  readonly performed: readonly TabCall[];
  /** When a tab began to go, by its number. */
  readonly gone: ReadonlyMap<number, number>;
  /** Tabs stood still past their leases: what they had begun may be begun by others. */
  readonly hasStalled: boolean;
}

/** Returns the problems of a conversation in tabs. */
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

/** Nothing is called again but what was called by a tab that is gone. */
const repeatProblems = ({ performed, gone }: Had): readonly string[] =>
  performed.flatMap((call, index) =>
    performed
      .slice(0, index)
      .filter(({ id, tab }) => id === call.id && (gone.get(tab) ?? Number.POSITIVE_INFINITY) > call.at)
      .map(({ tab }) => `tab ${call.tab} called ${call.what} for ${call.id}, which tab ${tab} had called and is there`),
  );

/** Every tab shows what is journalled, and asking again journals nothing. */
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
