// The straight way is a fast path for the most common events: a text opens a turn, a model replies, a tool answers.
import { append, emptyChunks, replaced } from "../thread/chunks.ts";
import { messageFromDraft, messageFromReply, messageFromResult } from "../thread/make-message.ts";
import { toolCallsOf } from "../thread/message.ts";
import { exact, frozen } from "../thread/plain-data.ts";
import type { Thread } from "../thread/thread.ts";
import type { Prompts } from "../prompt/prompts.ts";
import type { ConversationData, OpenTurn, RoundCall } from "./protocol/data.ts";
import { type Effect, publish } from "./protocol/effect.ts";
import { allAnswered, positionNamedBy, positionOut } from "./protocol/effect-id.ts";
import type { Decided } from "./protocol/entry.ts";
import type { AskReceived, Event, LlmCompleted, ToolCompleted } from "./protocol/event.ts";
import { dataAround, thawedThread, thawedTurn } from "./protocol/thaw.ts";
import { callLlm, callTool } from "./update/call.ts";
import type { Step } from "./update/plan.ts";
import { charge, roundCall } from "./update/reply.ts";
import { closedTurn, settleRound, updated } from "./update/turn-closing.ts";
import { callOf, freshTurn, nothingCut } from "./update/turn-opening.ts";
import { modelSignal } from "./update/update.ts";

/** Returns whether an event may take the fast path from this data. `straightStep` checks further conditions. */
export const mayGoStraight = (
  { open, queue, summarising, waking, conversation }: ConversationData,
  event: Event,
): event is AskReceived | LlmCompleted | ToolCompleted => {
  if (summarising !== null || waking !== null || queue.length > 0) return false;
  switch (event.type) {
    case "ask.received":
      // The four members are type, at, askId and input.
      return (
        open === null &&
        typeof event.input === "string" &&
        Object.keys(event).length === 4 &&
        conversation.appended.length === 0 &&
        conversation.appendedCharacters === undefined
      );
    case "llm.completed":
      // A counted call calibrates the counter.
      return open?.stage.type === "responding" && open.stage.call.counted === null && isPlain(open);
    case "tool.completed":
      return (
        open?.stage.type === "running" &&
        isPlain(open) &&
        allAnswered(open.stage.calls, positionNamedBy(event.effectId))
      );
    default:
      return false;
  }
};

const isPlain = ({ callerTools, deadlineAt, joining, output, waiting }: OpenTurn): boolean =>
  output === undefined && callerTools === undefined && deadlineAt === null && joining.length + waiting.length === 0;

/**
 * Returns the result of `update` and its effects for an event that may take the fast path. It builds each
 * object once, and does not look for features that such a thread does not use. Returns null if the decision asks for
 * more than the next call. `straight.test.ts` compares the two paths.
 */
export const straightStep = (
  data: ConversationData,
  event: AskReceived | LlmCompleted | ToolCompleted,
  decided: Decided,
  prompts: Prompts,
): Step | null => {
  for (const name in decided) if (name !== "cut" && name !== "cost") return null;
  frozen(decided);
  switch (event.type) {
    case "ask.received":
      return opened(data, event, decided, prompts);
    case "llm.completed":
      return decided.cut === undefined && data.open !== null ? replied(data, data.open, event, decided) : null;
    case "tool.completed":
      return data.open?.stage.type === "running"
        ? answered(data, data.open, data.open.stage.calls, event, decided, prompts)
        : null;
  }
};

const opened = (
  data: ConversationData,
  { at, askId, input }: AskReceived,
  decided: Decided,
  prompts: Prompts,
): Step | null => {
  if (typeof input !== "string") return null;
  const number = data.conversation.turns.length + 1;
  const message = messageFromDraft(`${number}.0`, { role: "user", content: input });
  const open = freshTurn(data, exact([Object.freeze({ askId, askedAt: at })]), append(emptyChunks, message), at);
  const started = publish({ type: "turn.started", turn: number, askIds: Object.freeze([askId]) });
  return calling(data, open, at, decided, started, prompts);
};

const replied = (data: ConversationData, before: OpenTurn, event: LlmCompleted, decided: Decided): Step => {
  const { at, finishReason, reply, usage } = event;
  const { number, step, made, stage } = before;
  const { usage: charged, open: fresh } = charge(data, thawedTurn(before), usage, decided.cost);
  const message = messageFromReply(`${number}.${made}`, `${number}.${step}`, reply);
  const messages = append(before.messages, message);
  const attempt = stage.type === "responding" ? stage.call.attempt : 1;
  const signal = publish(modelSignal({ turn: number, step, attempt, purpose: "answer" }, event, decided));
  if ((reply.toolCalls ?? []).length > 0) {
    const calls = Object.freeze(toolCallsOf(message).map((part) => roundCall(part, {}, null)));
    const open: OpenTurn = {
      ...fresh,
      messages,
      made: made + 1,
      toolCalls: before.toolCalls + calls.length,
      stage: Object.freeze({ type: "running", calls }),
    };
    const after = next(data, at, data.conversation, open, { usage: charged });
    const effects = [signal, ...calls.map((call, position) => callTool(after, open, call, position))];
    return { data: after, arrow: "running", effects: Object.freeze(effects) };
  }
  const outcome = { status: "completed", finishReason } as const;
  const turn = closedTurn(data.conversation, { ...fresh, messages, answer: message.id }, outcome, at);
  const turns = append(data.conversation.turns, turn);
  const thread = Object.freeze({ ...thawedThread(data.conversation), turns, head: number });
  const after = next(data, at, thread, null, { usage: charged });
  const ended = publish({ type: "turn.ended", turn: number, status: "completed" });
  return { data: after, arrow: "completed", effects: Object.freeze([signal, ended, publish(updated(after))]) };
};

const answered = (
  data: ConversationData,
  open: OpenTurn,
  calls: readonly RoundCall[],
  event: ToolCompleted,
  decided: Decided,
  prompts: Prompts,
): Step | null => {
  const position = positionOut(data.threadId, calls, event.effectId);
  const call = calls[position];
  if (call === undefined) return null;
  const all = replaced(calls, position, { ...call, result: messageFromResult(call, "completed", event.content) });
  const { number: turn, step } = open;
  const ended = publish({ type: "tool.ended", turn, step, position, name: call.name, outcome: "completed" });
  return calling(data, settleRound(thawedTurn(open), all), event.at, decided, ended, prompts);
};

/** Makes the next call of a turn. */
const calling = (
  data: ConversationData,
  before: OpenTurn,
  at: number,
  decided: Decided,
  signal: Effect,
  prompts: Prompts,
): Step => {
  const cut = decided.cut ?? data.cut ?? nothingCut;
  const call = Object.freeze(callOf(data, before, 1, cut, null));
  const stage = Object.freeze({ type: "responding", call } as const);
  const open: OpenTurn = { ...before, step: before.step + 1, stage };
  const after = next(data, at, data.conversation, open, { cut });
  return { data: after, arrow: "responding", effects: Object.freeze([signal, callLlm(after, open, call, prompts)]) };
};

const next = (
  data: ConversationData,
  at: number,
  thread: Thread,
  open: OpenTurn | null,
  changed: Partial<ConversationData>,
): ConversationData =>
  Object.freeze({
    // Its members were frozen when they were made: to look at each again takes longer than to make them.
    ...dataAround(data, thread, open === null ? null : Object.freeze(open)),
    seq: data.seq + 1,
    updatedAt: at,
    ...changed,
  });
