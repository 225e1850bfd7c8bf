// Opens turns: the messages and tools that asks bring, the asks that join, and the model call that follows.
import { moveHead } from "./edit.ts";
import { withoutAppended } from "../../thread/thread.ts";
import { append, chunksOf, extended } from "../../thread/chunks.ts";
import { messageFromDraft } from "../../thread/make-message.ts";
import { type Fresh, frozen, type JsonObject } from "../../thread/plain-data.ts";
import type { Content, Message, MessageDraft } from "../../thread/message.ts";
import { noUsage } from "../../thread/usage.ts";
import type { Cut } from "../../prompt/cut.ts";
import { callLlm, deadlineTimer, waitTimer } from "./call.ts";
import type { ConversationData, OpenTurn, OutstandingCall, QueuedAsk, State } from "../protocol/data.ts";
import type { Decided } from "../protocol/entry.ts";
import type { Limits } from "../protocol/limits.ts";
import { type Plan, staying } from "./plan.ts";
import { type Effect, publish } from "../protocol/effect.ts";
import { closeTurn } from "./turn-closing.ts";
import type { Ask } from "../../thread/turn.ts";
import type { SeedDraft } from "../../thread/seed.ts";
import type { AskReceived, CallerTool, OfferedTool } from "../protocol/event.ts";
import { offeredTool } from "../protocol/tool.ts";

/** Opens a turn for asks: first the appended messages, then the content of the asks. */
export const openTurn = (data: ConversationData, asks: readonly QueuedAsk[], decided: Decided, at: number): Plan => {
  const open = openedTurn(data, asks, decided, at);
  const thread = data.conversation;
  const opened = { ...data, conversation: thread.appended.length === 0 ? thread : withoutAppended(thread), open };
  const next = nextCall(opened, open, decided, at);
  return {
    ...next,
    effects: (prompts) => [
      publish({
        type: "turn.started",
        turn: open.number,
        askIds: Object.freeze(open.asks.map(({ askId }) => askId)),
      }),
      ...(open.deadlineAt === null ? [] : [deadlineTimer(data.threadId, open.number, open.deadlineAt)]),
      ...next.effects(prompts),
    ],
  };
};

export const movedFor = (data: ConversationData, event: AskReceived): ConversationData =>
  event.from === undefined
    ? data
    : { ...data, conversation: moveHead(data.conversation, { at: event.at, to: event.from }) };

/** Makes the next model call of the open turn, or ends it if a limit forbids the call. */
export const nextCall = (data: ConversationData, open: OpenTurn, decided: Decided, at: number): Plan => {
  return attemptCall(data, { ...open, step: open.step + 1 }, 1, decided, at);
};

export const attemptCall = (
  data: ConversationData,
  open: OpenTurn,
  attempt: number,
  decided: Decided,
  at: number,
): Plan => {
  const { limit, unfit, compacting } = decided;
  // A step that is never made does not count.
  const unmade = attempt === 1 ? { ...open, step: open.step - 1 } : open;
  if (limit !== undefined) return closeTurn(data, unmade, { status: "failed", limit }, at);
  // The measurement led to this, so the next ask ignores it. Otherwise nothing would be sent that could correct it.
  if (unfit !== undefined) return closeTurn({ ...data, measured: null }, unmade, { status: "failed", unfit }, at);
  if (compacting !== undefined) {
    const stage = { type: "compacting" as const, attempt, dueAt: compacting.dueAt };
    const waiting: OpenTurn = { ...unmade, stage };
    const { threadId } = data;
    return {
      data: { ...data, open: waiting },
      arrow: "compacting",
      effects: () => [waitTimer(threadId, waiting, stage)],
    };
  }
  const cut = decided.cut ?? data.cut ?? nothingCut;
  const joined = withJoined(open);
  const call = callOf(data, joined, attempt, cut, decided.counted ?? null);
  const calling: OpenTurn = { ...joined, stage: { type: "responding", call } };
  const after = { ...data, cut, open: calling };
  return {
    data: after,
    arrow: "responding",
    effects: (prompts) => [...deliveries(open), callLlm(after, calling, call, prompts)],
  };
};

/** Returns an outstanding call of a turn, with what the configuration says at the moment. */
export const callOf = (
  { configuration, conversation }: ConversationData,
  open: OpenTurn,
  attempt: number,
  cut: Cut,
  counted: number | null,
): OutstandingCall => {
  const { idleTimeoutMs = null, tools } = configuration;
  const { system, pins } = conversation;
  const call: Fresh<OutstandingCall> = { attempt, cut, system, pins, idleTimeoutMs, counted, partial: null };
  if (tools !== undefined) call.tools = offeredWith(tools, open);
  return call;
};

