import type { LlmDelta } from "@colloquy/host";
import { type Json, type JsonObject, saysCut } from "@colloquy/machine";
import { isBareError, isError } from "../failure/response-facts.ts";
import { isList, isObject, isText, listOf, objectsIn, textOf } from "../json/loose-json.ts";
import { contentOf, joined, joinedDetails, thoughtOf } from "./message-pieces.ts";
import { indexOf, oneObject, ToolCallPieces } from "./tool-call-pieces.ts";
import { laterReport, reportIn } from "./usage.ts";

/** What a chat completion says, whether it came in one piece or in many. In the words of the wire. */
export interface DecodedChat {
  /** All choices, in the order in which they began. The answer is the one of index 0. */
  readonly choices: readonly DecodedChoice[];
  /** The last report that isn't zeros; null when there was none. */
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
  /** No more chunks come. */
  readonly end: () => void;
  /** All that came so far. */
  readonly decoded: () => DecodedChat;
  /** Whether the answer said why it ended. */
  readonly isFinished: () => boolean;
}

/**
 * Collects the chunks of a stream, or a whole body, and reports the pieces of the answer (the choice of index 0) as they come.
 * Takes what servers send: no role, no choices, usage in several places, content in parts, an error in the middle. Checked by
 * hand, field by field: this runs once a token.
 *
 * @param isOne All choices are one reply: a server that was asked for one may put its text in one and its calls in another.
 */
export const chatChunks = (onDelta: (delta: LlmDelta) => void = () => {}, isOne = false): ChatChunks => {
  /** By index, in the order in which they began. */
  const choices = new Map<number, GrowingChoice>();
  const all = (): readonly GrowingChoice[] => [...choices.values()];
  const calls = new ToolCallPieces();
  let usage: JsonObject | null = null;
  let model: string | undefined;
  let responseId: string | undefined;
  let error: Json | undefined;

  const showOther = (delta: LlmDelta): void => {
    if (delta.type === "toolCall" || !choices.get(0)?.content) onDelta(delta);
  };
  const choiceOf = (index: number): GrowingChoice => {
    const choice = choices.get(index) ?? {
      index,
      show: index === 0 ? onDelta : isOne ? showOther : () => {},
      finishReason: null,
      fields: {},
      content: null,
      textPieces: 0,
      held: "",
      isWhole: false,
      toolCalls: isOne ? calls : new ToolCallPieces(),
    };
    choices.set(index, choice);
    return choice;
  };

  return {
    add: (chunk) => {
      if (!isObject(chunk)) return;
      usage = laterReport(usage, reportIn(chunk));
      if (isText(chunk["model"])) model ??= chunk["model"];
      if (isText(chunk["id"])) responseId ??= chunk["id"];
      if (isError(chunk["error"])) error ??= chunk["error"];
      else if (isBareError(chunk)) error ??= chunk;
      for (const wire of objectsIn(chunk["choices"], ["delta", "message", "finish_reason"], () => "index")) {
        const choice = choiceOf(indexOf(wire) ?? 0);
        usage = laterReport(usage, reportIn(wire));
        if (isError(wire["error"])) error ??= wire["error"];
        const delta = deltaOf(wire);
        usage = laterReport(usage, isObject(delta["usage"]) ? delta["usage"] : null);
        const reason = reasonOf(wire, delta);
        const isRepeat = delta === wire["message"] || (reason && repeatsText(delta, choice));
        addDelta(choice, isRepeat ? restOf(delta, choice) : delta);
        if (typeof reason === "string") choice.finishReason = laterReason(choice.finishReason, reason);
        if (choice.finishReason) showRest(choice);
      }
    },
    end: () => {
      for (const choice of choices.values()) showRest(choice);
    },
    decoded: () => ({
      choices: isOne ? oneChoice(all().map(decodedChoice)) : all().map(decodedChoice),
      usage,
      ...(model === undefined ? {} : { model }),
      ...(responseId === undefined ? {} : { responseId }),
      ...(error === undefined ? {} : { error }),
    }),
    // Some servers give an empty reason with each chunk.
    isFinished: () =>
      isOne
        ? choices.size > 0 && all().every(({ finishReason }) => finishReason)
        : Boolean((choices.get(0) ?? all()[0])?.finishReason),
  };
};

