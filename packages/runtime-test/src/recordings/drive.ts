import {
  type CallLlm,
  type CallTool,
  type Content,
  type ContentPart,
  type ConversationMachine,
  type Entry,
  type Event,
  type MessageDraft,
  messagesOf,
  outstanding,
  phaseOf,
  type SeedDraft,
  type SeedReply,
  type SeedResult,
  start,
  type State,
  toArray,
  transition,
} from "@colloquy/machine";
import { difference, type Given, inexpressible, type Script } from "./script.ts";

export interface Drive {
  readonly machine: ConversationMachine;
  state: State;
  readonly entries: Entry[];
  readonly calls: CallLlm[];
}

/** An event without its time: a replay has its own clock, one millisecond per entry. */
type Untimed<Timed> = Timed extends unknown ? Omit<Timed, "at"> : never;

export const drive = (machine: ConversationMachine, { threadId, system, seed }: Script): Drive => {
  const beginning = { ...(system === null ? {} : { system }), ...(seed.length === 0 ? {} : { seed }) };
  const { state, entry } = start(machine, { threadId, ...beginning, at: 0 });
  return { machine, state, entries: [entry], calls: [] };
};

/** Sends an event to the machine. @throws Obstacle at that step of the recording if the machine refuses it */
export const send = (driven: Drive, index: number | null, untimed: Untimed<Event>): void => {
  // The members of the union lack only `at`.
  const event = { ...untimed, at: driven.entries.length } as Event;
  const step = transition(driven.machine, driven.state, event);
  if (!step.handled)
    throw difference(index, `${event.type} was refused (${step.refusal.kind}): ${step.refusal.reason}`);
  driven.state = step.state;
  driven.entries.push(step.entry);
  for (const effect of step.effects) if (effect.type === "callLlm") driven.calls.push(effect);
};

/** Returns the outstanding model call. @throws Obstacle if it is not the only outstanding effect */
export const soleCall = ({ state }: Drive, index: number): CallLlm => {
  const out = outstanding(state);
  const [first] = out;
  if (first?.type === "callLlm" && out.length === 1) return first;
  const types = out.length === 0 ? "nothing" : out.map(({ type }) => type).join(", ");
  throw difference(index, `a model call should be out, and nothing else; out is ${types} (${phaseOf(state)})`);
};

/** Returns the outstanding tool calls, in the order of the reply that requested them. */
export const toolCallsOut = (driven: Drive): readonly CallTool[] =>
  outstanding(driven.state)
    .filter((effect) => effect.type === "callTool")
    .toSorted((left, right) => left.position - right.position);

/**
 * Sends the machine all messages between two model calls. If tools are outstanding, these are the results of their
 * round. Other messages are then sent before the last result, because the machine calls the model after it. Otherwise
 * an ask opens a turn, after the messages that the client inserted.
 */
export const feed = (driven: Drive, given: readonly Given[], callFollows: boolean): void => {
  const out = toolCallsOut(driven);
  if (out.length === 0) return feedGap(driven, given, callFollows);
  const pieces = piecesOf(given);
  const results = pieces.filter(isResult);
  const closing = results.length === out.length ? results.pop() : undefined;
  for (const result of results) giveResult(driven, result);
  for (const piece of pieces) if (!isResult(piece)) append(driven, piece);
  if (closing !== undefined) giveResult(driven, closing);
};

const feedGap = (driven: Drive, given: readonly Given[], callFollows: boolean): void => {
  const from = given.findLastIndex(({ asks }) => !asks) + 1;
  for (const piece of piecesOf(given.slice(0, from))) {
    if (isResult(piece)) throw difference(piece.index, "a tool result while no tool is out");
    append(driven, piece);
  }
  const asked = given.slice(from);
  if (asked.length > 0 || callFollows) ask(driven, asked);
};

/** A message, or a whole round that the client inserted: an assistant's message with calls, and their results. */
interface Piece extends Pick<Given, "index" | "name"> {
  readonly draft: SeedDraft;
  readonly results: SeedResult[];
}

type Result = Piece & { readonly draft: SeedResult };

const isResult = (piece: Piece): piece is Result => piece.draft.role === "tool";

/** Groups messages. The results after an inserted message with calls belong to its calls, as many as it has. */
const piecesOf = (given: readonly Given[]): readonly Piece[] => {
  const pieces: Piece[] = [];
  for (const each of given) {
    const draft = each.draft();
    const last = pieces.at(-1);
    if (draft.role === "tool" && last !== undefined && last.results.length < callsOf(last.draft).length)
      last.results.push(draft);
    else pieces.push({ ...each, draft, results: [] });
  }
  return pieces;
};

const callsOf = (draft: SeedDraft): NonNullable<SeedReply["toolCalls"]> =>
  isReply(draft) ? (draft.toolCalls ?? []) : [];

const isReply = (draft: SeedDraft): draft is SeedReply => draft.role === "assistant" && "toolCalls" in draft;

