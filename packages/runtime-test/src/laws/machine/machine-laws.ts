import type {
  ConversationMachine,
  Event,
  RefusalKind,
  State,
  Transition,
  Entry,
  MachineOptions,
  Effect,
} from "@colloquy/machine";
import { realSubject, statesOf, type Subject, effectsOf, entriesOf, handledSteps } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame, parametersOf, runKinds } from "../evidence/law-broken.ts";
import { isLookedAt, type MachineLaw, stepNamed, traceFor, onceFor, machinesFor } from "./machine-law.ts";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import fc from "fast-check";
import { scheduleFor } from "../../arbitraries/journal.ts";
import { answering, approving, oneAtATime } from "./answering.ts";
import { accounted, outputsHold, shownBeforeDelivered } from "./asks.ts";
import { continuation, nothingLost } from "./continuation.ts";
import { explaining, wellFormedPrompts } from "./prompts.ts";
import { immutable, untouched } from "./untouched.ts";
import { usageOfThread } from "./usage.ts";
import * as Either from "fp-ts/lib/Either.js";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import type { Schedule } from "../../arbitraries/schedule.ts";

/**
 * Checks M2: `transition`, `outstanding` and `promptOf` never throw. An event is either handled, with the next entry,
 * or refused with a kind and a reason. The state of a refusal is the same reference.
 */
const total: MachineLaw = (options, schedule, subject = realSubject) => {
  const guarded = guard(subject);
  const trace = traceFor(options, schedule, guarded);
  for (const [index, { machine, event, before, transition }] of trace.steps.entries()) {
    requireAnswer(stepNamed(index, event), before, event, transition);
    // Eight steps together cover all stray events.
    for (const stray of strayEvents(before).filter((_, at) => (at + index) % 8 === 0)) {
      const answer = guarded.transition(machine, before, stray);
      requireAnswer(`a stray event before ${stepNamed(index, event)}`, before, stray, answer);
    }
    if (isLookedAt(trace, index)) guarded.promptOf(machine, transition.state);
  }
  for (const state of statesOf(trace)) guarded.outstanding(state);
};

const refusalKinds: readonly RefusalKind[] = ["stale", "busy", "full", "unknown", "invalid"];

const requireAnswer = (name: string, before: State, event: Event, transition: Transition): void => {
  if (transition.handled) {
    if (transition.state === before)
      throw new LawBroken("M2", `${name}: "${event.type}" was handled and changed nothing`);
    requireSame("M2", `${name}: the seq of the entry of "${event.type}"`, before.context.seq + 1, transition.entry.seq);
    requireSame("M2", `${name}: the seq of the state`, transition.entry.seq, transition.state.context.seq);
    requireSame("M2", `${name}: the event of the entry`, event, transition.entry.event);
    return;
  }
  if (transition.state !== before)
    throw new LawBroken("M2", `${name}: "${event.type}" was refused, but the state is another`);
  requireSame("M2", `${name}: the effects of a refusal`, [], transition.effects);
  const { kind, reason } = transition.refusal;
  if (!refusalKinds.includes(kind)) throw new LawBroken("M2", `${name}: "${kind}" is no kind of refusal`);
  if (reason === "") throw new LawBroken("M2", `${name}: "${event.type}" was refused without a reason`);
};

const guard = (subject: Subject): Subject => ({
  ...subject,
  transition: (machine, state, event, options) =>
    attempt(`transition of "${event.type}"`, () => subject.transition(machine, state, event, options)),
  outstanding: (state) => attempt("outstanding", () => subject.outstanding(state)),
  promptOf: (machine: ConversationMachine, state: State) => attempt("promptOf", () => subject.promptOf(machine, state)),
});

const attempt = <Result>(what: string, run: () => Result): Result => {
  try {
    return run();
  } catch (thrown) {
    throw new LawBroken("M2", `${what} threw ${nameOf(thrown)}`, { cause: thrown });
  }
};

/** Returns a name for any thrown value, even one that cannot be converted to a string. */
const nameOf = (thrown: unknown): string =>
  thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : typeof thrown;

/** Invalid as an appended message, because it would lose its calls; invalid as a reply without results. */
const calling = { role: "assistant" as const, content: "", toolCalls: [{ id: null, name: "search", arguments: "{}" }] };