/** Makes the call that waited for a summary, or ends the turn. */
export const goOnCompacted = (
  data: ConversationData,
  open: OpenTurn,
  attempt: number,
  decided: Decided,
  at: number,
): Plan => (attempt === 1 ? nextCall(data, open, decided, at) : attemptCall(data, open, attempt, decided, at));

const openedTurn = (data: ConversationData, asks: readonly QueuedAsk[], decided: Decided, at: number): OpenTurn => {
  const led = data.conversation.appended;
  const number = data.conversation.turns.length + 1;
  const drafts = asks.map(draftsOf);
  const said = drafts.flat().map((draft, index): Message => messageFromDraft(`${number}.${led.length + index}`, draft));
  const messages = said.reduce((all, message) => append(all, message), chunksOf(led));
  const brought = asks.map((ask, index) => askBringing(ask, drafts[index] ?? []));
  const open = freshTurn(data, brought, messages, at);
  return {
    ...open,
    metadata: metadataOf(asks),
    model: asks.reduce((model, ask) => ({ ...model, ...ask.model }), open.model),
    ...callerToolsOf([], asks),
    limits: asks.reduce<Limits>((limits, ask) => ({ ...limits, ...ask.limits }), {}),
    deadlineAt: decided.deadlineAt ?? null,
    ...outputOf(asks),
  };
};

/** Returns a turn that opens with these messages, and in which nothing else has happened. */
export const freshTurn = (
  { configuration, conversation: { head, turns }, model }: ConversationData,
  asks: readonly Ask[],
  messages: OpenTurn["messages"],
  at: number,
): Fresh<OpenTurn> => ({
  number: turns.length + 1,
  parent: head,
  asks,
  startedAt: at,
  messages,
  waiting: noMembers,
  joining: noMembers,
  made: messages.length,
  step: 0,
  toolCalls: 0,
  usage: noUsage,
  answer: null,
  metadata: null,
  model: Object.freeze({ ...configuration.model, ...model }),
  limits: noLimits,
  deadlineAt: null,
  stage: noCalls,
});

const noMembers: readonly never[] = Object.freeze([]);
const noLimits: Limits = Object.freeze({});
const noCalls = frozen<OpenTurn["stage"]>({ type: "running", calls: [] });

/** Returns the required output of asks: that of the last ask that has one. */
const outputOf = (asks: readonly QueuedAsk[]): Pick<OpenTurn, "output"> => {
  const output = asks.findLast((ask) => ask.output !== undefined)?.output;
  return output === undefined ? {} : { output };
};

/** Returns the metadata of asks whose input is whole messages. */
const metadataOf = (asks: readonly QueuedAsk[]): JsonObject | null =>
  asks.reduce<JsonObject | null>(
    (metadata, ask) =>
      ask.metadata === undefined || !isDrafts(ask.input) ? metadata : { ...metadata, ...ask.metadata },
    null,
  );

/** The entry of a thread's first call always has a cut. This default is for journals that lack it. */
export const nothingCut: Cut = Object.freeze({ policy: "keep-all@1", from: null, interrupted: "keep" });

export const draftsOf = (ask: Pick<QueuedAsk, "input" | "name" | "metadata">): readonly MessageDraft[] => {
  const { input } = ask;
  if (isDrafts(input)) return input;
  const draft: MessageDraft = { role: "user", content: input };
  return [
    {
      ...draft,
      ...(ask.name === undefined ? {} : { name: ask.name }),
      ...(ask.metadata === undefined ? {} : { metadata: ask.metadata }),
    },
  ];
};

/**
 * Returns the asks that wait and their messages, oldest first: those that join the open turn, and those in the queue. A
 * message gets another id when its turn takes it.
 */
export const waitingAsks = ({
  context: { open, queue },
}: State): readonly { readonly askId: string; readonly messages: readonly Message[] }[] =>
  [...(open?.joining ?? []), ...queue].map((ask) => ({
    askId: ask.askId,
    messages: draftsOf(ask).map((draft, index) => messageFromDraft(`${ask.askId}.${index}`, draft)),
  }));

/** Returns the turn's record of an ask that brings the messages of these drafts. */
const askBringing = ({ askId, at }: Pick<QueuedAsk, "askId" | "at">, drafts: readonly MessageDraft[]): Ask =>
  drafts.length === 1 ? { askId, askedAt: at } : { askId, askedAt: at, messages: drafts.length };

/** Returns whether the input of an ask is whole messages: otherwise it is the content of one. */
export const isDrafts = (input: Content | readonly MessageDraft[]): input is readonly MessageDraft[] =>
  typeof input !== "string" && input.every((item) => "role" in item && !("type" in item));

/**
 * Returns an error if a message would lose its tool calls because drafts of its kind cannot hold them. The text says
 * how to give them instead. Returns null if nothing would be lost.
 */
