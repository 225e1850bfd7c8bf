import {
  type ConversationMachine,
  type AnswerableEffect,
  type CallTool,
  type Effect,
  type Event,
  type Json,
  messagesOf,
  type State,
  turnNumbered,
} from "@colloquy/machine";
import type { Schedule, EditMove, Move } from "./schedule.ts";
import { realSubject, type Subject, type Trace, type TraceStep, isHandled } from "./trace.ts";
import { configurationOfMachine } from "@colloquy/machine/hosting";

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

/** The state in which a move is interpreted. */
interface Situation {
  readonly index: number;
  readonly now: number;
  readonly state: State;
  readonly steps: readonly TraceStep[];
  readonly machine: ConversationMachine;
  readonly out: readonly AnswerableEffect[];
}

type MoveNamed<Name extends Move["move"]> = Extract<Move, { readonly move: Name }>;

const pickFrom = <Element>(elements: readonly Element[], pick: number): Element | undefined =>
  elements[pick % Math.max(1, elements.length)];

const pickEffect = <Type extends AnswerableEffect["type"]>(
  { out }: Situation,
  type: Type,
  pick: number,
): Extract<AnswerableEffect, { readonly type: Type }> | undefined =>
  pickFrom(
    out.filter((effect): effect is Extract<AnswerableEffect, { readonly type: Type }> => effect.type === type),
    pick,
  );

const strayTimer = (at: number): Event => ({
  type: "timer.fired",
  at,
  effectId: "a timer that nobody started",
});

const strayAnswer: MoveNamed<"answer"> = {
  move: "answer",
  afterMs: 0,
  pick: 0,
  reply: { content: "stray" },
  finishReason: "stop",
  content: "stray",
};

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
      if (effect === undefined && move.move === "answer") return nextAsk(index, at);
      return outcomeOf(move, at, effect ?? lastAsked(situation));
    }
    case "approve":
      return approvalOf(move, situation);
    case "withhold":
      return withheldOf(move, situation);
    case "progress": {
      const progressed = { type: "llm.progressed", at, effectId: idOf("callLlm", situation, 0) } as const;
      return { ...progressed, partial: move.partial, ...(move.again ? { again: true } : {}) };
    }
    case "startTool":
      return { type: "tool.started", at, effectId: idOf("callTool", situation, move.pick) };
    case "fire":
      return fireOf(move, situation);
    case "repeat":
      return pickFrom(situation.steps, move.pick)?.event ?? strayTimer(at);
    case "foreign": {
      const effect = pickFrom(out, move.pick);
      const foreign = effect === undefined ? undefined : { ...effect, id: `elsewhere/${effect.id}` };
      return foreign === undefined ? strayTimer(at) : outcomeOf(strayAnswer, at, foreign);
    }
    case "send":
      return move.event;
    case "reconfigure":
      return { type: "thread.configured", at, configuration: configurationOfMachine(situation.machine) };
    default:
      return editOf(move, situation);
  }
};

export const nextAsk = (index: number, at: number): Event => ({
  type: "ask.received",
  at,
  askId: `ask-${index}`,
  input: "Go on.",
});

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
  const answer = { type: "approval.answered", at: situation.now, effectId } as const;
  return { ...answer, ...(digest === undefined ? {} : { digest }), ...told };
};

const withheldOf = (move: MoveNamed<"withhold">, situation: Situation): Event => {
  const { move: _, afterMs: __, pick, ...told } = move;
  return { type: "tool.withheld", at: situation.now, effectId: idOf("callTool", situation, pick), ...told };
};

const fireOf = (move: MoveNamed<"fire">, situation: Situation): Event => {
  const { now } = situation;
  const timer = pickEffect(situation, "startTimer", move.pick);
  if (timer === undefined) return strayTimer(now);
  return { type: "timer.fired", at: move.early ? now : Math.max(now, timer.dueAt), effectId: timer.id };
};

/** Returns the effect of a late answer: the last one that was requested, or a timer that was never started. */
const lastAsked = ({ steps }: Situation): AnswerableEffect => {
  const asked = steps.flatMap(({ transition }): readonly Effect[] => transition.effects);
  const never = { type: "startTimer", id: "never started", threadId: "", purpose: "queue", dueAt: 0 } as const;
  return asked.findLast((effect) => "id" in effect) ?? never;
};

const idOf = (type: AnswerableEffect["type"], situation: Situation, pick: number): string =>
  pickEffect(situation, type, pick)?.id ?? "nothing is out";

/** Returns whether an effect is not the deadline, whose firing would end every turn that has one. */
export const isWork = (effect: AnswerableEffect): boolean =>
  effect.type !== "startTimer" || effect.purpose !== "deadline";

