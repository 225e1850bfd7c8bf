import type { LlmDelta } from "@colloquy/host";
import { type Json, type JsonObject, saysCut } from "@colloquy/machine";
import { isBareError, isError } from "../failure/response-facts.ts";
import { defined, isList, isObject, isText, listOf, objectsIn, textOf } from "../json/loose-json.ts";
import { GrowingText, oneObject } from "./growing-text.ts";
import { indexOf, ToolCallPieces } from "./tool-call-pieces.ts";
import { laterReport, reportIn } from "./usage.ts";

/** A chat completion, from a stream or in one piece. Its members have the names of the wire. */
export interface DecodedChat {
  /** All choices, in the order in which they began. The answer is the one of index 0. */
  readonly choices: readonly DecodedChoice[];
  /** The last report that isn't zeros; null if there was none. */
  readonly usage: JsonObject | null;
  readonly model?: string;
  readonly responseId?: string;
  /** The error that the server reported in place of an answer, or in the middle of one. */
  readonly error?: Json;
}

export interface DecodedChoice {
  readonly index: number;
  readonly finish_reason: string | null;
  /** Role, content, refusal, tool calls and all other fields of the reply. */
  readonly message: JsonObject;
}

/** Puts `chat.completion.chunk` objects together. */
export interface ChatChunks {
  /** Takes the next chunk. Skips anything that is not an object. */
  readonly add: (chunk: unknown) => void;
  /** Ends the stream, and shows what was held back. */
  readonly end: () => void;
  /** Returns all that came so far. */
  readonly decoded: () => DecodedChat;
  /** Whether the answer said why it ended. */
  readonly isFinished: () => boolean;
}

/**
 * Collects the chunks of a stream, and reports the pieces of the answer (the choice of index 0) as they come. A whole body is
 * taken as one chunk. Takes all that servers send: no role, no choices, usage in several places, content in parts, an error in
 * the middle. Checks field by field, without a schema, because it runs for each token.
 *
 * @param isOne whether all choices are one reply. A server that was asked for one reply may put its text in one choice and its
 *   calls in another.
 */
export const chatChunks = (onDelta: (delta: LlmDelta) => void = () => {}, isOne = false): ChatChunks => {
  /** By index, in the order in which they began. */
  const choices = new Map<number, GrowingChoice>();
  const calls = new ToolCallPieces();
  let usage: JsonObject | null = null;
  let model: string | undefined;
  let responseId: string | undefined;
  let error: Json | undefined;

  const showOther = (delta: LlmDelta): void => {
    if (delta.type === "toolCall" || !saysText(choices.get(0))) onDelta(delta);
  };
  const choiceOf = (index: number): GrowingChoice => {
    const choice = choices.get(index) ?? {
      index,
      show: index === 0 ? onDelta : isOne ? showOther : () => {},
      finishReason: null,
      fields: {},
      text: null,
      parts: null,
      thoughts: new Map(),
      toolCalls: isOne ? calls : new ToolCallPieces(),
    };
    choices.set(index, choice);
    return choice;
  };
  const addChoice = (wire: JsonObject): void => {
    const choice = choiceOf(indexOf(wire) ?? 0);
    if (isError(wire["error"])) error ??= wire["error"];
    const delta = deltaOf(wire);
    for (const report of [reportIn(wire), delta["usage"]]) if (isObject(report)) usage = laterReport(usage, report);
    const reason = reasonOf(wire, delta);
    const isRepeat = delta === wire["message"] || (reason && repeatsText(delta, choice));
    addDelta(choice, isRepeat ? restOf(delta, choice) : delta);
    if (typeof reason === "string") choice.finishReason = laterReason(choice.finishReason, reason);
    if (choice.finishReason) showRest(choice);
  };

  return {
    add: (chunk) => {
      if (!isObject(chunk)) return;
      usage = laterReport(usage, reportIn(chunk));
      if (isText(chunk["model"])) model ??= chunk["model"];
      if (isText(chunk["id"])) responseId ??= chunk["id"];
      if (isError(chunk["error"])) error ??= chunk["error"];
      else if (isBareError(chunk)) error ??= chunk;
      objectsIn(chunk["choices"], ["delta", "message", "finish_reason"], () => "index").forEach(addChoice);
    },
    end: () => choices.forEach(showRest),
    decoded: () => {
      const all = [...choices.values()].map(decodedChoice);
      return { choices: isOne ? oneChoice(all) : all, usage, ...defined({ model, responseId, error }) };
    },
    // Some servers give an empty reason with each chunk.
    isFinished: () => {
      const all = [...choices.values()];
      const last = isOne ? all : [choices.get(0) ?? all[0]];
      return last.length > 0 && last.every((choice) => choice?.finishReason);
    },
  };
};

