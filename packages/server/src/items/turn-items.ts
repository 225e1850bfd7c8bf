import {
  type ContentPart,
  contentText,
  type Json,
  type JsonObject,
  type Message,
  type State,
  toArray,
  toolCallsOf,
  toolResultOf,
  turnNumbered,
} from "@colloquy/machine";
import { toResponseItems } from "@colloquy/interchange";
import { loadMessages } from "@colloquy/machine/storage";
import {
  functionCallItem,
  isJsonObject,
  type Item,
  itemId,
  mcpCallItem,
  messageItem,
  outputText,
  placeOfCall,
  reasoningItem,
  wireCallId,
} from "./item.ts";
import { cutBy } from "./finish-reason.ts";
import { piecesOf, resultsOf } from "./pieces.ts";

/** The source of a turn's items: a closed turn, the open one, or the seed as turn 0. */
export interface SaidTurn {
  readonly threadId: string;
  readonly number: number;
  readonly messages: readonly Message[];
  /** The id of the answer; null before there is one. */
  readonly answer: string | null;
  /** Whether the answer is incomplete: it ran out of tokens, or was filtered. */
  readonly isCut: boolean;
  /** The number of model calls that were started; 0 for an imported turn. */
  readonly steps: number;
  /** The names of the caller's tools, whose calls are `function_call` items. */
  readonly callerTools: ReadonlySet<string>;
}

/** The metadata key for the names of the caller's tools, which a closed turn keeps nowhere else. */
export const callerToolsKey = "callerTools";

/** Returns a turn of a thread by its number, or its seed for 0; null if there is none. */
export const saidIn = (state: State, number: number): SaidTurn | null => {
  const { threadId, conversation, open } = state.context;
  const none = turnOfMessages(threadId, number, conversation.seed);
  if (number === 0) return none;
  if (open?.number === number) {
    const { messages, answer, step, stage, metadata } = open;
    const results = stage.type === "running" ? stage.calls.flatMap(({ result }) => result ?? []) : [];
    const callerTools = new Set([...(open.callerTools ?? []).map(({ name }) => name), ...callerToolsIn(metadata)]);
    return { ...none, messages: [...toArray(messages), ...results], answer, steps: step, callerTools };
  }
  const found = turnNumbered(state, number);
  if (found === undefined) return null;
  const turn = loadMessages(found);
  const callerTools = new Set(callerToolsIn(turn.metadata ?? null));
  const { answer = null, steps, outcome } = turn;
  return { ...none, messages: toArray(turn.messages), answer, isCut: cutBy(outcome) !== null, steps, callerTools };
};

/** Makes a turn of messages that no model has answered here. */
export const turnOfMessages = (threadId: string, number: number, messages: readonly Message[]): SaidTurn => ({
  threadId,
  number,
  messages,
  answer: null,
  isCut: false,
  steps: 0,
  callerTools: new Set(),
});

/** Returns the items of a turn in order: messages, reasoning, calls and their results. */
export const itemsOfTurn = (turn: SaidTurn): readonly Item[] => {
  const { messages } = turn;
  const results = resultsOf(messages);
  let step = 0;
  const items: Item[] = [];
  for (const [index, message] of messages.entries()) {
    const result = toolResultOf(message);
    if (result !== undefined) {
      if (isCallers(turn, result.name)) items.push(outputItem(turn.threadId, result.callId, result.content));
      continue;
    }
    const isReply = message.role === "assistant" && message.synthesised !== true && turn.steps > 0;
    const at = isReply ? stepOf(message, turn, step) : 0;
    step = Math.max(step, at);
    items.push(
      ...(message.role === "assistant"
        ? replyItems(turn, message, at > 0 ? { step: at, index: 0 } : { step: 0, index })
        : [inputItem(turn, message, index)]),
    );
    for (const call of toolCallsOf(message)) {
      const place = placeOfCall(turn.threadId, call.callId);
      const came = results.get(call.callId);
      if (isCallers(turn, call.name)) items.push(functionCallItem(place, call, "completed"));
      else if (came !== undefined)
        items.push(mcpCallItem(place, call, { text: contentText(came.content), failed: came.outcome !== "completed" }));
    }
  }
  return items;
};

export const inputItemsOf = (turn: SaidTurn): readonly Item[] =>
  itemsOfTurn(turn).filter(({ type, role }) => type === "message" && role !== "assistant");

export const outputItem = (threadId: string, callId: string, content: readonly ContentPart[]): Item => ({
  type: "function_call_output",
  id: itemId("fco", placeOfCall(threadId, callId)),
  call_id: wireCallId(threadId, callId),
  output: contentText(content),
  status: "completed",
});

const callerToolsIn = (metadata: JsonObject | null): readonly string[] => {
  const names = metadata?.[callerToolsKey];
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
};

/** Checks whether a call was the caller's. The calls of imported turns were all run elsewhere. */
const isCallers = ({ steps, callerTools }: SaidTurn, name: string): boolean => steps === 0 || callerTools.has(name);

/** Returns the step of a reply, known by its calls or as the answer, as in the host's replay. */
const stepOf = (message: Message, { answer, steps, number }: SaidTurn, last: number): number => {
  if (message.id === answer) return steps;
  const [call] = toolCallsOf(message);
  if (call === undefined) return last + 1 <= steps ? last + 1 : 0;
  const { turn, step } = placeOfCall("", call.callId);
  return turn === number ? step : 0;
};

const replyItems = (
  { threadId, number, answer, isCut }: SaidTurn,
  { id, parts, incomplete }: Message,
  { step, index: first }: { readonly step: number; readonly index: number },
): readonly Item[] => {
  const isBroken = incomplete === true || (isCut && id === answer);
  const counted = { msg: first, rs: first };
  return piecesOf(parts).map(({ kind, text }, index, { length }) => {
    const status = isBroken && index === length - 1 ? "incomplete" : "completed";
    const place = { threadId, turn: number, step };
    if (kind === "reasoning") return reasoningItem({ ...place, index: counted.rs++ }, text, status);
    const content = kind === "text" ? outputText(text) : { type: "refusal", refusal: text };
    return messageItem({ ...place, index: counted.msg++ }, [content], status);
  });
};

const inputItem = ({ threadId, number }: SaidTurn, message: Message, index: number): Item => {
  const [written] = toResponseItems([message]).value;
  const content = written?.["content"] ?? "";
  return {
    ...written,
    type: written?.type ?? "message",
    id: itemId("msg", { threadId, turn: number, step: 0, index }),
    status: "completed",
    content: typeof content === "string" ? [{ type: "input_text", text: content }] : wholeParts(content),
  };
};

/** Adds the `detail` that the wire format requires of each image. */
const wholeParts = (content: Json): Json =>
  Array.isArray(content)
    ? content.map((part: Json) =>
        isJsonObject(part) && part["type"] === "input_image" ? { detail: "auto", ...part } : part,
      )
    : content;