/** Sends an ask of one user message, or of several as a list. Without one, the model continues the thread. */
const ask = (driven: Drive, asked: readonly Given[]): void => {
  const drafts = asked.map(({ index, draft }) => appendable(index, draft()));
  const [only] = drafts;
  // Empty content as the input adds no message; a draft with empty content adds an empty one.
  const input =
    only === undefined || drafts.length > 1 || only.content.length === 0
      ? { input: drafts }
      : { input: only.content, ...(only.name === undefined ? {} : { name: only.name }) };
  send(driven, asked[0]?.index ?? null, { type: "ask.received", askId: `ask-${driven.entries.length}`, ...input });
};

const append = (driven: Drive, { index, draft, results }: Piece): void => {
  const calls = callsOf(draft);
  if (!isReply(draft) || calls.length === 0)
    return send(driven, index, { type: "message.appended", message: appendable(index, draft) });
  if (calls.length !== results.length || calls.some(({ id }, place) => id !== results[place]?.toolCallId))
    throw inexpressible(
      index,
      "an assistant message with calls that lacks a result for each, in the order of the calls",
    );
  const { role: _, metadata: __, ...reply } = draft;
  const answers = results.map(({ content }) => ({ outcome: "completed", content }) as const);
  send(driven, index, { type: "round.appended", reply, results: answers });
};

const giveResult = (driven: Drive, { index, name, draft: { toolCallId, content } }: Result): void => {
  const out = toolCallsOut(driven);
  const call = out.find(({ providerCallId }) => providerCallId === toolCallId);
  if (call === undefined) {
    const ids = JSON.stringify(out.map(({ providerCallId }) => providerCallId));
    throw difference(index, `no call waits for the result of ${JSON.stringify(toolCallId)}; out are ${ids}`);
  }
  if (name !== undefined && name !== call.name)
    throw difference(index, `the result is recorded of tool "${name}", and its call is of "${call.name}"`);
  send(driven, index, { type: "tool.completed", effectId: call.id, content });
};

/** Converts a draft to a message to append, which can have no reasoning and no refusal. */
const appendable = (index: number | null, draft: SeedDraft): MessageDraft => {
  if (draft.role === "tool") throw inexpressible(index, "a tool result can't be appended outside a round");
  if (draft.role !== "assistant") return draft;
  const { name, provider, content = "" } = draft;
  if (!isSayable(content))
    throw inexpressible(index, "reasoning or a refusal that the client put there itself, outside a round of calls");
  return {
    role: "assistant",
    content,
    ...(name === undefined ? {} : { name }),
    ...(provider === undefined ? {} : { provider }),
  };
};

const isSayable = (content: string | readonly { readonly type: string }[]): content is Content =>
  typeof content === "string" || content.every(isContent);

/** Returns whether a part may be in a message that is not the model's. */
const isContent = (part: { readonly type: string }): part is ContentPart =>
  part.type !== "reasoning" && part.type !== "refusal";

/** The amount of replayed work, counted at the machine. */
export interface Figures {
  readonly conversations: number;
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly userMessages: number;
  /** The number of messages at the end of the conversations, the system message included. */
  readonly messagesFinal: number;
  /** The number of messages in all prompts. */
  readonly messagesSent: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** The figures of an empty replay. */
export const noFigures: Figures = {
  conversations: 0,
  llmCalls: 0,
  toolCalls: 0,
  toolResults: 0,
  userMessages: 0,
  messagesFinal: 0,
  messagesSent: 0,
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
};

/** Adds the figures of two replays. */
export const addFigures = (left: Figures, right: Figures): Figures => {
  // `Object.keys` returns exactly the names of the figures.
  const names = Object.keys(noFigures) as (keyof Figures)[];
  return { ...noFigures, ...Object.fromEntries(names.map((name) => [name, left[name] + right[name]])) };
};

/** Counts a replay at the machine. `given` are the roles of the messages that the run did not produce. */
export const figuresOf = ({ state, entries, calls }: Drive, given: readonly string[]): Figures => {
  const { conversation, open, usage } = state.context;
  const messages = messagesOf(state);
  const count = (role: string): number =>
    messages.filter((message) => message.role === role).length - given.filter((each) => each === role).length;
  const lengths = new Map(calls.map(({ id, messages: { length } }) => [id, length]));
  return {
    conversations: 1,
    llmCalls: usage.total.calls,
    toolCalls: toArray(conversation.turns).reduce((sum, turn) => sum + turn.toolCalls, open?.toolCalls ?? 0),
    toolResults: count("tool"),
    userMessages: count("user"),
    messagesFinal: messages.length + (conversation.system === null ? 0 : 1),
    messagesSent: entries.reduce(
      (sum, { event }) => sum + (event.type === "llm.completed" ? (lengths.get(event.effectId) ?? 0) : 0),
      0,
    ),
    promptTokens: usage.total.inputTokens.sum,
    completionTokens: usage.total.outputTokens.sum,
    totalTokens: usage.total.totalTokens.sum,
  };
};