interface GrowingChoice {
  readonly index: number;
  readonly show: (delta: LlmDelta) => void;
  finishReason: string | null;
  /** The content, until a list of parts comes. */
  text: GrowingText | null;
  parts: JsonObject[] | null;
  /** The reasoning, by the names under which it comes. */
  readonly thoughts: Map<string, GrowingText>;
  readonly toolCalls: ToolCallPieces;
  /** Everything else of the message, as it grows. */
  readonly fields: { [field: string]: Json };
}

/**
 * Returns the piece of a choice. Some servers send the whole message instead of pieces, or after them; some put a text or the
 * calls beside it.
 */
const deltaOf = ({ delta, message, text, tool_calls: calls }: JsonObject): JsonObject => {
  const sent = delta ?? message ?? text;
  const piece = isObject(sent) ? sent : { content: sent };
  return calls === undefined || "tool_calls" in piece ? piece : { ...piece, tool_calls: calls };
};

/** Returns whether the last chunk repeats the whole text. If only one piece came before, the model may have meant it twice. */
const repeatsText = (delta: JsonObject, { text }: GrowingChoice): boolean =>
  text !== null && text.pieces > 1 && delta["content"] === text.text;

const contentIn = ({ parts, text }: GrowingChoice): string | JsonObject[] | null => parts ?? text?.text ?? null;

const saysText = (choice: GrowingChoice | undefined): boolean => choice !== undefined && Boolean(contentIn(choice));

/**
 * Returns why a choice ended. Some servers put the reason into the piece. DashScope writes "null" before the end. OpenRouter
 * sends the provider's reason beside its own; if only the provider's says that the reply was cut, that one counts.
 */
const reasonOf = (choice: JsonObject, delta: JsonObject): Json | undefined => {
  const { finish_reason: reason = delta["finish_reason"], native_finish_reason: native } = choice;
  if (reason === "null") return "";
  return isText(reason) && !saysCut(reason) && isText(native) && saysCut(native) ? native : reason;
};

/** Returns the parts of a whole message that did not come in pieces before. */
const restOf = (message: JsonObject, choice: GrowingChoice): JsonObject => {
  const before: JsonObject = { ...choice.fields, content: contentIn(choice) };
  const rest = Object.entries(message).map(([field, value]): [string, Json | undefined] => {
    const came = textOf(before[field]);
    return [field, typeof value === "string" && value.startsWith(came) ? value.slice(came.length) : value];
  });
  return Object.fromEntries(rest);
};

/**
 * Returns the reason that counts of two. An empty reason never replaces an earlier one. Any other replaces `stop`, because the
 * choice with the text may stop while another has calls. A reason that says that the reply was cut replaces every other.
 */
const laterReason = (before: string | null, reason: string): string =>
  before === null || (reason !== "" && (before === "" || before === "stop" || saysCut(reason))) ? reason : before;

/**
 * Joins several choices to one reply. They share one list of calls. Every other field is that of the first choice that has it,
 * because two texts are alternatives.
 */
const oneChoice = (choices: readonly DecodedChoice[]): readonly DecodedChoice[] => {
  if (choices.length < 2) return choices;
  const ordered = choices.toSorted((left, right) => left.index - right.index);
  const members = ordered.flatMap(({ message }) =>
    Object.entries(message).filter(
      ([, value]) => value !== null && !(typeof value === "string" && value.trim() === ""),
    ),
  );
  const reasons = ordered.flatMap(({ finish_reason: reason }) => reason ?? []);
  return [
    {
      index: ordered[0]?.index ?? 0,
      finish_reason: reasons.reduce<string | null>(laterReason, null),
      message: { content: null, ...Object.fromEntries(members.toReversed()) },
    },
  ];
};

