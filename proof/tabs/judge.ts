import { askNamed, type Entry, type State } from "@colloquy/machine";
import { replay } from "@colloquy/machine/inspect";
import { declarationsOf } from "@colloquy/host";
import { type ApprovalLogItem, lawApproved, lawSharedThread } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";

import { violationsOfLaw } from "../kit/calls.ts";
import { entriesIn, statesOf } from "../kit/journal.ts";
import { performedProblems } from "../kit/performed.ts";
import { wordsOf } from "../kit/report.ts";
import { answerTo, machineOf, onceOnly, toolsOf } from "./script.ts";
import type { Performed } from "./server.ts";
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
  readonly performed: readonly Performed[];
  /** When a tab began to go, by its number. */
  readonly gone: ReadonlyMap<number, number>;
  /** Tabs stood still past their leases: what they had begun may be begun by others. */
  readonly hasStalled: boolean;
}

/** Returns the problems of a conversation; empty when nothing is lost, repeated or there twice. */
export const judge = (had: Had): readonly string[] => {
  try {
    const entries = entriesIn(had.journal);
    const states = statesOf(entries);
    const state = states.at(-1);
    if (state === undefined) return ["there is no conversation"];
    return [
      ...replayProblems(entries),
      ...askProblems(had, state),
      ...performedProblems(states, had.performed, onceOnly),
      ...(had.hasStalled ? [] : [...approvalProblems(had, entries), ...repeatProblems(had)]),
      ...partProblems(had.shown, state),
      ...seenProblems(had),
    ];
  } catch (error) {
    return [wordsOf(error)];
  }
};

const neverRun = (): Promise<string> => Promise.reject(new Error("nothing runs here"));
const tools = toolsOf(neverRun);
const machine = machineOf(tools);
const declared = declarationsOf(tools);

const replayProblems = (entries: readonly Entry[]): readonly string[] => {
  const replayed = replay(machine, entries);
  return Either.isLeft(replayed) ? [`it replays otherwise: ${JSON.stringify(replayed.left)}`] : [];
};

/** Each ask was taken once, and its askers were told what became of it. */
const askProblems = ({ journal, asked, acknowledged, endings, performed }: Had, state: State): readonly string[] => {
  const isTaken = (askId: string): boolean => askNamed(state, askId) !== null;
  const answered = endings.flatMap(({ askId, ending }) => (ending.type === "answered" ? [{ askId, ...ending }] : []));
  const unanswered = new Set(
    endings.flatMap(({ askId, ending: { type } }) => (type === "failed" && isTaken(askId) ? [askId] : [])),
  );
  const taken = [...asked.keys()].filter(isTaken);
  const ran = performed.flatMap(({ what, id }) => (what === "model" ? [] : [id]));
  return [
    ...violationsOfLaw(() =>
      lawSharedThread({
        asked: taken.filter((askId) => !unanswered.has(askId)),
        unanswered: [...unanswered],
        answered,
        stored: journal,
        ran,
        tools: declared,
      }),
    ),
    ...[...acknowledged].filter((askId) => !isTaken(askId)).map((askId) => `${askId} was acknowledged, and is lost`),
    ...answered
      .filter(({ askId, text }) => !text.includes(answerTo(asked.get(askId) ?? "")))
      .map(({ askId, text }) => `${askId} was answered with ${JSON.stringify(text)}, which does not answer it`),
  ];
};

/** Returns the calls that need an approval and ran without one, or more than once. */
const approvalProblems = ({ performed }: Had, entries: readonly Entry[]): readonly string[] => {
  const log: ApprovalLogItem[] = [];
  let known = 0;
  const store = (until: number): void => {
    for (const entry of entries.slice(known, until)) log.push({ did: "appended", entry });
    known = Math.max(known, until);
  };
  for (const { what, id, seq } of performed) {
    if (what === "model") continue;
    store(seq + 1);
    log.push({ did: "ran", key: id, input: { turn: 1 } });
  }
  store(entries.length);
  return violationsOfLaw(() => lawApproved(log, declared));
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
