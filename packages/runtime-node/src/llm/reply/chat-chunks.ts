import type { LlmDelta } from "@colloquy/host";
import type { Json, JsonObject } from "@colloquy/machine";
import { isObject, isText, listOf, textOf } from "./loose-json.ts";
import { mergedDetails } from "./reasoning-details.ts";
import { toolCallPieces, type ToolCallPieces } from "./tool-call-pieces.ts";

/** What a chat completion says, whether it came in one piece or in many. In the words of the wire. */
export interface DecodedChat {
  /** All choices, in the order in which they began. The answer is the one of index 0. */
  readonly choices: readonly DecodedChoice[];
  /** The last report; null when there was none. */
  readonly usage: JsonObject | null;
  readonly model?: string;
  readonly responseId?: string;
  /** What the server reported in place of an answer, or in the middle of one. */
  readonly error?: Json;
}

export interface DecodedChoice {
  readonly index: number;
  readonly finish_reason: string | null;
  /** Role, content, refusal, tool calls and whatever else the server says of the reply. */
  readonly message: JsonObject;
}

/** Puts `chat.completion.chunk` objects together. */
export interface ChatChunks {
  /** Takes the next chunk. Anything that is no object is passed over. */
  readonly add: (chunk: unknown) => void;
  /** All that came so far. */
  readonly decoded: () => DecodedChat;
  /** Whether the answer said why it ended. */
  readonly isFinished: () => boolean;
}

/**
 * Collects the chunks of a stream and reports the pieces of the answer (the choice of index 0) as they come.
 * Takes what servers send: no role, no choices, usage on several chunks (the last one counts), content in
 * parts, an error in the middle. Checked by hand, field by field: this runs once a token.
 */
export const chatChunks = (onDelta?: (delta: LlmDelta) => void): ChatChunks => {
  const choices: GrowingChoice[] = [];
  const byIndex = new Map<number, GrowingChoice>();
  let usage: JsonObject | null = null;
  let model: string | undefined;
  let responseId: string | undefined;
  let error: Json | undefined;

  const choiceOf = (index: number): GrowingChoice => {
    const begun = byIndex.get(index);
    if (begun !== undefined) return begun;
    const choice: GrowingChoice = {
      index,
      finishReason: null,
      fields: {},
      lists: new Map(),
      content: null,
      toolCalls: toolCallPieces(),
    };
    choices.push(choice);
    byIndex.set(index, choice);
    return choice;
  };

  return {
    add: (chunk) => {
      if (!isObject(chunk)) return;
      if (isObject(chunk["usage"])) usage = chunk["usage"];
      if (isText(chunk["model"])) model ??= chunk["model"];
      if (isText(chunk["id"])) responseId ??= chunk["id"];
      if (isError(chunk["error"])) error ??= chunk["error"];
      else if (isBareError(chunk)) error ??= chunk;
      for (const wire of listOf(chunk["choices"])) {
        if (!isObject(wire)) continue;
        const index = typeof wire["index"] === "number" ? wire["index"] : 0;
        const choice = choiceOf(index);
        addFinish(choice, wire["finish_reason"]);
        if (isError(wire["error"])) error ??= wire["error"];
        // A server that does not stream puts the whole message where the pieces would be.
        const delta = wire["delta"] ?? wire["message"];
        if (isObject(delta)) addDelta(choice, delta, index === 0 ? onDelta : undefined);
      }
    },
    decoded: () => ({
      choices: choices.map(decodedChoice),
      usage,
      ...(model === undefined ? {} : { model }),
      ...(responseId === undefined ? {} : { responseId }),
      ...(error === undefined ? {} : { error }),
    }),
    // Some servers give an empty reason with each chunk.
    isFinished: () => Boolean((byIndex.get(0) ?? choices[0])?.finishReason),
  };
};

interface GrowingChoice {
  readonly index: number;
  finishReason: string | null;
  content: string | null | JsonObject[];
  readonly toolCalls: ToolCallPieces;
  /** Everything else of the message, as it grows. */
  readonly fields: { [field: string]: Json };
  /** Of everything else, the lists. */
  readonly lists: Map<string, Json[]>;
}

/** An empty reason says nothing once there was another, and stands when there is none. */
const addFinish = (choice: GrowingChoice, reason: Json | undefined): void => {
  if (typeof reason === "string" && (reason !== "" || choice.finishReason === null)) choice.finishReason = reason;
};

