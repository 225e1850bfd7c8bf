import type { AnswerableEffect, ConversationMachine, Effect, Event } from "@colloquy/machine";
import { configurationOfMachine } from "@colloquy/machine/hosting";
import { editOf, turnPicked } from "./edit-of.ts";
import { answerFor, outcomeOf } from "./outcome-of.ts";
import type { Move, Schedule } from "./schedule.ts";
import { type MoveNamed, pickEffect, pickFrom, type Situation, strayTimer } from "./situation.ts";
import { realSubject, type Subject } from "./subject.ts";
import type { Trace, TraceStep } from "./trace.ts";

/**
 * Sends a machine the events of a schedule. A `reconfigure` move switches to the `alternate` machine, or back. Without
 * an `alternate` it only repeats the present configuration.
 */
export const runSchedule = (
  machine: ConversationMachine,
  schedule: Schedule,
  options: {
    readonly alternate?: ConversationMachine;
    readonly subject?: Pick<Subject, "start" | "transition" | "outstanding">;
  } = {},
): Trace => {
  const { subject = realSubject, alternate = machine } = options;
  const started = subject.start(machine, schedule.input);
  const steps: TraceStep[] = [];
  let state = started.state;
  let [present, other] = [machine, alternate];
  let now = schedule.input.at;
  for (const [index, move] of schedule.moves.entries()) {
    now += move.afterMs;
    if (move.move === "reconfigure") [present, other] = [other, present];
    const event = eventOf(move, { index, now, state, steps, machine: present, out: subject.outstanding(state) });
    const result = subject.transition(present, state, event);
    steps.push({ machine: present, event, before: state, transition: result });
    if (event.at > now && move.move === "fire") now = event.at;
    state = result.state;
  }
  return { started, steps };
};

/** Returns the event of a move in a situation. */
export const eventOf = (move: Move, situation: Situation): Event => {
  const { now: at, index, out } = situation;
  switch (move.move) {
    case "ask":
      return askOf(move, situation);
    case "cancel":
      return cancelOf(move, situation);
    case "answer":
    case "fail": {
      const effect = pickFrom(out.filter(isWork), move.pick);
      // Nothing is outstanding. A successful outcome becomes an ask, so that the schedule continues; a failed one is
      // late.
      if (effect === undefined && move.move === "answer")
        return { type: "ask.received", at, askId: `ask-${index}`, input: "Go on." };
      return outcomeOf(move, at, effect ?? lastAsked(situation));
    }
    case "approve":
      return approvalOf(move, situation);
    case "withhold":
      return withheldOf(move, situation);
    case "progress":
      return {
        type: "llm.progressed",
        at,
        effectId: idOf("callLlm", situation, 0),
        partial: move.partial,
        ...(move.again ? { again: true } : {}),
      };
    case "startTool":
      return { type: "tool.started", at, effectId: idOf("callTool", situation, move.pick) };
    case "fire":
      return fireOf(move, situation);
    case "repeat":
      return pickFrom(situation.steps, move.pick)?.event ?? strayTimer(at);
    case "foreign": {
      const effect = pickFrom(out, move.pick);
      return effect === undefined ? strayTimer(at) : answerFor({ ...effect, id: `elsewhere/${effect.id}` }, at);
    }
    case "send":
      return move.event;
    case "reconfigure":
      return { type: "thread.configured", at, configuration: configurationOfMachine(situation.machine) };
    default:
      return editOf(move, situation);
  }
};

const askOf = (move: MoveNamed<"ask">, { now: at, index, state }: Situation): Event => {
  const { move: _, afterMs: __, joins, from, ...asked } = move;
  const askId = joins === "open" ? state.context.open?.asks[0]?.askId : joins === "nobody" ? "nobody" : undefined;
  return {
    type: "ask.received",
    at,
    askId: `ask-${index}`,
    ...asked,
    ...(joins === undefined ? {} : { joins: askId === undefined ? {} : { askId } }),
    ...(from === undefined ? {} : { from: typeof from === "number" ? turnPicked(state, from) - 1 : from }),
  };
};

const cancelOf = (move: MoveNamed<"cancel">, { now: at, state, index }: Situation): Event => {
  const { move: _, afterMs: __, whom, ...told } = move;
  const { queue, open } = state.context;
  const queued = pickFrom(queue, index)?.askId;
  const joining = pickFrom(open?.joining ?? [], index)?.askId;
  const askId = { open: open?.asks[0]?.askId, queued, joining, nobody: "nobody" }[whom];
  return { type: "cancel.requested", at, ...(askId === undefined ? {} : { askId }), ...told };
};

const approvalOf = (move: MoveNamed<"approve">, situation: Situation): Event => {
  const { move: _, afterMs: __, pick, digest: which, ...told } = move;
  const asked = pickEffect(situation, "requestApproval", pick);
  const digest = { right: asked?.digest, wrong: "0000000000000000", none: undefined }[which];
  const effectId = asked?.id ?? lastAsked(situation).id;
  return {
    type: "approval.answered",
    at: situation.now,
    effectId,
    ...(digest === undefined ? {} : { digest }),
    ...told,
  };
};

const withheldOf = (move: MoveNamed<"withhold">, situation: Situation): Event => {
  const { move: _, afterMs: __, pick, ...told } = move;
  return { type: "tool.withheld", at: situation.now, effectId: idOf("callTool", situation, pick), ...told };
};

const fireOf = (move: MoveNamed<"fire">, { now, out }: Situation): Event => {
  const timer = pickFrom(out.filter(isTimer), move.pick);
  if (timer === undefined) return strayTimer(now);
  return { type: "timer.fired", at: move.early ? now : Math.max(now, timer.dueAt), effectId: timer.id };
};

/** Returns the effect of a late answer: the last one that was requested, or a timer that was never started. */
const lastAsked = ({ steps }: Situation): AnswerableEffect => {
  const asked = steps.flatMap(({ transition }): readonly Effect[] => transition.effects);
  return (
    asked.findLast(isAnswerable) ?? {
      type: "startTimer",
      id: "never started",
      threadId: "",
      purpose: "queue",
      dueAt: 0,
    }
  );
};

const idOf = (type: AnswerableEffect["type"], situation: Situation, pick: number): string =>
  pickEffect(situation, type, pick)?.id ?? "nothing is out";

const isAnswerable = (effect: Effect): effect is AnswerableEffect => "id" in effect;

const isTimer = (effect: AnswerableEffect): effect is Extract<AnswerableEffect, { type: "startTimer" }> =>
  effect.type === "startTimer";

/** Returns whether an effect is not the deadline, whose firing would end every turn that has one. */
const isWork = (effect: AnswerableEffect): boolean => effect.type !== "startTimer" || effect.purpose !== "deadline";