export const problemOfCalls = (drafts: readonly (MessageDraft | SeedDraft)[], mayCall: boolean): string | null => {
  for (const [index, draft] of drafts.entries()) {
    const which = drafts.length === 1 ? "the message" : `message ${index}`;
    const foreign = foreignCallsIn(draft);
    if (foreign !== undefined)
      return `${which} has "${foreign}", which is the chat format's name; read it by fromChatMessage, or give its calls as toolCalls of an assistant's message with their results`;
    if (!isGiven(draft, "toolCalls")) continue;
    if (draft.role !== "assistant")
      return `${which} is of role "${draft.role}" and has toolCalls; only an assistant calls tools`;
    if (!mayCall)
      return `${which} has toolCalls, which would be lost: calls stand in a thread with their results only; append the whole round, as "round.appended"`;
  }
  return null;
};

/**
 * Returns the name of the member that holds a message's tool calls in the chat format. This library would ignore that
 * member. Returns undefined if there is none.
 */
export const foreignCallsIn = (message: object): "tool_calls" | "function_call" | undefined =>
  foreignNames.find((name) => isGiven(message, name));

const foreignNames = ["tool_calls", "function_call"] as const;

/** Reads a member that the type does not declare, so its value may be anything. */
const isGiven = (draft: object, name: string): boolean => {
  const value: unknown = Reflect.get(draft, name);
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
};

/** Returns the callers' tools of a turn, if any. A later ask's tool replaces an earlier one of the same name. */
const callerToolsOf = (
  before: readonly CallerTool[],
  asks: readonly Pick<QueuedAsk, "tools">[],
): Pick<OpenTurn, "callerTools"> => {
  const added = asks.reduce((tools, ask) => over(tools, ask.tools ?? []), before);
  return added.length === 0 ? {} : { callerTools: added };
};

/** Returns whether a tool belongs to the callers. The journal decides, whatever the machine declares now. */
export const isCallers = ({ callerTools = [] }: Pick<OpenTurn, "callerTools">, name: string): boolean =>
  callerTools.some((tool) => tool.name === name);

/** Returns the name of a tool of one ask that is also the output tool of another: one turn cannot offer both. */
export const nameClashing = (asks: readonly Pick<QueuedAsk, "tools" | "output">[]): string | null => {
  const outputs = new Set(asks.flatMap(({ output }) => (output?.mode === "tool" ? [output.name] : [])));
  const tools = outputs.size === 0 ? [] : asks.flatMap((ask) => ask.tools ?? []);
  return tools.find(({ name }) => outputs.has(name))?.name ?? null;
};

/** Returns the tools that a call of the turn offers: those of the configuration, then those of the callers. */
export const offeredWith = (
  configured: readonly OfferedTool[],
  { callerTools = [] }: Pick<OpenTurn, "callerTools">,
): readonly OfferedTool[] => (callerTools.length === 0 ? configured : over(configured, callerTools.map(offeredTool)));

const over = <Tool extends { readonly name: string }>(
  before: readonly Tool[],
  after: readonly Tool[],
): readonly Tool[] =>
  after.length === 0 ? before : [...before.filter(({ name }) => !after.some((tool) => tool.name === name)), ...after];

/** Lets an ask join the open turn; it waits for the turn's next prompt. */
export const joinTurn = (data: ConversationData, open: OpenTurn, ask: QueuedAsk): Plan =>
  staying({ ...data, open: { ...open, joining: extended(open.joining, [ask]) } }, () => [
    publish({ type: "ask.joined", askId: ask.askId, turn: open.number }),
  ]);

/** Returns the turn with the content of the asks that joined it, as its next prompt shows it. */
export const withJoined = (open: OpenTurn): OpenTurn =>
  open.joining.length === 0 ? open : { ...open.joining.reduce(withAsk, open), joining: [] };

/** Returns the signals that a prompt shows the asks that joined a turn. */
const deliveries = (open: OpenTurn): readonly Effect[] =>
  open.joining.map(({ askId }) => publish({ type: "ask.delivered", askId, turn: open.number, step: open.step }));

const withAsk = (open: OpenTurn, ask: QueuedAsk): OpenTurn => {
  const drafts = draftsOf(ask);
  return {
    ...open,
    asks: [...open.asks, askBringing(ask, drafts)],
    messages: drafts.reduce(
      (messages, draft, index) => append(messages, messageFromDraft(`${open.number}.${open.made + index}`, draft)),
      open.messages,
    ),
    made: open.made + drafts.length,
    metadata: isDrafts(ask.input) && ask.metadata !== undefined ? { ...open.metadata, ...ask.metadata } : open.metadata,
    model: { ...open.model, ...ask.model },
    ...callerToolsOf(open.callerTools ?? [], [ask]),
    limits: { ...open.limits, ...ask.limits },
    ...(ask.output === undefined ? {} : { output: ask.output }),
  };
};
