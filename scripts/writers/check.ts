import { decodeJournal, describeDecodeError, type Entry, fold, type Message, textOf, toArray } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";

import { answerTo, type Report } from "./talk.ts";

/** What writers were told, and what is stored, held against R3: no ask is lost, none is answered twice, and the sequence has no gaps. */
export const checkWriters = (
  asked: readonly string[],
  reports: readonly Report[],
  stored: readonly unknown[],
): readonly string[] => {
  const decoded = decodeJournal(stored);
  if (Either.isLeft(decoded)) return [`the journal can't be read: ${describeDecodeError(decoded.left)}`];
  const entries = decoded.right;
  const state = fold(entries);
  if (Either.isLeft(state)) return [`the journal can't be folded: entry ${state.left.seq}: ${state.left.reason}`];
  const { conversation, open, queue, dropped } = state.right.context;
  const turns = toArray(conversation.turns);
  const answeredIn = new Map<string, number[]>();
  for (const { number, asks } of turns) {
    for (const { askId } of asks) answeredIn.set(askId, [...(answeredIn.get(askId) ?? []), number]);
  }
  const toldOf = new Map(reports.flatMap((report) => (report.type === "answered" ? [[report.askId, report]] : [])));
  return [
    ...entries.filter(({ seq }, index) => seq !== index).map(({ seq }) => `entry ${seq} stands in the wrong place`),
    ...(open === null ? [] : [`turn ${open.number} is still open`]),
    ...[...queue, ...dropped].map(({ askId }) => `${askId} waits or was dropped, and should have been answered`),
    ...asked.flatMap((askId) => {
      const [turn, ...others] = answeredIn.get(askId) ?? [];
      if (turn === undefined) return [`${askId} is lost: no turn answers it`];
      if (others.length > 0)
        return [`${askId} is answered ${others.length + 1} times, by turns ${turn}, ${others.join(", ")}`];
      const told = toldOf.get(askId);
      if (told === undefined) return [`${askId} was answered by turn ${turn}, and its asker was told nothing`];
      const problem = problemOf(askId, told, turn, turns[turn - 1]?.messages ?? null);
      return problem === null ? [] : [problem];
    }),
    ...problemsOfEntries(asked, entries),
  ];
};

const problemOf = (
  askId: string,
  told: { readonly turn: number; readonly text: string },
  turn: number,
  messages: Parameters<typeof toArray<Message>>[0] | null,
): string | null => {
  if (told.turn !== turn) return `${askId} is answered by turn ${turn}, and its asker was told of turn ${told.turn}`;
  if (told.text !== answerTo(askId)) return `${askId} was told ${JSON.stringify(told.text)}, which is another's answer`;
  const answer = messages === null ? undefined : toArray(messages).at(-1);
  return answer !== undefined && textOf(answer) === answerTo(askId) ? null : `turn ${turn} does not answer ${askId}`;
};

/** Each ask was taken once. */
const problemsOfEntries = (asked: readonly string[], entries: readonly Entry[]): readonly string[] => {
  const taken = new Set<string>();
  const problems: string[] = [];
  for (const { seq, event } of entries) {
    if (event.type !== "ask.received") continue;
    if (taken.has(event.askId)) problems.push(`entry ${seq} takes ${event.askId} a second time`);
    taken.add(event.askId);
  }
  const strange = [...taken].filter((askId) => !asked.includes(askId));
  return [...problems, ...strange.map((askId) => `${askId} was taken, and nobody asked it`)];
};