/** Returns an event of every type, each with names that do not exist. */
const strayEvents = ({ context }: State): readonly Event[] => {
  const { updatedAt: at, threadId } = context;
  const answers = ["", "nobody's", `${threadId}/999.1#1`, `${threadId}/999.1.0#1`, `${threadId}/999!deadline`];
  return [
    ...answers.flatMap((effectId): readonly Event[] => [
      { type: "llm.completed", at, effectId, reply: {}, finishReason: null },
      { type: "llm.failed", at, effectId, failure: { kind: "unknown", message: "", retryable: true } },
      { type: "llm.progressed", at, effectId, partial: {} },
      { type: "tool.started", at, effectId },
      { type: "tool.withheld", at, effectId, because: "declared", arguments: null },
      { type: "approval.answered", at, effectId, approved: true },
      { type: "tool.completed", at, effectId, content: null },
      { type: "tool.failed", at, effectId, outcome: "failed", content: [] },
      { type: "timer.fired", at, effectId },
    ]),
    { type: "ask.received", at, askId: "", input: "no id" },
    { type: "ask.received", at, askId: "negative", input: "", limits: { steps: -1 } },
    { type: "ask.received", at, askId: "joins nobody", input: "", joins: { askId: "nobody's" } },
    { type: "message.appended", at, message: calling },
    { type: "round.appended", at, reply: { content: "no call" }, results: [] },
    { type: "round.appended", at, reply: calling, results: [] },
    { type: "cancel.requested", at, askId: "nobody's" },
    { type: "thread.redacted", at, seqs: [999, -1] },
    { type: "thread.forked", at, from: { threadId, turn: 999 } },
    { type: "turn.annotated", at, turn: 999, name: "", value: null },
    { type: "answer.truncated", at, turn: 999, characters: 0 },
    { type: "head.moved", at, to: 999 },
    { type: "head.moved", at, to: { checkpoint: "hasOwnProperty" } },
    { type: "ask.received", at, askId: "from nowhere", input: "x", from: 999 },
    { type: "checkpoint.named", at, name: "" },
    { type: "turn.added", at, messages: [{ role: "tool", toolCallId: null, content: "" }] },
  ];
};

const both =
  (...halves: readonly MachineLaw[]): MachineLaw =>
  (...given) => {
    for (const half of halves) half(...given);
  };

/**
 * Checks M5: the state is the fold of the journal, at the first prefix, at the last, and at some between. Folding takes
 * no configuration, and the journal was written under several. So the entries must contain every decision that depends
 * on a configuration.
 */
const folding: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  const entries = entriesOf(trace);
  const states = statesOf(trace);
  const every = Math.ceil(states.length / prefixes);
  for (const [index, state] of states.entries()) {
    if (index !== 0 && (states.length - 1 - index) % every !== 0) continue;
    const name = `the fold of entries 0 to ${index} (${entries[index]?.event.type})`;
    const folded = subject.fold(entries.slice(0, index + 1));
    if (Either.isLeft(folded)) throw new LawBroken("M5", `${name} was refused: ${folded.left.reason}`);
    requireSame("M5", name, state, folded.right);
  }
};

/** The number of checked prefixes. Folding all prefixes would take quadratic time. */
const prefixes = 6;

/** Checks M1: equal configuration, state and event give the same transition, in another machine and again. */
const deterministic: MachineLaw = (options, schedule, subject = realSubject) => {
  const first = traceFor(options, schedule, subject);
  const second = traceFor(sameOptions(options), schedule, subject);
  requireSame("M1", "two beginnings", first.started, second.started);
  for (const [index, step] of first.steps.entries()) {
    const name = stepNamed(index, step.event);
    const again = second.steps[index];
    requireSame("M1", `${name} in a second machine`, step.transition, again?.transition);
    const { machine, before, event, transition } = step;
    requireSame("M1", `${name} sent a second time`, transition, subject.transition(machine, before, event));
    if (!isLookedAt(first, index)) continue;
    const prompts = [machine, machine].map((same) => subject.promptOf(same, transition.state));
    requireSame("M1", `two looks at the prompt after ${name}`, prompts[0], prompts[1]);
  }
};

/** Returns a copy of the options, so that `machinesFor` makes separate machines. */
const sameOptions = onceFor((options) => ({ ...options }));

/**
 * Checks R5: a journal sent again requests the same effects: prompts with the recorded digests, under the same ids.
 * `replay`, which decides again, finds no difference and ends in the same state.
 */
const replaying: MachineLaw = (options, schedule, subject = realSubject) => {
  // A random event may contain a digest of a prompt that was never sent, which is a true difference.
  const moves = schedule.moves.filter(({ move }) => move !== "reconfigure" && move !== "send");
  const isWhole = moves.length === schedule.moves.length;
  const trace = traceFor(options, isWhole ? schedule : { ...schedule, moves }, subject);
  const { machine } = machinesFor(options);
  let state = subject.start(machine, schedule.input).state;
  for (const [index, { event, transition }] of handledSteps(trace).entries()) {
    const again = subject.transition(machine, state, event);
    requireSame("R5", `what ${stepNamed(index, event)} asks for`, digestsIn(transition), digestsIn(again));
    state = again.state;
  }
  const replayed = replay(machine, entriesOf(trace));
  if (Either.isLeft(replayed))
    throw new LawBroken("R5", `replay finds a difference: ${describeDifference(replayed.left)}`);
  requireSame("R5", "the state after the replay", state, replayed.right);
};

const digestsIn = (transition: Transition): readonly object[] =>
  effectsOf(transition, "callLlm").map(({ id, promptDigest }) => ({ id, promptDigest }));

