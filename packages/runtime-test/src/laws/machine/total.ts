import type { ConversationMachine, Event, RefusalKind, State, Transition } from "@colloquy/machine";
import { realSubject, type Subject } from "../../arbitraries/subject.ts";
import { statesOf } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { isLookedAt, type MachineLaw, stepNamed, traceFor } from "./machine-law.ts";

/**
 * Checks M2: `transition`, `outstanding` and `promptOf` never throw. An event is either handled, with the next entry,
 * or refused with a kind and a reason. The state of a refusal is the same reference.
 */
export const total: MachineLaw = (options, schedule, subject = realSubject) => {
  const guarded = guard(subject);
  const trace = traceFor(options, schedule, guarded);
  for (const [index, { machine, event, before, transition }] of trace.steps.entries()) {
    requireAnswer(stepNamed(index, event), before, event, transition);
    // Eight steps together cover all stray events.
    for (const stray of strayEvents(before).filter((_, at) => (at + index) % 8 === 0)) {
      requireAnswer(
        `a stray event before ${stepNamed(index, event)}`,
        before,
        stray,
        guarded.transition(machine, before, stray),
      );
    }
    if (isLookedAt(trace, index)) guarded.promptOf(machine, transition.state);
  }
  for (const state of statesOf(trace)) guarded.outstanding(state);
};

const kinds: readonly RefusalKind[] = ["stale", "busy", "full", "unknown", "invalid"];

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
  if (!kinds.includes(kind)) throw new LawBroken("M2", `${name}: "${kind}" is no kind of refusal`);
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