const addDelta = (choice: GrowingChoice, delta: JsonObject): void => {
  const { fields } = choice;
  let reasoning: string | undefined;
  for (const field in delta) {
    const value = delta[field];
    switch (field) {
      case "role":
        break;
      case "content":
        addContent(choice, value);
        break;
      case "tool_calls":
        addToolCalls(choice, value);
        break;
      case "reasoning":
      case "reasoning_content":
      case "thinking":
        if (typeof value !== "string") break;
        // The same piece may come under two names.
        reasoning = addThought(choice, field, value, reasoning);
        break;
      case "reasoning_details":
        fields[field] = joinedDetails(listOf(fields[field]), listOf(value));
        break;
      case "refusal":
        fields[field] = typeof value === "string" ? textOf(fields[field]) + value : (fields[field] ?? null);
        if (isText(value)) choice.show({ type: "refusal", text: value });
        break;
      case "function_call":
      case "audio":
        if (isObject(value)) fields[field] = joined(fields[field], value);
        break;
      default: {
        // Lists grow; a later value replaces any other.
        const before = fields[field];
        if (value === undefined || value === null) break;
        // A list among the fields was made here.
        if (isList(before) && isList(value)) for (const item of value) (before as Json[]).push(item);
        else fields[field] = isList(value) ? [...value] : value;
      }
    }
  }
  reasoning ??= thoughtOf(delta["reasoning_details"]);
  if (reasoning) choice.show({ type: "reasoning", text: reasoning });
};

/** Adds a piece of reasoning. Returns the text to show, which is that of another name if one came before. */
const addThought = ({ thoughts, fields }: GrowingChoice, name: string, piece: string, shown?: string): string => {
  const thought = thoughts.get(name) ?? new GrowingText();
  thoughts.set(name, thought);
  const added = thought.add(piece);
  fields[name] = thought.text;
  return shown ?? added;
};

/** Adds content to a choice: a string to its text, or as another part if parts came before. */
const addContent = (choice: GrowingChoice, wire: Json | undefined): void => {
  const content = contentOf(wire);
  if (content === null) return;
  if (content.length > 0) showThoughts(choice);
  if (typeof content === "string" && choice.parts === null) {
    choice.text ??= new GrowingText();
    return showText(choice, choice.text.add(content));
  }
  if (choice.parts === null) {
    showText(choice, choice.text?.rest() ?? "");
    choice.parts = choice.text?.text ? [{ type: "text", text: choice.text.text }] : [];
  }
  if (typeof content === "string") {
    choice.parts.push({ type: "text", text: content });
    return showText(choice, content);
  }
  const last = choice.parts.at(-1);
  for (const part of content) {
    // Some gateways leave a tool call of Anthropic among the content.
    if (part["type"] === "tool_use") addToolCalls(choice, [part]);
    // A text that comes in pieces is one part.
    else if (content.length === 1 && isPlainText(last) && isPlainText(part))
      choice.parts.splice(-1, 1, { ...last, text: last.text + part.text });
    else choice.parts.push(part);
    const thinking = part["type"] === "thinking" ? thoughtOf(part["thinking"]) : "";
    if (thinking !== "") choice.show({ type: "reasoning", text: thinking });
    if (isText(part["text"]) && part["type"] === "text") choice.show({ type: "text", text: part["text"] });
  }
};

const showText = ({ show }: GrowingChoice, text: string): void => {
  if (text !== "") show({ type: "text", text });
};

/** Returns content as a text or as parts. Anything else is the requested JSON, which Cloudflare's servers have parsed. */
const contentOf = (content: Json | undefined): string | readonly JsonObject[] | null => {
  if (content === undefined || content === null || typeof content === "string") return content ?? null;
  const list = Array.isArray(content) ? listOf(content) : [content];
  const parts = list.map((part) => textPartOf(part) ?? part);
  const areParts = parts.every((part): part is JsonObject => isObject(part) && isText(part["type"]));
  return areParts ? parts : JSON.stringify(content);
};