/**
 * Checks M3: everything is plain data. State, event, effects and entry equal the parse of their JSON. A conversation
 * whose state and events pass through JSON between its steps stays the same. States share their parts, so only a few
 * steps are checked, including the last: writing all of them took a third of the time of all laws.
 */
const plainData: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  requireSame("M3", "the first state through JSON", trace.started.state, throughJson(trace.started.state));
  requireSame("M3", "the first entry through JSON", trace.started.entry, throughJson(trace.started.entry));
  let state = throughJson(trace.started.state);
  for (const [index, { machine, event, transition }] of trace.steps.entries()) {
    const name = stepNamed(index, event);
    const copied = subject.transition(machine, state, throughJson(event));
    ({ state } = copied);
    if (!isLookedAt(trace, index)) continue;
    requireSame("M3", `${name}, sent to a state that went through JSON`, transition, copied);
    const read = throughJson(transition);
    requireSame("M3", `${name} through JSON`, transition, read);
    ({ state } = read);
    const out = throughJson(subject.outstanding(state));
    requireSame("M3", `outstanding after ${name}`, subject.outstanding(transition.state), out);
    const prompt = subject.promptOf(machine, transition.state);
    requireSame("M3", `the prompt after ${name}`, prompt, throughJson(subject.promptOf(machine, state)));
  }
  const entries: readonly Entry[] = entriesOf(trace);
  const copied = subject.fold(throughJson(entries));
  requireSame("M3", "the fold of entries that went through JSON", subject.fold(entries), copied);
};

const throughJson = <Value>(value: Value): Value =>
  // JSON.parse returns the type that was written if the value is JSON, which is what this law checks.
  JSON.parse(JSON.stringify(value)) as Value;

type MachineLawName = `M${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13}` | "R5" | "explain";

/** The laws of the machine, by name. */
export const laws: { readonly [Name in MachineLawName]: MachineLaw } = {
  M1: deterministic,
  M2: total,
  M3: plainData,
  M4: both(untouched, immutable),
  M5: folding,
  M6: both(answering, approving),
  M7: oneAtATime,
  M8: usageOfThread,
  M9: both(continuation, nothingLost),
  M10: wellFormedPrompts,
  M11: accounted,
  M12: shownBeforeDelivered,
  M13: outputsHold,
  R5: replaying,
  explain: explaining,
};

interface MachineLawsRun {
  readonly runs?: number;
  readonly seed?: number;
  readonly subject?: Subject;
}

const machineRunKinds: OptionKinds<MachineLawsRun> = {
  runs: runKinds.runs,
  seed: runKinds.seed,
  subject: kinds.object,
};

/**
 * Checks a machine with these options, above all its policy, against the laws of the machine, on random schedules.
 *
 * @param run `runs` schedules (default 30), from `seed` if given.
 * @throws ConfigurationError for an invalid `run`. If a law is broken: an error with the smallest schedule that was
 * found, its seed, and the law.
 */
export const checkMachineLaws = (options: MachineOptions, run: MachineLawsRun = {}): void => {
  checkOptions("checkMachineLaws", run, machineRunKinds);
  fc.assert(
    fc.property(scheduleFor(options), (schedule) => {
      for (const law of Object.values(laws)) law(options, schedule, run.subject);
    }),
    parametersOf(run, 30),
  );
};

type Snapshot = ReturnType<ConversationMachine["resolveState"]>;

/** The `transition` function of XState. The caller passes it, so that these laws do not depend on XState. */
export type XStateTransition = (
  machine: ConversationMachine,
  snapshot: Snapshot,
  event: Event,
) => readonly [
  { readonly value: unknown; readonly context: unknown },
  readonly { readonly type: string; readonly params?: unknown }[],
];

/**
 * Checks that the machine is an XState machine, and that our faster step equals XState's. Value, context and effects
 * are the same for each event. An event is handled if a transition of the chart takes it, and refused otherwise.
 */
export const equalStep = (
  xstateTransition: XStateTransition,
  options: MachineOptions,
  schedule: Schedule,
  subject: Subject = realSubject,
): void => {
  const trace = traceFor(options, schedule, subject);
  for (const [index, { machine, event, before, transition }] of trace.steps.entries()) {
    const name = stepNamed(index, event);
    const snapshot = machine.resolveState({ value: before.value, context: before.context });
    const [after, actions] = xstateTransition(machine, snapshot, event);
    const taken = after !== snapshot;
    if (taken !== transition.handled) {
      throw new LawBroken(
        "equalStep",
        `${name} was ${transition.handled ? "handled" : "refused"}, and ${taken ? "an" : "no"} arrow takes it`,
      );
    }
    requireSame("equalStep", `the state value after ${name}`, after.value, transition.state.value);
    requireSame("equalStep", `the context after ${name}`, after.context, transition.state.context);
    const performed = actions.flatMap(({ type, params }) => (type === "perform" ? [params] : []));
    const effects: readonly Effect[] = transition.effects;
    requireSame("equalStep", `the effects of ${name}`, performed, effects);
  }
};
