// Theory of operation.
//
// A conversation is one value, a `State`: the statechart's state (`value`) and all data (`context`). It changes in one
// way. `transition` takes an event, which is a fact, and returns the next state, the effects that the machine asks for,
// and the entry to store. It performs nothing. A step has five stages:
//
// 1. Read. `readEvent` copies the event as plain data and checks its shape. An event that does not fit is refused, here or
//    in the next stage: a refusal is a value with a reason, and the state stays the same reference.
// 2. Decide. `decide` alone knows the configuration: policy, counter, budget, limits, retries, prices, tools. It says
//    whether the event fits the state, and puts what the configuration adds into a `Decided`: the cut of the next prompt, a
//    retry and its time, the limit that ends the turn, a price. The next prompt shows the thread as it is after the event,
//    so `decide` rehearses: it calls `update` with what is decided so far, and looks at the data that this gives.
// 3. Update. `update` computes the data after the event from the data before it, the event and the decision alone. It
//    imports neither `decide` nor settings. So a journal folds to the same state years later, under any configuration. It
//    returns a `Plan`: the data, the name of an arrow, and the effects as a function, which folding never calls. The
//    most common events take a fast path, which gives the same in less time (`straight`).
// 4. Step. The plan names the arrow (`responding`, `completed`, …, or `stays`); the statechart of `machine.ts` only says
//    which state that arrow leads to, from which state and for which event. The arrows are read from XState once, when
//    this code loads: to interpret the statechart for each event would cost more than all other stages. The law
//    `equalStep` compares the look-up with XState's own transition.
// 5. Write. The entry holds the event and the decision. Effects are not stored, since they follow from the state: after a
//    crash, `outstanding` computes which ones still wait. A host stores the entry first, then performs the effects in
//    their order; each outcome comes back as an event that names its effect.
//
// Where to read on:
// - The language: `protocol/event`, `protocol/effect`, `protocol/entry`, `protocol/data`.
// - Why an event is refused: `decide/decide` (asks, too), and `decide/unconfigured` (edits).
// - How an event changes the data: `update/update`, then `turn-opening`, `reply`, `round`, `turn-closing`, `edit` beside it.
// - The content of a prompt: `decide/step`, `../prompt/decide-cut` (asks the policy), `../prompt/render`.
// - Summaries: `decide/step` (when), `../prompt/summary-request` (the model's input), `update/summary` (the result).
// - Why states are immutable at little cost: `protocol/thaw`, `../thread/plain-data`.
// - Uses of entries: `../journal` (read, fold, fork), `../snapshot`, `../redaction`.
import * as Either from "fp-ts/lib/Either.js";
import { type Fresh, frozen, owned } from "../thread/plain-data.ts";
import { begin, SeedError } from "./update/begin.ts";
import { withDefaults } from "./decide/settings.ts";
import type { ThreadInput, Event } from "./protocol/event.ts";
import { decide } from "./decide/decide.ts";
import type { Effect } from "./protocol/effect.ts";
import { type Decided, type FirstEntry, journalFormat, type LaterEntry } from "./protocol/entry.ts";
import { readEvent, readThreadInput } from "./protocol/event-forms.ts";
import { mayGoStraight, straightStep } from "./straight.ts";
import { problemOfCalls } from "./update/turn-opening.ts";
import { type ConversationMachine, internals } from "./machine.ts";
import type { Refusal } from "./protocol/refusal.ts";
import type { Leaf, State, StateValue } from "./protocol/data.ts";
import { frozenSince, ownedState, thawed } from "./protocol/thaw.ts";
import type { Step } from "./update/plan.ts";
import { update } from "./update/update.ts";

/** A thread that has just begun. */
export interface Started {
  readonly state: State;
  readonly effects: readonly [];
  readonly entry: FirstEntry;
}

/** The result of an event. Store the entry first; then perform the effects, in their order. */
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
 * Starts a thread, in `idle`. Pure. `model` defaults to the machine's; `configuration` is always the machine's.
 *
 * @throws SeedError that names the field if the input is invalid, and if the seed is not a conversation: a result without its
 * call, or a call without its result.
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
    entry: { seq: 0, format: journalFormat, event: { type: "thread.started", ...settled } },
  });
};

/**
 * Applies an event to a state. Pure and deterministic; an invalid event is refused with a reason and changes nothing.
 *
 * @throws SnapshotDamagedError if the state was read from a snapshot and a chunk of it is unreadable; nothing has happened.
 * @param options `recovered` marks the entry as written in place of an answer that a crash lost.
 */
export const transition = (
  machine: ConversationMachine,
  state: State,
  event: Event,
  options: { readonly recovered?: boolean } = {},
): Transition => {
  const read = readEvent(event);
  return Either.isLeft(read)
    ? refused(state, { kind: "invalid", reason: read.left })
    : transitionRead(machine, state, read.right, options);
};

/**
 * Applies an event that needs no reading, for a host that makes its own events. The event must be deeply frozen plain
 * data for which `problemOfEvent` finds nothing. Returns the same as `transition`.
 *
 * @throws SnapshotDamagedError as `transition` does.
 */
export const transitionRead = (
  machine: ConversationMachine,
  state: State,
  event: Event,
  options: { readonly recovered?: boolean } = {},
): Transition => {
  const { settings } = machine[internals];
  const { context } = ownedState(state);
  const isStraight = mayGoStraight(context, event);
  // A general step copies the data many times.
  const data = isStraight ? context : thawed(context);
  const decided = decide(settings, data, event);
  if (Either.isLeft(decided)) return refused(state, decided.left);
  let step = isStraight ? straightStep(context, event, decided.right, settings.prompts) : null;
  if (step === null) {
    const plan = update(data, event, decided.right);
    step = { ...plan, effects: plan.effects(settings.prompts) };
    frozenSince(step.data, context, decided.right, step.effects);
  }
  return stepped(machine, state, event, decided.right, step, options.recovered);
};

/** Takes the arrow of a step, and writes its entry. */
const stepped = (
  machine: ConversationMachine,
  state: State,
  event: Event,
  decided: Decided,
  { data, arrow, effects }: Step,
  recovered: boolean | undefined,
): Transition => {
  const target = machine[internals].arrows[leafOf(state.value)][event.type]?.[arrow];
  if (target === undefined) return refused(state, noArrow(state, event));
  const entry: Fresh<LaterEntry> = { seq: data.seq, event };
  if (Object.keys(decided).length > 0) entry.decided = decided;
  if (recovered === true) entry.recovered = recovered;
  return Object.freeze({
    handled: true,
    state: Object.freeze({ value: arrow === "stays" ? owned(state.value) : target, context: data }),
    effects,
    entry: Object.freeze(entry),
  });
};

const leafOf = (value: StateValue): Leaf => {
  if (typeof value === "string") return value;
  return "awaiting_llm" in value ? value.awaiting_llm : value.awaiting_tool;
};

/** Returns a refusal with the caller's own state reference. */
const refused = (state: State, refusal: Refusal): Refused =>
  Object.freeze({ handled: false, state, effects: noEffects, refusal: frozen(refusal) });

const noEffects: readonly [] = Object.freeze<[]>([]);

/** Only for a state that no transition returned: every accepted decision has an arrow. */
const noArrow = (state: State, event: Event): Refusal => ({
  kind: "invalid",
  reason: `"${event.type}" has no arrow from ${JSON.stringify(state.value)}: no transition gives it`,
});