interface GrowingChoice {
  readonly index: number;
  readonly show: (delta: LlmDelta) => void;
  finishReason: string | null;
  content: string | null | JsonObject[];
  /** How many texts its content was put together from. */
  textPieces: number;
  /** The second of them, if it may be the first again and more. It is not shown yet. */
  held: string;
  /** Each text is all of the content so far (DashScope: QwenLM/qwen-code pull request 3896). */
  isWhole: boolean;
  readonly toolCalls: ToolCallPieces;
  /** Everything else of the message, as it grows. */
  readonly fields: { [field: string]: Json };
}

/**
 * What a choice says: its piece, or the whole message that a server which does not stream puts there, or behind the pieces; with
 * a text and calls that stand beside it.
 */
const deltaOf = ({ delta, message, text, tool_calls: calls }: JsonObject): JsonObject => {
  const said = delta ?? message ?? text;
  const whole = isObject(said) ? said : { content: said };
  return calls === undefined || "tool_calls" in whole ? whole : { ...whole, tool_calls: calls };
};

/** Whether the chunk that ends a reply has the whole text again. One piece that comes twice may be meant. */
const repeatsText = (delta: JsonObject, { textPieces, content }: GrowingChoice): boolean =>
  textPieces > 1 && delta["content"] === content;

/**
 * Why a choice ended, which may stand in its piece. DashScope writes "null" until then. OpenRouter has the reason of the model's
 * provider beside its own, which may not say that the reply was cut.
 */
const reasonOf = (choice: JsonObject, delta: JsonObject): Json | undefined => {
  const { finish_reason: reason = delta["finish_reason"], native_finish_reason: native } = choice;
  if (reason === "null") return "";
  return isText(reason) && !saysCut(reason) && isText(native) && saysCut(native) ? native : reason;
};

/** What is new in a whole message: its texts may have come in pieces before. */
const restOf = (message: JsonObject, { content, fields }: GrowingChoice): JsonObject => {
  const before: JsonObject = { ...fields, content: content === null || typeof content === "string" ? content : null };
  const rest = Object.entries(message).map(([field, value]): [string, Json | undefined] => {
    const came = textOf(before[field]);
    return [field, typeof value === "string" && value.startsWith(came) ? value.slice(came.length) : value];
  });
  return Object.fromEntries(rest);
};

/**
 * An empty reason never replaces an earlier one. `stop` is replaced by any other, since it may be of the choice with the text, and
 * any reason by one that says that the reply was cut.
 */
const laterReason = (before: string | null, reason: string): string =>
  before === null || (reason !== "" && (before === "" || before === "stop" || saysCut(reason))) ? reason : before;

/**
 * One reply of several choices: the calls of all, which they share, and of all else that of the first which has it. Two texts
 * are alternatives.
 */
const oneChoice = (choices: readonly DecodedChoice[]): readonly DecodedChoice[] => {
  if (choices.length < 2) return choices;
  const ordered = choices.toSorted((left, right) => left.index - right.index);
  const said = ordered.map(({ message }) =>
    Object.entries(message).filter(
      ([, value]) => value !== null && !(typeof value === "string" && value.trim() === ""),
    ),
  );
  const reasons = ordered.flatMap(({ finish_reason: reason }) => (reason === null ? [] : [reason]));
  return [
    {
      index: ordered[0]?.index ?? 0,
      finish_reason: reasons.reduce<string | null>(laterReason, null),
      message: { content: null, ...Object.fromEntries(said.toReversed().flat()) },
    },
  ];
};

const addDelta = (choice: GrowingChoice, delta: JsonObject): void => {
  let reasoning: string | undefined;
  for (const field in delta) {
    const value = delta[field];
    switch (field) {
      case "content":
        addContent(choice, value);
        break;
      case "tool_calls":
        addToolCalls(
          choice,
          objectsIn(value, callMembers, (key) => (/^\d+$/.test(key) ? "index" : "id")),
        );
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
        choice.fields[field] = joinedDetails(listOf(choice.fields[field]), listOf(value));
        break;
      case "refusal":
        addRefusal(choice, value);
        break;
      case "function_call":
      case "audio":
        if (isObject(value)) choice.fields[field] = joined(choice.fields[field], value);
        break;
      default:
        addOther(choice, field, value);
    }
  }
  reasoning ??= thoughtOf(delta["reasoning_details"]);
  if (reasoning) choice.show({ type: "reasoning", text: reasoning });
};

