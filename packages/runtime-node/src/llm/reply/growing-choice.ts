import type { LlmDelta } from "@colloquy/host";
import { type Json, type JsonObject, saysCut } from "@colloquy/machine";
import { isList, isObject, isText, listOf, objectsIn, textOf } from "../json/loose-json.ts";
import { GrowingText, indexOf, oneObject, type ToolCallPieces } from "./tool-call-pieces.ts";

export interface DecodedChoice {
  readonly index: number;
  readonly finish_reason: string | null;
  /** Role, content, refusal, tool calls and all other fields of the reply. */
  readonly message: JsonObject;
}

/** One choice of a reply, as it grows. */
export class GrowingChoice {
  finishReason: string | null = null;
  readonly #index: number;
  readonly #show: (delta: LlmDelta) => void;
  readonly #toolCalls: ToolCallPieces;
  /** The content, until a list of parts comes. */
  #text: GrowingText | null = null;
  #parts: JsonObject[] | null = null;
  /** The reasoning, by the names under which it comes. */
  readonly #thoughts = new Map<string, GrowingText>();
  /** Everything else of the message. */
  readonly #fields: { [field: string]: Json } = {};

  constructor(index: number, show: (delta: LlmDelta) => void, toolCalls: ToolCallPieces) {
    this.#index = index;
    this.#show = show;
    this.#toolCalls = toolCalls;
  }

  get content(): string | JsonObject[] | null {
    return this.#parts ?? this.#text?.text ?? null;
  }

  /** Adds the next piece, or the whole choice. */
  add(choice: JsonObject): void {
    const delta = deltaOf(choice);
    const reason = reasonOf(choice, delta);
    // The last chunk may repeat the whole text. If only one piece came before, the model may have meant it twice.
    const isSaidAgain = reason && (this.#text?.pieces ?? 0) > 1 && delta["content"] === this.#text?.text;
    this.#addDelta(delta === choice["message"] || isSaidAgain ? this.#restOf(delta) : delta);
    if (typeof reason === "string") this.finishReason = laterReason(this.finishReason, reason);
    if (this.finishReason) this.showRest();
  }

  /** Shows the texts and the arguments of calls that were held back. */
  showRest(): void {
    this.#showThoughts();
    this.#showText(this.#text?.rest() ?? "");
    this.#toolCalls.rest().forEach(this.#show);
  }

  decoded(): DecodedChoice {
    const calls = this.#toolCalls.calls();
    const { function_call: called } = this.#fields;
    return {
      index: this.#index,
      finish_reason: this.finishReason,
      message: {
        role: "assistant",
        content: this.content,
        ...this.#fields,
        ...(isObject(called) && { function_call: { ...called, arguments: oneObject(called["arguments"]) } }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
    };
  }

  /** Returns the parts of a whole message that did not come in pieces before. */
  #restOf(message: JsonObject): JsonObject {
    const before: JsonObject = { ...this.#fields, content: this.content };
    const rest = Object.entries(message).map(([field, value]): [string, Json | undefined] => {
      const came = textOf(before[field]);
      return [field, typeof value === "string" && value.startsWith(came) ? value.slice(came.length) : value];
    });
    return Object.fromEntries(rest);
  }

  #addDelta(delta: JsonObject): void {
    const fields = this.#fields;
    let reasoning: string | undefined;
    for (const field in delta) {
      const value = delta[field];
      switch (field) {
        case "role":
          break;
        case "content":
          this.#addContent(value);
          break;
        case "tool_calls":
          this.#addToolCalls(value);
          break;
        case "reasoning":
        case "reasoning_content":
        case "thinking":
          if (typeof value !== "string") break;
          // The same piece may come under two names.
          reasoning = this.#addThought(field, value, reasoning);
          break;
        case "reasoning_details":
          fields[field] = joinedDetails(listOf(fields[field]), listOf(value));
          break;
        case "refusal":
          fields[field] = typeof value === "string" ? textOf(fields[field]) + value : (fields[field] ?? null);
          if (isText(value)) this.#show({ type: "refusal", text: value });
          break;
        case "function_call":
        case "audio":
          if (isObject(value)) fields[field] = joined(fields[field], value);
          break;
        default: {
          // Lists grow; a later value replaces any other.
          const before = fields[field];
          if (value !== undefined && value !== null)
            fields[field] = isList(before) && isList(value) ? [...before, ...value] : value;
        }
      }
    }
    reasoning ??= thoughtOf(delta["reasoning_details"]);
    if (reasoning) this.#show({ type: "reasoning", text: reasoning });
  }

  /** Adds a piece of reasoning. Returns the text to show, which is that of another name if one came before. */
  #addThought(name: string, piece: string, shown?: string): string {
    const thought = this.#thoughts.get(name) ?? new GrowingText();
    this.#thoughts.set(name, thought);
    const added = thought.add(piece);
    this.#fields[name] = thought.text;
    return shown ?? added;
  }

  #showThoughts(): void {
    let shown: string | undefined;
    for (const [name, thought] of this.#thoughts) {
      const rest = thought.rest();
      shown ??= rest;
      this.#fields[name] = thought.text;
    }
    if (shown) this.#show({ type: "reasoning", text: shown });
  }

