import {
  type AnswerableEffect,
  configurationOfMachine,
  type ConversationMachine,
  type Effect,
  type Event,
  messagesOf,
  type ReplyDraft,
  type State,
} from "@colloquy/machine";
import type { Move, Schedule } from "./schedule.ts";
import { realSubject, type Subject } from "./subject.ts";
import type { Trace, TraceStep } from "./trace.ts";

/**
 * Tells a machine what a schedule says. A `reconfigure` move goes on with the `alternate` machine, or back; without
 * one it only tells that the configuration is what it was.
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
    const told = subject.transition(present, state, event);
    steps.push({ machine: present, event, before: state, transition: told });
    if (event.at > now && move.move === "fire") now = event.at;
    state = told.state;
  }
  return { started, steps };
};

/** What a move is read against. */
interface Situation {
  readonly index: number;
  readonly now: number;
  readonly state: State;
  readonly steps: readonly TraceStep[];
  readonly machine: ConversationMachine;
  readonly out: readonly AnswerableEffect[];
}

const eventOf = (move: Move, situation: Situation): Event => {
  const { now: at, index, out } = situation;
  switch (move.move) {
    case "ask": {
      const { move: _, afterMs: __, ...asked } = move;
      return { type: "ask.received", at, askId: `ask-${index}`, ...asked };
    }
    case "cancel":
      return cancelOf(move, situation);
    case "answer":
    case "fail": {
      const effect = pickFrom(out.filter(isWork), move.pick);
      // Nothing is out: a good outcome becomes an ask, so that a schedule goes on, and a bad one comes too late.
      if (effect === undefined && move.move === "answer")
        return { type: "ask.received", at, askId: `ask-${index}`, input: "Go on." };
      return outcomeOf(move, at, effect ?? lastAsked(situation));
    }
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
    case "tell":
      return move.event;
    case "reconfigure":
      return { type: "thread.configured", at, configuration: configurationOfMachine(situation.machine) };
    default:
      return editOf(move, situation);
  }
};

type MoveNamed<Name extends Move["move"]> = Extract<Move, { readonly move: Name }>;

const editOf = (
  move: MoveNamed<"append" | "changeSystem" | "addTurn" | "annotate" | "truncate" | "checkpoint" | "moveHead" | "pin">,
  { now: at, state }: Situation,
): Event => {
  const turns = state.context.conversation.turns.length;
  // One more than there are, now and then.
  const turn = (pick: number): number => (turns === 0 ? pick : 1 + (pick % (turns + 1)));
  switch (move.move) {
    case "append":
      return { type: "message.appended", at, message: move.message };
    case "changeSystem":
      return { type: "system.changed", at, system: move.system };
    case "addTurn":
      return { type: "turn.added", at, messages: move.messages };
    case "annotate":
      return { type: "turn.annotated", at, turn: turn(move.pick), name: move.name, value: move.value };
    case "truncate":
      return { type: "answer.truncated", at, turn: turn(move.pick), characters: move.characters };
    case "checkpoint":
      return { type: "checkpoint.named", at, name: move.name };
    case "moveHead":
      return { type: "head.moved", at, to: typeof move.to === "number" ? turn(move.to) - 1 : move.to };
    case "pin":
      return { type: "message.pinned", at, message: pinOf(move, state), pinned: move.pinned };
  }
};

const pinOf = ({ pick, pinned }: MoveNamed<"pin">, state: State): string => {
  const pins = state.context.conversation.pins.map(({ message }) => message);
  return pickFrom(pinned ? messagesOf(state).map(({ id }) => id) : pins, pick) ?? "0.99";
};

const cancelOf = (move: MoveNamed<"cancel">, { now: at, state, index }: Situation): Event => {
  const { queue, open } = state.context;
  const queued = queue[index % Math.max(1, queue.length)]?.askId;
  const askId = { open: open?.asks[0]?.askId, queued, nobody: "nobody" }[move.whom];
  return {
    type: "cancel.requested",
    at,
    ...(askId === undefined ? {} : { askId }),
    ...(move.reason === undefined ? {} : { reason: move.reason }),
    ...(move.partial === undefined ? {} : { partial: move.partial }),
    ...(move.usage === undefined ? {} : { usage: move.usage }),
  };
};

const outcomeOf = (move: MoveNamed<"answer" | "fail">, at: number, effect: AnswerableEffect): Event => {
  if (effect.type === "startTimer") return { type: "timer.fired", at: Math.max(at, effect.dueAt), effectId: effect.id };
  const answer = { at, effectId: effect.id };
  if (effect.type === "callTool") {
    return move.move === "answer"
      ? { type: "tool.completed", ...answer, content: move.content }
      : { type: "tool.failed", ...answer, outcome: move.outcome, content: move.content };
  }
  const sent = {
    ...answer,
    promptDigest: effect.promptDigest,
    ...(move.usage === undefined ? {} : { usage: move.usage }),
    ...(move.model === undefined ? {} : { model: move.model }),
  };
  if (move.move === "answer") {
    const reply = effect.purpose === "summary" && !isUnruly(move) ? withoutCalls(move.reply) : move.reply;
    return { type: "llm.completed", ...sent, reply, finishReason: move.finishReason };
  }
  return {
    type: "llm.failed",
    ...sent,
    failure: move.failure,
    ...(move.partial === undefined ? {} : { partial: move.partial }),
  };
};

/** Most summaries are texts; some models ask for a tool even so. */
const isUnruly = ({ pick }: MoveNamed<"answer">): boolean => pick % 4 === 3;

const withoutCalls = ({ toolCalls: _, ...said }: ReplyDraft): ReplyDraft => said;

const fireOf = (move: MoveNamed<"fire">, { now, out }: Situation): Event => {
  const timer = pickFrom(out.filter(isTimer), move.pick);
  if (timer === undefined) return strayTimer(now);
  return { type: "timer.fired", at: move.early ? now : Math.max(now, timer.dueAt), effectId: timer.id };
};

/** What is answered too late: what was asked for last, or a timer that nobody ever started. */
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

/** The plainest answer that an effect can have. */
const answerFor = (effect: AnswerableEffect, at: number): Event => {
  switch (effect.type) {
    case "callLlm":
      return { type: "llm.completed", at, effectId: effect.id, reply: { content: "stray" }, finishReason: "stop" };
    case "callTool":
      return { type: "tool.completed", at, effectId: effect.id, content: "stray" };
    case "startTimer":
      return { type: "timer.fired", at, effectId: effect.id };
  }
};

const strayTimer = (at: number): Event => ({ type: "timer.fired", at, effectId: "a timer that nobody started" });

const idOf = (type: AnswerableEffect["type"], { out }: Situation, pick: number): string => {
  const candidates = out.filter((candidate) => candidate.type === type);
  return pickFrom(candidates, pick)?.id ?? "nothing is out";
};

const pickFrom = <Element>(elements: readonly Element[], pick: number): Element | undefined =>
  elements[pick % Math.max(1, elements.length)];

const isAnswerable = (effect: Effect): effect is AnswerableEffect =>
  effect.type === "callLlm" || effect.type === "callTool" || effect.type === "startTimer";

const isTimer = (effect: AnswerableEffect): effect is Extract<AnswerableEffect, { type: "startTimer" }> =>
  effect.type === "startTimer";

/** All but the deadline, which would end every turn that has one. */
const isWork = (effect: AnswerableEffect): boolean => effect.type !== "startTimer" || effect.purpose !== "deadline";
