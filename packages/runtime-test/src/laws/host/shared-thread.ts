import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import { type Entry, type State, textOf, toArray, type ToolDeclaration, turnNumbered } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { asksIn } from "../evidence/asks-in.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { foldedUnder } from "./folded.ts";

/** The acts of several processes on one thread, after all of them ended. */
export interface SharedThreadRun {
  /** The id of each ask, once, however often it was asked. */
  readonly asked: readonly string[];
  /**
   * Further asks whose askers were notified that no answer follows: withdrawn, superseded, returned, or of a turn that
   * failed or was cancelled. Default: none.
   */
  readonly unanswered?: readonly string[];
  /** The results of the askers, one for each time that an asker got the result of a turn. */
  readonly answered: readonly { readonly askId: string; readonly turn: number; readonly text: string }[];
  /** The journal, as the store has it. */
  readonly stored: readonly unknown[];
  /** The idempotency key of each call of a tool's function, in any process. Default: none. */
  readonly ran?: readonly string[];
  /** The declarations of the tools, for the recovery of each. Default: none. */
  readonly tools?: readonly ToolDeclaration[];
}

/**
 * R3: processes on one store lose, repeat and duplicate nothing. The journal is one, without a gap. Each ask was
 * accepted once and is answered by one turn, and its asker got that turn's answer. A tool that must not run again ran
 * at most once for a call. No call has a result of a function that never ran.
 */
export const lawSharedThread = (run: SharedThreadRun): void => {
  const { asked, unanswered = [], answered, stored, ran = [], tools = [] } = run;
  const entries = decoded(stored);
  const state = folded(entries);
  requireTakenOnce(entries, [...asked, ...unanswered]);
  const turns = turnsOfAsks(state);
  for (const askId of asked) requireAnswered(askId, turns.get(askId) ?? []);
  for (const askId of unanswered) requireUnanswered(askId, state, turns.get(askId) ?? []);
  for (const each of answered) requireResult(each, state, turns.get(each.askId) ?? []);
  const answeredIds = new Set(answered.map(({ askId }) => askId));
  for (const askId of asked) {
    if (!answeredIds.has(askId)) throw broken(`${askId} was answered, and its asker had no result`);
  }
  requireRuns(entries, ran, tools);
};

const broken = (words: string): LawBroken => new LawBroken("R3", words);

const decoded = (stored: readonly unknown[]): readonly Entry[] => {
  const entries = decodeJournal(stored);
  if (Either.isLeft(entries)) throw broken(`the journal can't be read: ${describeDecodeError(entries.left)}`);
  return entries.right;
};

/** Returns the state; null if nothing was ever journalled. */
const folded = (entries: readonly Entry[]): State | null => {
  const wrong = entries.find(({ seq }, index) => seq !== index);
  if (wrong !== undefined) throw broken(`entry ${wrong.seq} stands in the wrong place`);
  return entries.length === 0 ? null : foldedUnder("R3", entries);
};

const requireTakenOnce = (entries: readonly Entry[], asked: readonly string[]): void => {
  const known = new Set(asked);
  const taken = new Set<string>();
  for (const { seq, event } of entries) {
    if (event.type !== "ask.received") continue;
    const { askId } = event;
    if (!known.has(askId)) throw broken(`${askId} was accepted, but was never asked`);
    if (taken.has(askId)) throw broken(`entry ${seq} takes ${askId} a second time`);
    taken.add(askId);
  }
};

/** Returns the turns of each ask; null means a place that is not a turn. */
const turnsOfAsks = (state: State | null): ReadonlyMap<string, readonly (number | null)[]> => {
  const turns = new Map<string, (number | null)[]>();
  for (const { askId, place, turn } of asksIn(state))
    turns.set(askId, [...(turns.get(askId) ?? []), place === "turn" ? turn : null]);
  return turns;
};

const requireAnswered = (askId: string, turns: readonly (number | null)[]): void => {
  if (turns.length === 0) throw broken(`${askId} is lost: no turn answers it`);
  if (turns.length > 1) throw broken(`${askId} is answered ${turns.length} times, by turns ${turns.join(", ")}`);
  if (turns[0] === null) throw broken(`${askId} waits or was dropped, and should have been answered`);
};

const requireUnanswered = (askId: string, state: State | null, turns: readonly (number | null)[]): void => {
  if (turns.length !== 1) throw broken(`${askId} should stand in one place, and stands in ${turns.length}`);
  const turn = state === null || turns[0] == null ? undefined : turnNumbered(state, turns[0]);
  if (turn?.outcome.status === "completed")
    throw broken(`${askId} is answered by turn ${turn.number}, and its asker was told that no answer comes`);
};

const requireResult = (
  { askId, turn, text }: SharedThreadRun["answered"][number],
  state: State | null,
  turns: readonly (number | null)[],
): void => {
  if (state === null || !turns.includes(turn))
    throw broken(`${askId} is answered by turn ${turns[0] ?? "none"}, and its asker had the result of turn ${turn}`);
  const { answer, messages } = turnNumbered(state, turn) ?? { answer: null, messages: null };
  const answered = messages === null ? undefined : toArray(messages).find(({ id }) => id === answer);
  const is = answered === undefined ? "" : textOf(answered);
  if (is !== text)
    throw broken(`${askId} had the result ${JSON.stringify(text)}, and its turn says ${JSON.stringify(is)}`);
};

const requireRuns = (entries: readonly Entry[], ran: readonly string[], tools: readonly ToolDeclaration[]): void => {
  const names = namesOfCalls(entries);
  const single = new Set(
    tools
      .filter(({ recovery = "interrupted" }) => recovery === "once" || recovery === "interrupted")
      .map(({ name }) => name),
  );
  const runs = new Map<string, number>();
  for (const key of ran) runs.set(key, (runs.get(key) ?? 0) + 1);
  for (const [key, times] of runs) {
    if (times > 1 && single.has(names.get(key) ?? ""))
      throw broken(`the call ${key}, whose tool is not to be run again, ran ${times} times`);
  }
  if (tools.length === 0) return;
  for (const { event } of entries) {
    if (event.type !== "tool.completed") continue;
    const key = event.effectId.replace(/#\d+$/u, "#1");
    if (!runs.has(key)) throw broken(`the call ${key} has a result, and its tool never ran`);
  }
};

/** Returns the tool of each call that a journal requests, by its idempotency key. */
const namesOfCalls = (entries: readonly Entry[]): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap(({ event }) => {
      if (event.type !== "llm.completed") return [];
      const step = event.effectId.replace(/#\d+$/u, "");
      return (event.reply.toolCalls ?? []).map(({ name }, position) => [`${step}.${position}#1`, name] as const);
    }),
  );