const editOf = (move: MoveNamed<EditMove["move"]>, situation: Situation): Event => {
  const { now: at, state } = situation;
  const turn = (pick: number): number => turnPicked(state, pick);
  switch (move.move) {
    case "append":
      return { type: "message.appended", at, message: move.message };
    case "appendRound":
      return { type: "round.appended", at, reply: move.reply, results: move.results };
    case "changeSystem":
      return { type: "system.changed", at, system: move.system };
    case "resetSystem":
      return { type: "system.reset", at };
    case "setMetadata":
      return { type: "metadata.changed", at, metadata: move.metadata };
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
    case "fork":
      return { type: "thread.forked", at, from: { threadId: "elsewhere", turn: Math.max(0, turn(move.pick) - 1) } };
    case "redact": {
      const { move: _, afterMs, pick, ...why } = move;
      return { type: "thread.redacted", at, seqs: seqsOfTurn(turn(pick), situation), ...why };
    }
  }
};

/** Returns the number of a turn, or sometimes the number after the last turn. */
const turnPicked = ({ context }: State, pick: number): number => {
  const turns = context.conversation.turns.length;
  return turns === 0 ? pick : 1 + (pick % (turns + 1));
};

const pinOf = ({ pick, pinned }: MoveNamed<"pin">, state: State): string => {
  const pins = state.context.conversation.pins.map(({ message }) => message);
  return pickFrom(pinned ? messagesOf(state).map(({ id }) => id) : pins, pick) ?? "0.99";
};

/** Returns the seqs of a turn's asks, and of the answers of models and tools in that turn. */
const seqsOfTurn = (turn: number, { state, steps }: Situation): readonly number[] => {
  const asks = turnNumbered(state, turn)?.asks.map(({ askId }) => askId) ?? [];
  const prefix = `${state.context.threadId}/${turn}.`;
  return steps.filter(isHandled).flatMap(({ transition: { entry }, event }) => {
    const isAsk = event.type === "ask.received" && asks.includes(event.askId);
    return isAsk || ("effectId" in event && event.effectId.startsWith(prefix)) ? [entry.seq] : [];
  });
};

/** Returns the successful or failed outcome of an effect. A timer fires in both cases. */
export const outcomeOf = (move: MoveNamed<"answer" | "fail">, at: number, effect: AnswerableEffect): Event => {
  const answer = { at, effectId: effect.id };
  switch (effect.type) {
    case "startTimer":
      return { type: "timer.fired", at: Math.max(at, effect.dueAt), effectId: effect.id };
    case "requestApproval":
      return { type: "approval.answered", ...answer, approved: move.move === "answer", digest: effect.digest };
    case "checkOutput":
      return move.move === "answer"
        ? { type: "output.accepted", ...answer, value: { text: effect.text } }
        : { type: "output.refused", ...answer, issues: [{ message: move.failure.message, path: ["text", 0] }] };
    case "callTool":
      return toolOutcomeOf(move, answer, effect);
    case "callLlm":
      return llmOutcomeOf(move, answer, effect);
  }
};

type Answer = { readonly at: number; readonly effectId: string };

/** Withholds a call that needs approval, as a runtime does when it found the arguments valid. */
const toolOutcomeOf = (move: MoveNamed<"answer" | "fail">, answer: Answer, call: CallTool): Event => {
  if (move.move === "fail") return { type: "tool.failed", ...answer, outcome: move.outcome, content: move.content };
  if (call.approval === "required")
    return { type: "tool.withheld", ...answer, because: "declared", version: "1", arguments: validated(call) };
  return { type: "tool.completed", ...answer, content: move.content };
};

const validated = ({ arguments: written }: CallTool): Json => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(written) as Json;
  } catch {
    return { written };
  }
};

const llmOutcomeOf = (
  move: MoveNamed<"answer" | "fail">,
  answer: Answer,
  { promptDigest, purpose }: Extract<AnswerableEffect, { readonly type: "callLlm" }>,
): Event => {
  if (move.move === "fail") {
    const { move: _, afterMs, pick, content, outcome, failure, partial, ...reported } = move;
    const failed = { ...answer, promptDigest, ...reported, failure };
    return { type: "llm.failed", ...failed, ...(partial === undefined ? {} : { partial }) };
  }
  const { move: _, afterMs, pick, content, reply: said, finishReason, ...reported } = move;
  // Every fourth model answers a summary request with a tool call, as some models do.
  const { toolCalls, ...withoutCalls } = said;
  const reply = purpose === "summary" && pick % 4 !== 3 ? withoutCalls : said;
  return { type: "llm.completed", ...answer, promptDigest, ...reported, reply, finishReason };
};
