// The straight way is a fast path for the most common events: a text opens a turn, a model replies, a tool answers.
import { append, emptyChunks, replaced, toArray } from "../../thread/chunks.ts";
import { messageFromDraft, messageFromReply, messageFromResult } from "../../thread/make-message.ts";
import { type Message, toolCallsOf } from "../../thread/message.ts";
import { frozen } from "../../thread/plain-data.ts";
import { placeAfter, type Thread } from "../../thread/thread.ts";
import type { Turn } from "../../thread/turn.ts";
import { noUsage, usageMonoid, usageOfCall } from "../../thread/usage.ts";
import type { Prompts } from "../../prompt/prompts.ts";
import type { ConversationData, OpenTurn, RoundCall } from "../protocol/data.ts";
import { type Effect, publish } from "../protocol/effect.ts";
import { allAnswered, positionOut, stepId } from "../protocol/effect-id.ts";
import type { Decided } from "../protocol/entry.ts";
import type { AskReceived, Event, LlmCompleted, ToolCompleted } from "../protocol/event.ts";
import { dataAround, thawedThread, thawedTurn } from "../protocol/thaw.ts";
import { callLlm, callTool } from "./call.ts";
import type { Arrow } from "./plan.ts";
import { measuredBy } from "./reply.ts";
import { updated } from "./turn-closing.ts";
import { nothingCut } from "./turn-opening.ts";
import { modelSignal } from "./update.ts";

/** The outcome of an event, frozen. */
export interface StraightStep {
  readonly data: ConversationData;
  readonly arrow: Arrow;
  readonly effects: readonly Effect[];
}

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
      return open !== null && open.stage.type === "responding" && isPlain(open);
    case "tool.completed":
      return open !== null && open.stage.type === "running" && isPlain(open);
    default:
      return false;
  }
};

const isPlain = ({ callerTools, deadlineAt, joining, output, waiting }: OpenTurn): boolean =>
  output === undefined && callerTools === undefined && deadlineAt === null && joining.length + waiting.length === 0;

/**
 * Returns the result of `update` and its effects for an event that may take the fast path, in a third of the time. It
 * builds each object once, and does not look for features that such a thread does not use. Returns null if the decision
 * asks for more than the next call. Law `goesStraight` compares the two paths.
 */