  #showText(text: string): void {
    if (text !== "") this.#show({ type: "text", text });
  }

  /** Adds content: a string to the text, or as another part if parts came before. */
  #addContent(wire: Json | undefined): void {
    const content = contentOf(wire);
    if (content === null) return;
    if (content.length > 0) this.#showThoughts();
    if (typeof content === "string" && this.#parts === null) {
      this.#text ??= new GrowingText();
      return this.#showText(this.#text.add(content));
    }
    if (this.#parts === null) {
      this.#showText(this.#text?.rest() ?? "");
      this.#parts = this.#text?.text ? [{ type: "text", text: this.#text.text }] : [];
    }
    if (typeof content === "string") {
      this.#parts.push({ type: "text", text: content });
      return this.#showText(content);
    }
    const last = this.#parts.at(-1);
    for (const part of content) {
      // Some gateways leave a tool call of Anthropic among the content.
      if (part["type"] === "tool_use") this.#addToolCalls([part]);
      // A text that comes in pieces is one part.
      else if (content.length === 1 && isPlainText(last) && isPlainText(part))
        this.#parts.splice(-1, 1, { ...last, text: last.text + part.text });
      else this.#parts.push(part);
      const thinking = part["type"] === "thinking" ? thoughtOf(part["thinking"]) : "";
      if (thinking !== "") this.#show({ type: "reasoning", text: thinking });
      if (part["type"] === "text") this.#showText(textOf(part["text"]));
    }
  }

  #addToolCalls(wire: Json | undefined): void {
    const members = ["function", "custom", "id", "name", "index"];
    const pieces = objectsIn(wire, members, (key) => (/^\d+$/.test(key) ? "index" : "id"));
    if (pieces.length > 0) this.#showThoughts();
    const byEntry = pieces.length > 1 && new Set(pieces.map(indexOf)).size === 1;
    for (const [entry, piece] of pieces.entries()) {
      const delta = this.#toolCalls.add(piece, this.#index, byEntry ? entry : null);
      if (delta !== null) this.#show(delta);
    }
  }
}

/**
 * Returns the piece of a choice. Some servers send the whole message instead of pieces, or after them; some put a text or the
 * calls beside it.
 */
export const deltaOf = ({ delta, message, text, tool_calls: calls }: JsonObject): JsonObject => {
  const isEmpty = isObject(delta) && Object.keys(delta).length === 0;
  const sent = (isEmpty ? null : delta) ?? message ?? text ?? delta;
  const piece = isObject(sent) ? sent : { content: sent };
  return calls === undefined ? piece : { tool_calls: calls, ...piece };
};

/**
 * Returns why a choice ended. Some servers put the reason into the piece. DashScope writes "null" before the end. OpenRouter
 * sends the provider's reason beside its own; if only the provider's says that the reply was cut, that one counts.
 */
const reasonOf = (choice: JsonObject, delta: JsonObject): Json | undefined => {
  const { finish_reason: reason = delta["finish_reason"], native_finish_reason: native } = choice;
  if (reason === "null") return "";
  return isText(reason) && !saysCut(reason) && isText(native) && saysCut(native) ? native : reason;
};

/**
 * Returns the reason that counts of two. An empty reason never replaces an earlier one. Any other replaces `stop`, because the
 * choice with the text may stop while another has calls. A reason that says that the reply was cut replaces every other.
 */
export const laterReason = (before: string | null, reason: string): string =>
  before === null || (reason !== "" && (before === "" || before === "stop" || saysCut(reason))) ? reason : before;

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
