import type {
  AnswerableEffect,
  ApprovalAnswered,
  CallTool,
  Effect,
  Event,
  RequestApproval,
  State,
} from "@colloquy/machine";
import { effectsOf, realSubject, statesOf, type Subject, type TraceStep } from "../../arbitraries/trace.ts";
import { preview, LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, type NamedStep, namedSteps, stepNamed, traceFor } from "./machine-law.ts";

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
    const { event, transition } = step;
    const name = stepNamed(index, event);
    settle(out, step, name);
    if (transition.handled && event.type === "thread.forked") {
      // All effects stay in the original thread and are not cancelled: in the fork, the open turn never existed.
      out.clear();
      ever.clear();
    }
    for (const effect of transition.effects) account(out, ever, effect, name);
    const reported = byId(subject.outstanding(transition.state));
    requireSame("M6", `outstanding after ${name}`, byId([...out.values()]), reported);
    for (const effectId of ever) if (!out.has(effectId)) requireStale(subject, step, effectId, name);
  }
};

/**
 * Checks M6 for approvals: a withheld call requests an approval of exactly what was withheld, and does not run before
 * it is approved. An approved call runs as another attempt, with the approved arguments. A denied call never runs. An
 * answer whose digest is for another call is refused.
 */
export const approving: MachineLaw = (...given) => {
  const asked = new Map<string, RequestApproval>();
  for (const step of namedSteps(...given)) {
    const { event, transition, name } = step;
    const questions = effectsOf(transition, "requestApproval");
    const runs = effectsOf(transition, "callTool");
    requireQuestion(step, questions);
    const early = runs.find(({ approval }) => approval !== null && approval !== "required");
    if (event.type === "approval.answered") requireAnswered(event, asked.get(event.effectId), runs, name);
    else if (early !== undefined) throw broken(`${name} runs ${early.id} as approved, but it was not approved`);
    for (const question of questions) asked.set(question.id, question);
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
    if ([summaries, calls, checks].every((count) => count <= 1) && [calls, checks, tools].filter(Boolean).length <= 1)
      continue;
    throw new LawBroken(
      "M7",
      `after entry ${state.context.seq} there are out: ${calls} model calls, ${summaries} summaries, ${checks} checks of an output, ${tools} tool calls or questions about them`,
    );
  }
};

const broken = (words: string): LawBroken => new LawBroken("M6", words);

/** Removes the answered effect from the outstanding ones. Each handled answer must have one. */
const settle = (out: Map<string, AnswerableEffect>, { event, transition }: TraceStep, name: string): void => {
  if (!("effectId" in event) || !transition.handled) return;
  const { effectId, type } = event;
  const effect = out.get(effectId);
  if (effect === undefined) throw broken(`${name} answered "${effectId}", which was not outstanding`);
  if (type === "llm.progressed") return;
  const isCallers = effect.type === "callTool" && effect.by === "caller";
  if (isCallers && type !== "tool.completed" && type !== "tool.failed")
    throw broken(`${name} was taken for "${effectId}", which is the caller's to answer`);
  if (type !== "tool.started") out.delete(effectId);
  else if (effect.type === "callTool") out.set(effectId, { ...effect, started: true });
};

const account = (out: Map<string, AnswerableEffect>, ever: Set<string>, effect: Effect, name: string): void => {
  if ("effectId" in effect) {
    if (!out.delete(effect.effectId)) throw broken(`${name} cancelled "${effect.effectId}", which was not out`);
  } else if (effect.type !== "publish") {
    if (ever.has(effect.id)) throw broken(`${name} asked for "${effect.id}" a second time`);
    ever.add(effect.id);
    out.set(effect.id, effect);
  }
};

/** Checks that an effect that is no longer outstanding cannot be answered, by any event. */
const requireStale = (
  subject: Subject,
  { machine, transition: { state } }: TraceStep,
  effectId: string,
  name: string,
): void => {
  for (const event of answersTo(effectId, state)) {
    const late = subject.transition(machine, state, event);
    if (late.handled) throw broken(`after ${name}, "${event.type}" answered "${effectId}" again`);
    if (late.state !== state) throw broken(`after ${name}, a stale "${event.type}" gave another state reference`);
    if (late.refusal.kind !== "stale") throw broken(`a stale answer was refused as ${preview(late.refusal)}`);
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

const byId = (effects: readonly AnswerableEffect[]): readonly AnswerableEffect[] =>
  [...effects].sort((left, right) => (left.id < right.id ? -1 : 1));

const requireQuestion = ({ event, name }: NamedStep, questions: readonly RequestApproval[]): void => {
  if (event.type !== "tool.withheld") {
    if (questions.length > 0) throw broken(`${name} asks about ${questions[0]?.id}, and nothing was withheld`);
    return;
  }
  const { because, version = null, arguments: withheld } = event;
  const asked = questions.map((each) => ({ because: each.because, version: each.version, arguments: each.arguments }));
  requireSame("M6", `what ${name} asks about`, [{ because, version, arguments: withheld }], asked);
};

const requireAnswered = (
  { effectId, digest, approved }: ApprovalAnswered,
  question: RequestApproval | undefined,
  runs: readonly CallTool[],
  name: string,
): void => {
  if (question === undefined) throw broken(`${name} answers "${effectId}", which was not asked`);
  if (digest !== undefined && digest !== question.digest)
    throw broken(`${name} is about ${digest}, and ${question.digest} was asked about`);
  const { because, version, arguments: withheld, callId } = question;
  const expected = approved ? [{ callId, approval: { because, version, arguments: withheld } }] : [];
  const actual = runs.map((run) => ({ callId: run.callId, approval: run.approval }));
  requireSame("M6", `what ${name} runs`, expected, actual);
};
