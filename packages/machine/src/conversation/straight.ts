// The straight way is a fast path for the most common events: a text opens a turn, a model replies, a tool answers.
import { append, emptyChunks } from "../thread/chunks.ts";
import { messageFromDraft, messageFromReply, messageFromResult } from "../thread/make-message.ts";
import { toolCallsOf } from "../thread/message.ts";
import { exact, type Fresh, frozen } from "../thread/plain-data.ts";
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
import { closedTurn, updated, withResults } from "./update/turn-closing.ts";
import { callOf, freshTurn, nothingCut } from "./update/turn-opening.ts";
import { modelSignal } from "./update/update.ts";

type StraightEvent = (AskReceived & { readonly input: string }) | LlmCompleted | ToolCompleted;

/** Returns whether an event may take the fast path from this data. `straightStep` checks further conditions. */
export const mayGoStraight = (
  { open, queue, summarising, waking, conversation }: ConversationData,
  event: Event,
): event is StraightEvent => {
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
  event: StraightEvent,
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
  { at, askId, input }: Extract<StraightEvent, AskReceived>,
  decided: Decided,
  prompts: Prompts,
): Step => {
  const number = data.conversation.turns.length + 1;
  const message = messageFromDraft(`${number}.0`, { role: "user", content: input });
  const open = freshTurn(data, exact([Object.freeze({ askId, askedAt: at })]), append(emptyChunks, message), at);
  const started = publish({ type: "turn.started", turn: number, askIds: Object.freeze([askId]) });
  return calling(data, open, at, decided, started, prompts);
};

const replied = (data: ConversationData, before: OpenTurn, event: LlmCompleted, decided: Decided): Step => {
  const { at, finishReason, reply, usage } = event;
  const { number, step, made, stage } = before;
  const charged = charge(data, before, usage, decided.cost);
  const message = messageFromReply(`${number}.${made}`, `${number}.${step}`, reply);
  const attempt = stage.type === "responding" ? stage.call.attempt : 1;
  const signal = publish(modelSignal({ turn: number, step, attempt, purpose: "answer" }, event, decided));
  const open = thawedTurn(before);
  open.messages = append(before.messages, message);
  open.usage = charged.ofTurn;
  if ((reply.toolCalls ?? []).length > 0) {
    const calls = Object.freeze(toolCallsOf(message).map((part) => roundCall(part, {}, null)));
    open.made++;
    open.toolCalls += calls.length;
    open.stage = Object.freeze({ type: "running", calls });
    const after = dataAfter(data, at, open);
    after.usage = charged.usage;
    const effects = [signal, ...calls.map((call, position) => callTool(after, open, call, position))];
    return { data: Object.freeze(after), arrow: "running", effects: Object.freeze(effects) };
  }
  open.answer = message.id;
  const thread = thawedThread(data.conversation);
  const turn = closedTurn(data.conversation, open, { status: "completed", finishReason }, at);
  thread.turns = append(thread.turns, turn);
  thread.head = number;
  const after = dataAfter(data, at, null, Object.freeze(thread));
  after.usage = charged.usage;
  const ended = publish({ type: "turn.ended", turn: number, status: "completed" });
  const effects = Object.freeze([signal, ended, publish(updated(after))]);
  return { data: Object.freeze(after), arrow: "completed", effects };
};

const answered = (
  data: ConversationData,
  before: OpenTurn,
  calls: readonly RoundCall[],
  event: ToolCompleted,
  decided: Decided,
  prompts: Prompts,
): Step | null => {
  const position = positionOut(data.threadId, calls, event.effectId);
  const call = calls[position];
  if (call === undefined) return null;
  const result = messageFromResult(call, "completed", event.content);
  const { number: turn, step } = before;
  const ended = publish({ type: "tool.ended", turn, step, position, name: call.name, outcome: "completed" });
  const open = thawedTurn(before);
  open.messages = withResults(open.messages, calls, position, result);
  return calling(data, open, event.at, decided, ended, prompts);
};

/** Makes the next call of a turn. */
const calling = (
  data: ConversationData,
  open: Fresh<OpenTurn>,
  at: number,
  decided: Decided,
  signal: Effect,
  prompts: Prompts,
): Step => {
  const cut = decided.cut ?? data.cut ?? nothingCut;
  const call = Object.freeze(callOf(data, open, 1, cut, null));
  open.step++;
  open.stage = Object.freeze({ type: "responding", call });
  const after = dataAfter(data, at, open);
  after.cut = cut;
  const effects = Object.freeze([signal, callLlm(after, open, call, prompts)]);
  return { data: Object.freeze(after), arrow: "responding", effects };
};

/** Returns the data after a step, for its caller to complete and freeze. */
const dataAfter = (
  data: ConversationData,
  at: number,
  open: OpenTurn | null,
  thread = data.conversation,
): Fresh<ConversationData> => {
  // Its members were frozen when they were made: to look at each again takes longer than to make them.
  const after = dataAround(data, thread, open === null ? null : Object.freeze(open));
  after.seq++;
  after.updatedAt = at;
  return after;
};