/** A string joins the text; once parts came, everything is a part. */
const addContent = (choice: GrowingChoice, wire: Json | undefined): void => {
  const content = contentOf(wire);
  if (content === null) return;
  if (typeof content === "string") {
    if (Array.isArray(choice.content)) {
      choice.content.push({ type: "text", text: content });
      showText(choice, content);
    } else showText(choice, addText(choice, choice.content ?? "", content));
    if (content !== "") choice.textPieces += 1;
    return;
  }
  const before: JsonObject[] = choice.content ? [{ type: "text", text: choice.content }] : [];
  if (!Array.isArray(choice.content)) choice.content = before;
  const last = choice.content.at(-1);
  for (const part of content) {
    // A call of Anthropic's, which a gateway left in its place.
    if (part["type"] === "tool_use") addToolCalls(choice, [part]);
    // A text that comes in pieces is one part.
    else if (content.length === 1 && isPlainText(last) && isPlainText(part))
      choice.content.splice(-1, 1, { ...last, text: last.text + part.text });
    else choice.content.push(part);
    const thinking = part["type"] === "thinking" ? thoughtOf(part["thinking"]) : "";
    if (thinking !== "") choice.show({ type: "reasoning", text: thinking });
    if (isText(part["text"]) && part["type"] === "text") choice.show({ type: "text", text: part["text"] });
  }
};

/** Adds a piece to a text, or the whole text so far to what came of it. Returns what can be shown of it. */
const addText = (choice: GrowingChoice, before: string, piece: string): string => {
  const { held, textPieces } = choice;
  const shown = before.slice(0, before.length - held.length);
  choice.held = "";
  choice.isWhole ||= held !== "" && continues(held, piece);
  if (choice.isWhole && piece.startsWith(shown)) {
    choice.content = piece;
    return piece.slice(shown.length);
  }
  choice.content = before + piece;
  if (textPieces !== 1 || !continues(before, piece)) return held + piece;
  choice.held = piece;
  return "";
};

const continues = (text: string, piece: string): boolean => piece.length > text.length && piece.startsWith(text);

const showText = ({ show }: GrowingChoice, text: string): void => {
  if (text !== "") show({ type: "text", text });
};

const isPlainText = (part: JsonObject | undefined): part is JsonObject & { readonly text: string } =>
  part?.["type"] === "text" && typeof part["text"] === "string" && Object.keys(part).length === 2;

const callMembers = ["function", "custom", "id", "name", "index"];

const addToolCalls = ({ toolCalls, index, show }: GrowingChoice, pieces: readonly JsonObject[]): void => {
  const byEntry = pieces.length > 1 && new Set(pieces.map(indexOf)).size === 1;
  for (const [entry, piece] of pieces.entries()) {
    const delta = toolCalls.add(piece, { choice: index, entry: byEntry ? entry : null });
    if (delta !== null) show(delta);
  }
};

const showRest = (choice: GrowingChoice): void => {
  const { toolCalls, show, held } = choice;
  // No third piece tells what the second was. One that repeats a word is all of the text.
  const shown = textOf(choice.content ?? undefined).slice(0, -held.length);
  choice.isWhole ||= held !== "" && /\p{L}{4}/u.test(shown);
  choice.held = "";
  if (choice.isWhole && held !== "") choice.content = held;
  showText(choice, choice.isWhole ? held.slice(shown.length) : held);
  toolCalls.rest().forEach(show);
};

const addRefusal = (choice: GrowingChoice, refusal: Json | undefined): void => {
  const before = choice.fields["refusal"] ?? null;
  if (typeof refusal !== "string") {
    choice.fields["refusal"] = before;
    return;
  }
  choice.fields["refusal"] = textOf(before) + refusal;
  if (refusal !== "") choice.show({ type: "refusal", text: refusal });
};

/** Lists grow, everything else is as it was said last. */
const addOther = ({ fields }: GrowingChoice, field: string, value: Json | undefined): void => {
  if (field === "role" || value === undefined || value === null) return;
  const before = fields[field];
  // A list among the fields was made here.
  if (isList(before) && isList(value)) for (const item of value) (before as Json[]).push(item);
  else fields[field] = isList(value) ? [...value] : value;
};

const decodedChoice = (choice: GrowingChoice): DecodedChoice => {
  const calls = choice.toolCalls.calls();
  const { function_call: called } = choice.fields;
  return {
    index: choice.index,
    finish_reason: choice.finishReason,
    message: {
      role: "assistant",
      content: choice.content,
      ...choice.fields,
      ...(isObject(called) ? { function_call: { ...called, arguments: oneObject(called["arguments"]) } } : {}),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  };
};
