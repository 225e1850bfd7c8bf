import { type AnswerableEffect, canonicalText, type Entry, type Json, outstanding } from "@colloquy/machine";
import { lawRecovery } from "@colloquy/runtime-test/laws";

import { stateOf } from "../kit/journal.ts";
import { violationsOfLaw } from "../kit/calls.ts";
import { endProblems, messageProblems } from "../kit/scripted-conversation.ts";
import { declarations, lines } from "./conversation.ts";
import type { Conversed } from "./converse.ts";
import { recoveredAs, rowOf } from "./table.ts";

/** The outcome of a conversation that was crashed. */
export interface Verdict {
  /** Empty when all is as the table says. */
  readonly problems: readonly string[];
  /** The rows of the table that the crash fell under. */
  readonly rows: readonly string[];
}

/** Holds a conversation that was crashed against the one that was not, by the table. */
export const judge = (uncrashed: Conversed, crashed: Conversed): Verdict => {
  // An effect that was outstanding at two crashes was answered after the second.
  const last = new Map(crashed.left.flatMap(outstandingIn).map((effect) => [effect.id, effect]));
  const out = [...last.values()];
  const state = stateOf(crashed.journal);
  return {
    problems: [
      ...problemsOfLaw(uncrashed, crashed),
      ...problemsOfTable(crashed, out),
      ...problemsOfStore(crashed),
      ...problemsOfAnswers(uncrashed, crashed),
      ...endProblems(state, lines.flat()),
      ...messageProblems(state, stateOf(uncrashed.journal)),
    ],
    rows: [...new Set(out.map((effect) => rowOf(effect).name))],
  };
};

const problemsOfLaw = (uncrashed: Conversed, { journal, ran }: Conversed): readonly string[] =>
  violationsOfLaw(() =>
    lawRecovery({
      uncrashed: uncrashed.journal,
      resumed: journal,
      tools: declarations,
      ran: ran.map(({ key }) => key),
    }),
  );

/** Returns the outstanding effects that were not answered as their row says, or by another side. */
const problemsOfTable = ({ journal }: Conversed, out: readonly AnswerableEffect[]): readonly string[] =>
  out.flatMap((effect) => {
    const row = rowOf(effect);
    const answer = journal.find(({ event }) => isAnswerTo(event, effect.id));
    // A timer, or a summary, may be called off instead.
    if (answer === undefined)
      return row.name === "timer" || row.name === "summary" ? [] : [`${effect.id} (${row.name}) was never answered`];
    const is = recoveredAs(answer);
    return is === row.recovered
      ? []
      : [`${effect.id} (${row.name}) was answered by ${is ?? "itself"}, and should be by ${row.recovered ?? "itself"}`];
  });

const isAnswerTo = (event: Entry["event"], effectId: string): boolean =>
  "effectId" in event &&
  event.effectId === effectId &&
  event.type !== "tool.started" &&
  event.type !== "llm.progressed";

/** Whatever was acknowledged, and whatever a crash left, is there, and the sequence has no gaps. */
const problemsOfStore = ({ journal, acknowledged, left }: Conversed): readonly string[] => {
  const isThere = (entry: Entry): boolean => textOf(journal[entry.seq]) === textOf(entry);
  return [
    ...acknowledged.filter((entry) => !isThere(entry)).map(({ seq }) => `entry ${seq} was acknowledged, and is lost`),
    ...left
      .flat()
      .filter((entry) => !isThere(entry))
      .map(({ seq }) => `entry ${seq} was there after a crash, and is another`),
    ...journal.filter(({ seq }, index) => seq !== index).map(({ seq }) => `entry ${seq} stands in the wrong place`),
  ];
};

/** Each ask has the answer that it has without a crash. */
const problemsOfAnswers = (uncrashed: Conversed, { answers }: Conversed): readonly string[] =>
  lines
    .flat()
    .filter((askId) => answers.get(askId) !== uncrashed.answers.get(askId))
    .map((askId) => `"${askId}" was answered with ${JSON.stringify(answers.get(askId))}`);

const outstandingIn = (journal: readonly Entry[]): readonly AnswerableEffect[] =>
  journal.length === 0 ? [] : outstanding(stateOf(journal));

/** In whatever order its members come. */
const textOf = (entry: Entry | undefined): string =>
  // JSON.parse returns JSON.
  canonicalText(JSON.parse(JSON.stringify(entry ?? null)) as Json);
