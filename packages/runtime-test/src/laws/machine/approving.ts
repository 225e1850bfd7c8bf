import type { CallTool, Effect, RequestApproval } from "@colloquy/machine";
import { realSubject } from "../../arbitraries/subject.ts";
import { type HandledStep, handledSteps } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, stepNamed, traceFor } from "./machine-law.ts";

/**
 * Checks M6 for approvals: a withheld call requests an approval of exactly what was withheld, and does not run before
 * it is approved. An approved call runs as another attempt, with the approved arguments. A denied call never runs. An
 * answer whose digest is for another call is refused.
 */
export const approving: MachineLaw = (options, schedule, subject = realSubject) => {
  const asked = new Map<string, RequestApproval>();
  for (const [index, step] of handledSteps(traceFor(options, schedule, subject)).entries()) {
    const name = `handled ${stepNamed(index, step.event)}`;
    const effects: readonly Effect[] = step.transition.effects;
    const runs = effects.filter((effect): effect is CallTool => effect.type === "callTool");
    const questions = effects.filter((effect): effect is RequestApproval => effect.type === "requestApproval");
    requireQuestion(step, questions, name);
    if (step.event.type === "approval.answered") requireAnswered(step.event, asked, runs, name);
    else {
      const early = runs.find(({ approval }) => approval !== null && approval !== "required");
      if (early !== undefined)
        throw new LawBroken("M6", `${name} runs ${early.id} as approved, but it was not approved`);
    }
    for (const question of questions) asked.set(question.id, question);
  }
};

const requireQuestion = ({ event }: HandledStep, questions: readonly RequestApproval[], name: string): void => {
  if (event.type !== "tool.withheld") {
    if (questions.length > 0)
      throw new LawBroken("M6", `${name} asks about ${questions[0]?.id}, and nothing was withheld`);
    return;
  }
  const { because, version = null, arguments: withheld } = event;
  requireSame(
    "M6",
    `what ${name} asks about`,
    [{ because, version, arguments: withheld }],
    questions.map((question) => ({
      because: question.because,
      version: question.version,
      arguments: question.arguments,
    })),
  );
};

const requireAnswered = (
  event: Extract<HandledStep["event"], { readonly type: "approval.answered" }>,
  asked: ReadonlyMap<string, RequestApproval>,
  runs: readonly CallTool[],
  name: string,
): void => {
  const question = asked.get(event.effectId);
  if (question === undefined) throw new LawBroken("M6", `${name} answers "${event.effectId}", which was not asked`);
  if (event.digest !== undefined && event.digest !== question.digest)
    throw new LawBroken("M6", `${name} is about ${event.digest}, and ${question.digest} was asked about`);
  const { because, version, arguments: withheld, callId } = question;
  requireSame(
    "M6",
    `what ${name} runs`,
    event.approved ? [{ callId, approval: { because, version, arguments: withheld } }] : [],
    runs.map((run) => ({ callId: run.callId, approval: run.approval })),
  );
};
