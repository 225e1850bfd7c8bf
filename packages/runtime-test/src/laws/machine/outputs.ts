import { type CallLlm, canonicalText, type Effect, type State, toArray, type Turn } from "@colloquy/machine";
import { realSubject } from "../../arbitraries/subject.ts";
import { type HandledStep, handledSteps } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, stepNamed, traceFor } from "./machine-law.ts";

/**
 * Checks M13: a turn with an expected output completes only with an accepted answer, and contains exactly that. A
 * refused answer is repaired at most as often as allowed, each time in a new step; otherwise the turn fails. No prompt
 * of a later turn shows a refused answer.
 */
export const outputsHold: MachineLaw = (options, schedule, subject = realSubject) => {
  for (const [index, step] of handledSteps(traceFor(options, schedule, subject)).entries()) {
    const name = `handled ${stepNamed(index, step.event)}`;
    const ended = endedBy(step);
    if (ended !== undefined) requireAccepted(step, ended, name);
    if (step.event.type === "output.refused") requireMended(step, ended, name);
    requireLeftOut(step, name);
  }
};

/** Returns the turn that a step closes. */
const endedBy = ({ before, transition }: HandledStep): Turn | undefined => {
  const turns = toArray(transition.state.context.conversation.turns);
  return turns.length > before.context.conversation.turns.length ? turns.at(-1) : undefined;
};

const requireAccepted = ({ event, before }: HandledStep, ended: Turn, name: string): void => {
  const wanted = before.context.open?.number === ended.number ? before.context.open.output : undefined;
  const accepted = event.type === "output.accepted" ? event.value : undefined;
  if (wanted !== undefined && ended.outcome.status === "completed" && accepted === undefined)
    throw new LawBroken("M13", `${name} completes a turn whose output nobody accepted`);
  requireSame("M13", `the output of the turn that ${name} ends`, accepted, ended.output?.value);
};

const requireMended = ({ before, transition }: HandledStep, ended: Turn | undefined, name: string): void => {
  const [was, is] = [before.context.open, transition.state.context.open];
  const refused = (is ?? ended)?.refusedOutputs?.length ?? 0;
  requireSame("M13", `how many answers ${name} has refused`, (was?.refusedOutputs?.length ?? 0) + 1, refused);
  if (is === null) return;
  if (refused > (was?.output?.repairs ?? 0))
    throw new LawBroken("M13", `${name} has the model mend its answer a ${refused}. time, which was not allowed`);
  const steps = is.stage.type === "compacting" ? is.step + 1 : is.step;
  requireSame("M13", `the step that ${name} begins`, (was?.step ?? 0) + 1, steps);
};

const requireLeftOut = ({ transition }: HandledStep, name: string): void => {
  const refused = refusedIn(transition.state);
  const effects: readonly Effect[] = transition.effects;
  for (const call of effects.filter((effect): effect is CallLlm => effect.type === "callLlm")) {
    const shown = call.messages.find(({ id }) => refused.has(id));
    if (shown !== undefined)
      throw new LawBroken("M13", `${name} shows ${call.id} an answer that was refused: ${canonicalText(shown)}`);
  }
};

/** Returns the ids of refused answers and repair requests, which closed turns no longer contain. */
const refusedIn = ({ context: { conversation } }: State): ReadonlySet<string> =>
  new Set(
    toArray(conversation.turns).flatMap(({ refusedOutputs = [] }) =>
      refusedOutputs.flatMap(({ reply, request }) => (request === undefined ? [reply.id] : [reply.id, request.id])),
    ),
  );