export const straightStep = (
  data: ConversationData,
  event: AskReceived | LlmCompleted | ToolCompleted,
  decided: Decided,
  prompts: Prompts,
): StraightStep | null => {
  for (const name in decided) if (name !== "cut") return null;
  frozen(decided);
  switch (event.type) {
    case "ask.received":
      return opened(data, event, decided, prompts);
    case "llm.completed":
      return decided.cut === undefined && data.open !== null ? replied(data, data.open, event) : null;
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
): StraightStep | null => {
  if (typeof input !== "string") return null;
  const thread = data.conversation;
  const number = thread.turns.length + 1;
  const open: OpenTurn = {
    number,
    parent: thread.head,
    asks: frozen([{ askId, askedAt: at }]),
    startedAt: at,
    messages: append(emptyChunks, messageFromDraft(`${number}.0`, { role: "user", content: input })),
    waiting: nothing,
    joining: nothing,
    made: 1,
    step: 0,
    toolCalls: 0,
    usage: noUsage,
    answer: null,
    metadata: null,
    model: Object.freeze({ ...data.configuration.model, ...data.model }),
    limits: noLimits,
    deadlineAt: null,
    stage: noCalls,
  };
  const started = publish({ type: "turn.started", turn: number, askIds: Object.freeze([askId]) });
  return calling(data, open, at, decided, [started], prompts);
};

const nothing: readonly never[] = Object.freeze([]);

const noLimits: OpenTurn["limits"] = Object.freeze({});

const noCalls: OpenTurn["stage"] = frozen({ type: "running", calls: [] });

const replied = (data: ConversationData, open: OpenTurn, event: LlmCompleted): StraightStep => {
  const { number, step, made } = open;
  const attempt = open.stage.type === "responding" ? open.stage.call.attempt : 1;
  const used = usageOfCall(event.usage ?? null, null);
  const { total, betweenTurns } = data.usage;
  const charged = {
    usage: Object.freeze({ total: usageMonoid.concat(total, used), betweenTurns }),
    measured: frozen(measuredBy(data, event)),
  };
  const message = messageFromReply(`${number}.${made}`, stepId(number, step), event.reply);
  const fresh: OpenTurn = {
    ...thawedTurn(open),
    messages: append(open.messages, message),
    usage: usageMonoid.concat(open.usage, used),
  };
  const signal = publish(modelSignal({ turn: number, step, attempt, purpose: "answer" }, event, {}));
  const asked = event.reply.toolCalls === undefined ? nothing : toolCallsOf(message);
  if (asked.length === 0) return closed(data, fresh, message, event, charged, signal);
  const calls = Object.freeze(
    asked.map(({ callId, providerCallId, name, arguments: written }): RoundCall =>
      Object.freeze({
        callId,
        providerCallId,
        name,
        arguments: written,
        started: false,
        attempt: 1,
        approval: null,
        result: null,
      }),
    ),
  );
  const running: OpenTurn = Object.freeze({
    ...fresh,
    made: made + 1,
    toolCalls: open.toolCalls + calls.length,
    stage: Object.freeze({ type: "running", calls }),
  });
  const after = next(data, event.at, data.conversation, running, charged);
  const effects = [signal, ...calls.map((call, position) => callTool(after, running, call, position))];
  return { data: after, arrow: "running", effects: Object.freeze(effects) };
};

const closed = (
  data: ConversationData,
  open: OpenTurn,
  answer: Message,
  { at, finishReason }: LlmCompleted,
  charged: Partial<ConversationData>,
  signal: Effect,
): StraightStep => {
  const { number, parent, asks, messages, usage, step, toolCalls, startedAt, metadata } = open;
  const turn: Turn = Object.freeze({
    number,
    parent,
    asks,
    outcome: Object.freeze({ status: "completed", finishReason }),
    messages,
    usage,
    steps: step,
    toolCalls,
    startedAt,
    endedAt: at,
    place: Object.freeze(placeAfter(data.conversation, parent, number, toArray(messages))),
    answer: answer.id,
    ...(metadata === null ? {} : { metadata }),
  });
  const thread: Thread = Object.freeze({
    ...thawedThread(data.conversation),
    turns: append(data.conversation.turns, turn),
    head: number,
  });
  const after = next(data, at, thread, null, charged);
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
): StraightStep | null => {
  const position = positionOut(data.threadId, calls, event.effectId);
  const call = calls[position];
  if (call === undefined) return null;
  const all = replaced(calls, position, { ...call, result: messageFromResult(call, "completed", event.content) });
  if (!allAnswered(all)) return null;
  const messages = all.reduce((said, { result }) => (result === null ? said : append(said, result)), open.messages);
  const { number: turn, step } = open;
  const ended = publish({ type: "tool.ended", turn, step, position, name: call.name, outcome: "completed" });
  return calling(data, { ...thawedTurn(open), messages }, event.at, decided, [ended], prompts);
};

/** Calls the model for the next step of a turn. */
const calling = (
  data: ConversationData,
  open: OpenTurn,
  at: number,
  decided: Decided,
  before: readonly Effect[],
  prompts: Prompts,
): StraightStep => {
  const cut = decided.cut ?? data.cut ?? nothingCut;
  const { idleTimeoutMs = null, tools } = data.configuration;
  const { system, pins } = data.conversation;
  const known = { attempt: 1, cut, system, pins, idleTimeoutMs, counted: null, partial: null };
  const call = Object.freeze(tools === undefined ? known : { ...known, tools });
  const stage = Object.freeze({ type: "responding", call } as const);
  const asking: OpenTurn = Object.freeze({ ...open, step: open.step + 1, stage });
  const after = next(data, at, data.conversation, asking, { cut });
  const effects = [...before, callLlm(after, asking, call, prompts)];
  return { data: after, arrow: "responding", effects: Object.freeze(effects) };
};

const next = (
  data: ConversationData,
  at: number,
  thread: Thread,
  open: OpenTurn | null,
  changed: Partial<ConversationData>,
): ConversationData =>
  Object.freeze({ ...dataAround(data, thread, open), seq: data.seq + 1, updatedAt: at, ...changed });
