import { usageMonoid, usageOfCall } from "@colloquy/machine";
import type { State, Usage } from "@colloquy/machine";

import { answerOf, endProblems, messageProblems } from "../kit/scripted-conversation.ts";
import { performedProblems } from "../kit/performed.ts";
import { asks } from "./conversation.ts";
import type { Journal } from "./journal.ts";
import type { Recorded } from "./records.ts";
import { isSummaryId } from "./summaries.ts";
import { callHistories, checkCall } from "./tool-calls.ts";
import { digestOfEntry } from "./watched-store.ts";

/** Returns the problems after one boot: with the entries stored before it, or with those acknowledged until then. */
export const checkBoot = (before: Journal, after: Journal, records: readonly Recorded[]): readonly string[] => [
  ...before.entries.flatMap((entry, seq) => {
    const now = after.entries[seq];
    if (now === undefined) return [`entry ${seq} was stored, and is gone`];
    return JSON.stringify(now) === JSON.stringify(entry) ? [] : [`entry ${seq} was stored, and is another now`];
  }),
  ...records.flatMap((fact) => {
    if (fact.type !== "acknowledged") return [];
    const entry = after.entries[fact.seq];
    if (entry === undefined) return [`entry ${fact.seq} was acknowledged in boot ${fact.boot}, and is not there`];
    return digestOfEntry(entry) === fact.digest ? [] : [`entry ${fact.seq} is not the one that was acknowledged`];
  }),
];

/** Returns the problems of a finished conversation, compared with `reference`, which was never crashed. */
export const checkEnd = (
  journal: Journal,
  lengths: readonly number[],
  records: readonly Recorded[],
  reference: Journal,
): readonly string[] => {
  const state = journal.states.at(-1);
  const expected = reference.states.at(-1);
  if (state === undefined || expected === undefined) return ["there is no conversation"];
  return [
    ...endProblems(state, asks),
    ...checkAnswers(records),
    ...records.flatMap((fact) => (fact.type === "malformed" ? [`the prompt of ${fact.effectId}: ${fact.reason}`] : [])),
    ...checkPerformed(journal, records),
    ...callHistories(journal, lengths, records).flatMap(checkCall),
    ...messageProblems(state, expected),
    ...checkUsage(journal, state, reference),
  ];
};

/**
 * Checks that answers cost the same. Summaries may cost something else, since a result that a crash swallowed is longer
 * or shorter; but all of it is counted once.
 */
const checkUsage = (journal: Journal, state: State, reference: Journal): readonly string[] => [
  ...(isSame(usageOf(journal, isAnswer), usageOf(reference, isAnswer))
    ? []
    : ["the usage of its answers is not that of the conversation that was never crashed"]),
  ...(isSame(
    state.context.usage.total,
    usageOf(journal, () => true),
  )
    ? []
    : ["the usage is not that of its calls"]),
];

const isAnswer = (effectId: string): boolean => !isSummaryId(effectId);

const usageOf = ({ entries }: Journal, of: (effectId: string) => boolean): Usage =>
  entries.reduce(
    (total, { event }) =>
      (event.type === "llm.completed" || event.type === "llm.failed") && of(event.effectId)
        ? usageMonoid.concat(total, usageOfCall(event.usage ?? null, null))
        : total,
    usageMonoid.empty,
  );

const isSame = (left: Usage, right: Usage): boolean => JSON.stringify(left) === JSON.stringify(right);

const checkAnswers = (records: readonly Recorded[]): readonly string[] => {
  const answers = records.flatMap((fact) => (fact.type === "answered" ? [fact] : []));
  return asks.flatMap((askId, index) => {
    const given = answers.filter((answer) => answer.askId === askId);
    if (given.length === 0) return [`"${askId}" was not answered`];
    const wrong = given.find(({ text }) => text !== answerOf(index + 1));
    return wrong === undefined ? [] : [`"${askId}" was answered with ${JSON.stringify(wrong.text)}`];
  });
};

/**
 * Nothing was performed that the entries stored by then did not ask for; and what was performed again was performed
 * as it was before.
 */
const checkPerformed = ({ states }: Journal, records: readonly Recorded[]): readonly string[] => {
  const digests = new Map<string, string>();
  return records.flatMap((fact): readonly string[] => {
    if (fact.type !== "performed") return [];
    const { effectId, seq, promptDigest } = fact;
    const problems = performedProblems(states, [{ id: effectId, seq }], ["charge"]);
    if (problems.length > 0 || promptDigest === undefined) return problems;
    const first = digests.get(effectId) ?? promptDigest;
    digests.set(effectId, first);
    return first === promptDigest ? [] : [`${effectId} was sent again with another prompt`];
  });
};
