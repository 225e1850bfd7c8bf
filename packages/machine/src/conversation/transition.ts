import * as Either from "fp-ts/lib/Either.js";
import { frozen } from "../thread/frozen.ts";
import { begin, SeedError } from "./update/begin.ts";
import { withDefaults } from "./decide/settings.ts";
import type { ThreadInput, Event } from "./protocol/event.ts";
import { decide } from "./decide/decide.ts";
import type { Effect } from "./protocol/effect.ts";
import { type Decided, type FirstEntry, firstFormat, type LaterEntry } from "./protocol/entry.ts";
import { readEvent, readThreadInput } from "./protocol/event-shape.ts";
import { problemOfCalls } from "./decide/lost-calls.ts";
import { type ConversationMachine, internals } from "./machine.ts";
import type { Refusal } from "./protocol/refusal.ts";
import { ownedState, type State } from "./protocol/state.ts";
import { step } from "./arrows.ts";
import { frozenSince, thawed } from "./thaw.ts";
import { update } from "./update/update.ts";

/** A thread that has just begun. */
export interface Started {
  readonly state: State;
  readonly effects: readonly [];
  readonly entry: FirstEntry;
}

/** What an event came to. Store the entry first; then perform the effects, in their order. */
export type Transition = Handled | Refused;

export interface Handled {
  readonly handled: true;
  readonly state: State;
  readonly effects: readonly Effect[];
  readonly entry: LaterEntry;
}

/** The event changed nothing: the state is the same reference. */
export interface Refused {
  readonly handled: false;
  readonly state: State;
  readonly effects: readonly [];
  readonly refusal: Refusal;
}

/**
 * Begins a thread, in `idle`. Pure. `model` defaults to the machine's; `configuration` is always the machine's.
 *
 * @throws SeedError for what no thread can begin with, by its field; and when the seed is no conversation: a result without
 *   its call, a call without its result.
 */
export const start = (machine: ConversationMachine, input: ThreadInput): Started => {
  const read = readThreadInput(input);
  if (Either.isLeft(read)) throw new SeedError(read.left);
  const settled = frozen(withDefaults(machine[internals].settings, read.right));
  const lost = problemOfCalls(settled.seed ?? [], true);
  if (lost !== null) throw new SeedError(`the seed is no conversation: ${lost}`);
  const begun = begin(settled);
  if (Either.isLeft(begun)) throw new SeedError(begun.left);
  return frozen({
    state: { value: "idle", context: begun.right },
    effects: [],
    entry: { seq: 0, format: firstFormat, event: { type: "thread.started", ...settled } },
  });
};

/**
 * Tells a conversation what happened. Pure, deterministic and total: whatever the event is, it does not throw, and
 * what is no event or does not fit is refused with a reason, and changes nothing. Of a state that was read from a snapshot whose chunks
 * can't be read any more it throws a `SnapshotDamagedError`, and nothing has happened.
 *
 * @param options `recovered` marks the entry as written in place of an answer that a crash swallowed.
 */
export const transition = (
  machine: ConversationMachine,
  state: State,
  event: Event,
  options: { readonly recovered?: boolean } = {},
): Transition => {
  const { settings, arrows } = machine[internals];
  const before = ownedState(state);
  const read = readEvent(event);
  if (Either.isLeft(read)) return refused(state, { kind: "invalid", reason: read.left });
  const told = read.right;
  const data = thawed(before.context);
  const decided = decide(settings, data, told);
  if (Either.isLeft(decided)) return refused(state, decided.left);
  const decision = frozen(decided.right);
  const plan = update(data, told, decision);
  frozenSince(plan.data, before.context);
  const after = step(arrows, before, told, plan);
  if (after === null) return refused(state, noArrow(state, event));
  const entry: LaterEntry = {
    seq: plan.data.seq,
    event: told,
    ...(isEmpty(decision) ? {} : { decided: decision }),
    ...(options.recovered === true ? { recovered: true } : {}),
  };
  return Object.freeze({ handled: true, state: after, effects: frozen(plan.effects()), entry: Object.freeze(entry) });
};

/** The state is its holder's: who handed it in has it back. */
const refused = (state: State, refusal: Refusal): Refused =>
  Object.freeze({ handled: false, state, effects: noEffects, refusal: frozen(refusal) });

const noEffects: readonly [] = Object.freeze<[]>([]);

/** Only for a state that no transition gave: what is decided to fit has an arrow. */
const noArrow = (state: State, event: Event): Refusal => ({
  kind: "invalid",
  reason: `"${event.type}" has no arrow from ${JSON.stringify(state.value)}: the state is not one that a transition gave`,
});

const isEmpty = (decided: Decided): boolean => {
  for (const _ in decided) return false;
  return true;
};
