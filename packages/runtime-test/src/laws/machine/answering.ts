import type { AnswerableEffect, Effect, Event, State } from "@colloquy/machine";
import { realSubject, type Subject } from "../../arbitraries/subject.ts";
import { statesOf, type TraceStep } from "../../arbitraries/trace.ts";
import { preview } from "../evidence/difference.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, stepNamed, traceFor } from "./machine-law.ts";

/**
 * Checks M6: `outstanding` returns exactly the effects that transitions requested and that are neither answered nor
 * cancelled. No effect is requested twice, and each is answered at most once. An answer that is not outstanding changes
 * nothing.
 */
export const answering: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  const out = new Map<string, AnswerableEffect>();
  const ever = new Set<string>();
  requireSame("M6", "outstanding at the beginning", [], subject.outstanding(trace.started.state));
  for (const [index, step] of trace.steps.entries()) {
    const name = stepNamed(index, step.event);
    settle(out, step, name);
    if (isForked(step)) {
      // All effects stay in the original thread and are not cancelled: in the fork, the open turn never existed.
      out.clear();
      ever.clear();
    }
    for (const effect of step.transition.effects) account(out, ever, effect, name);
    requireSame(
      "M6",
      `outstanding after ${name}`,
      byId([...out.values()]),
      byId(subject.outstanding(step.transition.state)),
    );
    requireStale(subject, step, ever, out, name);
  }
};

/**
 * Checks M7: at most one answering call is outstanding, and none while a tool call, its approval or an output check is.
 * At most one summary is outstanding, beside anything else.
 */
export const oneAtATime: MachineLaw = (options, schedule, subject = realSubject) => {
  for (const state of statesOf(traceFor(options, schedule, subject))) {
    const out = subject.outstanding(state);
    const calls = out.filter((effect) => effect.type === "callLlm" && effect.purpose === "answer").length;
    const summaries = out.filter((effect) => effect.type === "callLlm" && effect.purpose === "summary").length;
    const checks = out.filter(({ type }) => type === "checkOutput").length;
    const tools = out.filter(({ type }) => type === "callTool" || type === "requestApproval").length;
    if (summaries > 1) throw new LawBroken("M7", `${summaries} summaries are out after entry ${state.context.seq}`);
    if (calls > 1) throw new LawBroken("M7", `${calls} model calls are out after entry ${state.context.seq}`);
    if (checks > 1 || (checks > 0 && calls + tools > 0))
      throw new LawBroken(
        "M7",
        `${checks} checks of an output are out beside ${calls} model calls and ${tools} tool calls or questions about them after entry ${state.context.seq}`,
      );
    if (calls > 0 && tools > 0)
      throw new LawBroken(
        "M7",
        `a model call is out beside ${tools} tool calls or questions about them after entry ${state.context.seq}`,
      );
  }
};

/**
 * Removes the answered effect from the outstanding ones. An answer that was handled without an outstanding effect
 * breaks the law.
 */
const settle = (out: Map<string, AnswerableEffect>, { event, transition }: TraceStep, name: string): void => {
  const answered = answeredBy(event);
  if (answered === null || !transition.handled) return;
  const effect = out.get(answered);
  if (effect === undefined) throw new LawBroken("M6", `${name} answered "${answered}", which was not outstanding`);
  if (event.type === "llm.progressed") return;
  if (
    effect.type === "callTool" &&
    effect.by === "caller" &&
    event.type !== "tool.completed" &&
    event.type !== "tool.failed"
  )
    throw new LawBroken("M6", `${name} was taken for "${answered}", which is the caller's to answer`);
  if (event.type !== "tool.started") out.delete(answered);
  else if (effect.type === "callTool") out.set(answered, { ...effect, started: true });
};

const isForked = ({ event, transition }: TraceStep): boolean => transition.handled && event.type === "thread.forked";

const account = (out: Map<string, AnswerableEffect>, ever: Set<string>, effect: Effect, name: string): void => {
  switch (effect.type) {
    case "callLlm":
    case "checkOutput":
    case "callTool":
    case "requestApproval":
    case "startTimer":
      if (ever.has(effect.id)) throw new LawBroken("M6", `${name} asked for "${effect.id}" a second time`);
      ever.add(effect.id);
      out.set(effect.id, effect);
      break;
    case "cancelLlm":
    case "cancelCheck":
    case "cancelTool":
    case "cancelApproval":
    case "cancelTimer":
      if (!out.delete(effect.effectId))
        throw new LawBroken("M6", `${name} cancelled "${effect.effectId}", which was not out`);
      break;
    case "publish":
      break;
  }
};

/** Checks that an effect that is no longer outstanding cannot be answered, by any event. */
const requireStale = (
  subject: Subject,
  { machine, transition: { state } }: TraceStep,
  ever: ReadonlySet<string>,
  out: ReadonlyMap<string, AnswerableEffect>,
  name: string,
): void => {
  for (const effectId of ever) {
    if (out.has(effectId)) continue;
    for (const event of answersTo(effectId, state)) {
      const late = subject.transition(machine, state, event);
      if (late.handled) throw new LawBroken("M6", `after ${name}, "${event.type}" answered "${effectId}" again`);
      if (late.state !== state)
        throw new LawBroken("M6", `after ${name}, a stale "${event.type}" gave another state reference`);
      if (late.refusal.kind !== "stale")
        throw new LawBroken("M6", `a stale answer was refused as ${preview(late.refusal)}`);
    }
  }
};

const answersTo = (effectId: string, { context: { updatedAt: at } }: State): readonly Event[] => [
  { type: "llm.completed", at, effectId, reply: { content: "late" }, finishReason: "stop" },
  { type: "output.accepted", at, effectId, value: "late" },
  { type: "output.refused", at, effectId, issues: [] },
  { type: "tool.completed", at, effectId, content: "late" },
  { type: "tool.withheld", at, effectId, because: "declared", arguments: {} },
  { type: "approval.answered", at, effectId, approved: true },
  { type: "timer.fired", at, effectId },
];

const answeredBy = (event: Event): string | null => ("effectId" in event ? event.effectId : null);

const byId = (effects: readonly AnswerableEffect[]): readonly AnswerableEffect[] =>
  [...effects].sort((left, right) => (left.id < right.id ? -1 : 1));