/** Returns a text part, which servers also write as a string, without a type, or as in the Responses API; null for others. */
const textPartOf = (part: Json): JsonObject | null => {
  const { type = "output_text", text, ...others } = isObject(part) ? part : { text: part };
  const isAlone = type === "output_text" && Object.keys(others).every((name) => name === "annotations");
  return typeof text === "string" && isAlone ? { type: "text", text } : null;
};

const isPlainText = (part: JsonObject | undefined): part is JsonObject & { readonly text: string } =>
  part?.["type"] === "text" && typeof part["text"] === "string" && Object.keys(part).length === 2;

/** Returns the text of reasoning, which is a text or a list of parts. */
const thoughtOf = (thinking: Json | undefined): string =>
  textOf(thinking) ||
  listOf(thinking)
    .map((part) => (isObject(part) ? textOf(part["text"] ?? part["summary"]) : ""))
    .join("");

const addToolCalls = ({ toolCalls, index, show }: GrowingChoice, wire: Json | undefined): void => {
  const members = ["function", "custom", "id", "name", "index"];
  const pieces = objectsIn(wire, members, (key) => (/^\d+$/.test(key) ? "index" : "id"));
  const byEntry = pieces.length > 1 && new Set(pieces.map(indexOf)).size === 1;
  for (const [entry, piece] of pieces.entries()) {
    const delta = toolCalls.add(piece, { choice: index, entry: byEntry ? entry : null });
    if (delta !== null) show(delta);
  }
};

/** Shows the texts and the arguments of calls that were held back. */
const showRest = (choice: GrowingChoice): void => {
  showThoughts(choice);
  showText(choice, choice.text?.rest() ?? "");
  choice.toolCalls.rest().forEach(choice.show);
};

const showThoughts = ({ thoughts, fields, show }: GrowingChoice): void => {
  let shown: string | undefined;
  for (const [name, thought] of thoughts) {
    const rest = thought.rest();
    shown ??= rest;
    fields[name] = thought.text;
  }
  if (shown) show({ type: "reasoning", text: shown });
};

/** Adds a piece to an object. Texts grow if `grows` allows it, ids and names stay, and any other value is replaced. */
const joined = (
  before: Json | undefined,
  added: JsonObject,
  grows = (_member: string): boolean => true,
): JsonObject => {
  const object: { [member: string]: Json | undefined } = isObject(before) ? { ...before } : {};
  for (const [member, value] of Object.entries(added)) {
    const present = object[member];
    if (member === "id" || member === "name") object[member] = isText(present) ? present : (value ?? present);
    else if (typeof value === "string" && typeof present === "string" && grows(member))
      object[member] = present + value;
    else object[member] = value ?? present;
  }
  return object;
};

/**
 * Adds streamed `reasoning_details` to those before. Pieces of one text (or summary) become one detail, with the signature that
 * a later piece may bring; encrypted ones stay as they are.
 */
const joinedDetails = (before: readonly Json[], added: readonly Json[]): readonly Json[] => {
  const details = [...before];
  for (const detail of added) {
    const last = details.at(-1);
    if (isObject(last) && isObject(detail) && isSameDetail(last, detail))
      details[details.length - 1] = joined(last, detail, (member) => member === "text" || member === "summary");
    else details.push(detail);
  }
  return details;
};

const isSameDetail = (last: JsonObject, detail: JsonObject): boolean =>
  (detail["type"] === "reasoning.text" || detail["type"] === "reasoning.summary") &&
  last["type"] === detail["type"] &&
  last["index"] === detail["index"] &&
  (last["id"] ?? detail["id"] ?? null) === (detail["id"] ?? last["id"] ?? null);

const decodedChoice = (choice: GrowingChoice): DecodedChoice => {
  const { index, finishReason, fields, toolCalls } = choice;
  const calls = toolCalls.calls();
  const { function_call: called } = fields;
  return {
    index,
    finish_reason: finishReason,
    message: {
      role: "assistant",
      content: contentIn(choice),
      ...fields,
      ...(isObject(called) && { function_call: { ...called, arguments: oneObject(called["arguments"]) } }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  };
};
