import {
  type AnswerableEffect,
  type Effect,
  type Entry,
  fold,
  foldEntry,
  outstanding,
  type Signal,
  type State,
  turnNumbered,
} from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { preview } from "./difference.ts";
import { LawBroken } from "./law-broken.ts";
import { requireSame } from "./machine-law.ts";

/** What a host did with one thread, in the order in which it did it. */
export type HostLogItem =
  /** It opened the thread and read its journal, for the first time or again after a crash. */
  | { readonly did: "loaded"; readonly entries: readonly Entry[] }
  /** An entry was stored: the append had come back. */
  | { readonly did: "appended"; readonly entry: Entry }
  /** An effect was handed to its handler. */
  | { readonly did: "performed"; readonly effect: Effect };

/**
 * R1: nothing is performed before it is journalled. Whatever a host performs follows from the entries that it had
 * stored by then, by folding alone: an answerable effect was asked for by one of them, and is the very one; a
 * cancellation names an effect that they asked for and that is not out any more; a signal tells what they tell.
 */
export const lawNothingBeforeJournal = (log: readonly HostLogItem[]): void => {
  let state: State | null = null;
  const asked = new Map<string, AnswerableEffect>();
  for (const [index, item] of log.entries()) {
    const name = `item ${index} of the log`;
    switch (item.did) {
      case "loaded":
        state = item.entries.length === 0 ? null : folded(item.entries, name);
        break;
      case "appended":
        state = after(state, item.entry, name);
        break;
      case "performed":
        requireJournalled(state, asked, item.effect, name);
        break;
    }
    for (const effect of state === null ? [] : outstanding(state)) asked.set(effect.id, effect);
  }
};

const folded = (entries: readonly Entry[], name: string): State => {
  const state = fold(entries);
  if (Either.isLeft(state)) throw new LawBroken("R1", `${name}: the journal can't be folded: ${state.left.reason}`);
  return state.right;
};

const after = (state: State | null, entry: Entry, name: string): State => {
  if (entry.event.type === "thread.started" || state === null) return folded([entry], name);
  if (entry.seq !== state.context.seq + 1) {
    throw new LawBroken("R1", `${name}: entry ${entry.seq} was stored after entry ${state.context.seq}`);
  }
  // The first kind of entry was taken above; the type of `event` does not narrow that of the entry.
  return foldEntry(state, entry as Exclude<Entry, { readonly seq: 0 }>);
};

const requireJournalled = (
  state: State | null,
  asked: ReadonlyMap<string, AnswerableEffect>,
  effect: Effect,
  name: string,
): void => {
  if (state === null) throw new LawBroken("R1", `${name}: ${effect.type} was performed before anything was journalled`);
  if (effect.type === "publish") {
    if (!isTold(state, effect.signal))
      throw new LawBroken("R1", `${name}: the journal does not tell of ${preview(effect.signal)}`);
    return;
  }
  const id = "effectId" in effect ? effect.effectId : effect.id;
  const original = asked.get(id);
  if (original === undefined) throw new LawBroken("R1", `${name}: no entry that was stored by then asks for "${id}"`);
  if ("effectId" in effect) {
    if (outstanding(state).some((out) => out.id === id))
      throw new LawBroken("R1", `${name}: "${id}" was cancelled and is still wanted`);
    return;
  }
  // A tool call may have been journalled as started since.
  requireSame("R1", name, { ...original, started: null }, { ...effect, started: null });
};

const isTold = (state: State, signal: Signal): boolean => {
  const { open, queue } = state.context;
  switch (signal.type) {
    case "turn.started":
      return open?.number === signal.turn || turnNumbered(state, signal.turn) !== undefined;
    case "turn.ended":
      return turnNumbered(state, signal.turn)?.outcome.status === signal.status;
    case "thread.updated":
    case "context.warning":
    case "summary.started":
    case "summary.completed":
    case "summary.failed":
      // What they tell of is compared where they are published, by the machine's own laws.
      return true;
    case "context.unfit":
    case "limit.reached":
      return turnNumbered(state, signal.turn)?.outcome.status === "failed";
    case "ask.queued":
      return queue.some(({ askId }) => askId === signal.askId);
    case "ask.withdrawn":
      return queue.every(({ askId }) => askId !== signal.askId);
    case "retry.scheduled":
      return open?.number === signal.turn;
    case "policy.failed":
      return true;
  }
};