const addDelta = (choice: GrowingChoice, delta: JsonObject, onDelta?: (delta: LlmDelta) => void): void => {
  let reasoning: string | undefined;
  for (const field in delta) {
    const value = delta[field];
    switch (field) {
      case "content":
        addContent(choice, value, onDelta);
        break;
      case "tool_calls":
        addToolCalls(choice, listOf(value), onDelta);
        break;
      case "reasoning":
      case "reasoning_content":
      case "thinking":
        if (typeof value !== "string") break;
        choice.fields[field] = textOf(choice.fields[field]) + value;
        // The same piece may come under two names.
        reasoning ??= value;
        break;
      case "reasoning_details":
        choice.fields[field] = mergedDetails(listOf(choice.fields[field]), listOf(value));
        break;
      case "refusal":
        addRefusal(choice, value, onDelta);
        break;
      case "function_call":
      case "audio":
        if (isObject(value)) choice.fields[field] = joined(choice.fields[field], value);
        break;
      default:
        addOther(choice, field, value);
    }
  }
  reasoning ??= detailsText(delta["reasoning_details"]);
  if (reasoning) onDelta?.({ type: "reasoning", text: reasoning });
};

/** A string joins the text; once parts came, everything is a part. */
const addContent = (choice: GrowingChoice, content: Json | undefined, onDelta?: (delta: LlmDelta) => void): void => {
  if (typeof content === "string") {
    if (Array.isArray(choice.content)) choice.content.push({ type: "text", text: content });
    else choice.content = (choice.content ?? "") + content;
    if (content !== "") onDelta?.({ type: "text", text: content });
    return;
  }
  if (!Array.isArray(content)) return;
  const before: JsonObject[] = choice.content ? [{ type: "text", text: choice.content }] : [];
  if (!Array.isArray(choice.content)) choice.content = before;
  for (const part of listOf(content)) {
    if (!isObject(part)) continue;
    choice.content.push(part);
    const thinking = part["type"] === "thinking" ? joinedTexts(part["thinking"]) : "";
    if (thinking !== "") onDelta?.({ type: "reasoning", text: thinking });
    if (isText(part["text"]) && part["type"] === "text") onDelta?.({ type: "text", text: part["text"] });
  }
};

const addToolCalls = (choice: GrowingChoice, pieces: readonly Json[], onDelta?: (delta: LlmDelta) => void): void => {
  pieces.forEach((piece, place) => {
    if (!isObject(piece)) return;
    const { position, ...added } = choice.toolCalls.add(piece, pieces.length === 1 ? null : place);
    onDelta?.({ type: "toolCall", index: position, ...added });
  });
};

const addRefusal = (choice: GrowingChoice, refusal: Json | undefined, onDelta?: (delta: LlmDelta) => void): void => {
  const before = choice.fields["refusal"] ?? null;
  if (typeof refusal !== "string") {
    choice.fields["refusal"] = before;
    return;
  }
  choice.fields["refusal"] = textOf(before) + refusal;
  if (refusal !== "") onDelta?.({ type: "refusal", text: refusal });
};

/** Lists grow, everything else is as it was said last. */
const addOther = (choice: GrowingChoice, field: string, value: Json | undefined): void => {
  if (field === "role" || value === undefined || value === null) return;
  const list = choice.lists.get(field);
  if (!Array.isArray(value)) choice.fields[field] = value;
  else if (list === undefined) choice.lists.set(field, [...listOf(value)]);
  else for (const item of listOf(value)) list.push(item);
};

const decodedChoice = (choice: GrowingChoice): DecodedChoice => {
  const calls = choice.toolCalls.calls();
  return {
    index: choice.index,
    finish_reason: choice.finishReason,
    message: {
      role: "assistant",
      content: choice.content,
      ...choice.fields,
      ...Object.fromEntries(choice.lists),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  };
};

/** An object that comes in pieces: its texts grow, an id or a name stays what it first was, others are as they were said last. */
const joined = (before: Json | undefined, added: JsonObject): JsonObject => {
  const object: { [member: string]: Json | undefined } = isObject(before) ? { ...before } : {};
  for (const [member, value] of Object.entries(added)) {
    const said = object[member];
    if (setOnce.has(member)) object[member] = isText(said) ? said : (value ?? said);
    else if (typeof value === "string" && typeof said === "string") object[member] = said + value;
    else object[member] = value ?? said;
  }
  return object;
};

const setOnce: ReadonlySet<string> = new Set(["id", "name"]);

const detailsText = (details: Json | undefined): string =>
  details === undefined
    ? ""
    : listOf(details)
        .map((detail) => (isObject(detail) ? textOf(detail["text"] ?? detail["summary"]) : ""))
        .join("");

const joinedTexts = (thinking: Json | undefined): string =>
  typeof thinking === "string"
    ? thinking
    : listOf(thinking)
        .map((part) => (isObject(part) ? textOf(part["text"]) : ""))
        .join("");

/** What is not empty under `error` is one. */
const isError = (value: Json | undefined): value is Json =>
  isObject(value) ? Object.keys(value).length > 0 : isText(value) || listOf(value).length > 0;

/** Some servers send an error in the middle without a wrapper: a chunk that answers nothing, and says what went wrong. */
const isBareError = (chunk: JsonObject): boolean => {
  if ("choices" in chunk || "usage" in chunk) return false;
  if (chunk["object"] === "error" || isError(chunk["detail"])) return true;
  return isText(chunk["message"]) && ("code" in chunk || "type" in chunk);
};
