import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import {
  type Failure,
  type Json,
  type JsonObject,
  type ReplyDraft,
  type ReportedUsage,
  saysCut,
} from "@colloquy/machine";
import { createParser } from "eventsource-parser";
import * as Either from "fp-ts/lib/Either.js";
import { type FailureSetting, retryable } from "../failure/failure.ts";
import { defined, isObject, listOf, parseJson } from "../json/loose-json.ts";

/**
 * Reads one answer of a server, which comes whole or as server-sent events that are JSON objects, as servers really write them:
 * without empty lines, with errors in between. The cuts of the bytes do not matter.
 */
export abstract class AnswerReader<Decoded = unknown> {
  /** Something of an answer came: a piece, an error, the end mark. */
  begun = false;
  /** The answer said how it ended. Anything after that is not part of the reply. */
  finished = false;
  /** Nothing more is to be read. */
  done = false;
  /** The number of events that had a part of the answer. */
  heard = 0;
  /** A piece before the end could not be read, so the answer has a hole. */
  damaged = false;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ data, event }) => this.#onData(data, event),
    onError: ({ type, line = "" }) => {
      if (type === "unknown-field") this.#onUnknownLine(line);
    },
  });
  /** The last line so far, since the parser drops an unknown line that comes in pieces. */
  #pieces: string[] = [];
  #waiting = 0;

  /** Takes the next bytes, cut anywhere. @throws RangeError at a line of more than 67 million characters */
  feed(bytes: Uint8Array): void {
    this.#feedText(this.#decoder.decode(bytes, { stream: true }));
  }

  /** No more bytes come. The last line counts even without its line break. */
  end(): void {
    this.#feedText(`${this.#decoder.decode()}\n\n`);
  }

  /** Reads a body that came in one piece. Some servers stream unasked, and gateways report an error as a list of one. */
  readBody(text: string): void {
    if (/^\s*(data:|:|event:)/.test(text)) {
      this.feed(new TextEncoder().encode(text));
      return this.end();
    }
    const body = parseJson(text);
    const first: unknown = Array.isArray(body) ? body[0] : undefined;
    const answer = isObject(first) && isObject(first["error"]) ? first : body;
    if (!isObject(answer)) return;
    this.begun = true;
    this.onWhole(answer);
  }

  /** Reads a source of bytes, cut anywhere, to its end. Rejects if the source fails. */
  async readAll(source: Uint8Array | AsyncIterable<Uint8Array>): Promise<Decoded> {
    if (source instanceof Uint8Array) this.feed(source);
    else for await (const bytes of source) this.feed(bytes);
    this.end();
    return this.decoded();
  }

  /** Returns how the answer so far ended the call; null if it is neither an answer nor an error. */
  outcome(setting: FailureSetting): LlmOutcome | null {
    const ending = this.begun ? this.ending(setting) : null;
    return ending && outcomeOf(ending, () => this.partial());
  }

  /** Returns how the call failed for a reason outside the answer, with the answer so far. */
  failed(failure: Failure): LlmOutcome {
    return failedWith(failure, this.partial());
  }

  abstract decoded(): Decoded;
  protected abstract ending(setting: FailureSetting): Ending | null;
  /** Returns the texts that came. Calls and other fields may be incomplete, and are left out. */
  protected abstract partial(): PartialAnswer;
  /** Takes an object of a stream, and the name of its event if it has one. */
  protected abstract onObject(value: JsonObject, name?: string): void;
  /** Takes an object after the end mark. */
  protected onLate(_value: JsonObject): void {}
  protected abstract onError(error: Json): void;
  protected abstract onWhole(body: JsonObject): void;

  #feedText(text: string): void {
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    if (end === 0) {
      this.#waiting += text.length;
      if (this.#waiting > lineCharacters)
        throw new RangeError(`a line of the stream is longer than ${lineCharacters} characters`);
      if (text !== "") this.#pieces.push(text);
      return;
    }
    this.#parser.feed(this.#pieces.join("") + text.slice(0, end));
    const rest = text.slice(end);
    this.#pieces = [rest];
    this.#waiting = rest.length;
  }

  #onData(data: string, name?: string): void {
    const value = data.startsWith("{") ? parseJson(data) : undefined;
    if (this.done) return isObject(value) ? this.onLate(value) : undefined;
    if (data.startsWith("{")) {
      if (isObject(value)) this.onObject(value, name);
      // Without an empty line between them, the parser takes two events for one of two lines.
      else if (data.includes("\n")) for (const line of data.split("\n")) this.#onData(line, name);
      else this.#onRow(data, name);
    } else if (data.trim() === "[DONE]") {
      this.begun = this.done = true;
      this.heard += 1;
    } else if (/^\s+\{|\n/.test(data)) {
      for (const line of data.split("\n")) this.#onData(line.trim(), name);
    } else if (name === "error" && data.trim() !== "") {
      this.onError(data);
    }
  }

  /** Takes an event that began like an object. Gateways that buffer lose the line breaks between events. */
  #onRow(data: string, name?: string): void {
    const lines = data.replaceAll(stringsOrBorders, (all: string, text?: string) => (text === undefined ? "}\n" : all));
    if (lines === data) this.damaged ||= !this.finished;
    else for (const line of lines.split("\n")) this.#onData(line, name);
  }

  /** Some servers report an error outside the format, by a line of its own. */
  #onUnknownLine(line: string): void {
    if (this.done) return;
    const reported = parseJson(line.replace(/^error:/, ""));
    if (!isObject(reported)) return;
    if (line.startsWith("error:")) this.onError(reported["error"] ?? reported);
    else if (isObject(reported["error"])) this.onError(reported["error"]);
  }
}

/** Matches strings, also one that was cut off, and the borders between events. */
const stringsOrBorders = /("[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$))|\}\s*(?:data:\s*)?(?=\{|\[DONE\])/gs;

/** Longer than any piece of a reply: an endless line must fail. */
const lineCharacters = 2 ** 26;

/** The end of an answer: a failure, or its reply, which may be unreadable, with the facts beside it. */
export type Ending =
  | Failure
  | {
      readonly reply: Either.Either<string, ReplyDraft>;
      readonly finishReason: string | null;
      readonly facts: Pick<Extract<LlmOutcome, { type: "completed" }>, "usage" | "model" | "responseId">;
    };

/** The part of an answer that a failed call keeps. */
export interface PartialAnswer {
  readonly content: ReplyDraft["content"] | undefined;
  readonly usage: ReportedUsage | undefined;
}

/** Returns how an answer ended its call. One that cannot be read, or that has nothing, failed with the part that came. */
export const outcomeOf = (ending: Ending, partial: () => PartialAnswer): LlmOutcome => {
  const failed = (failure: Failure): LlmOutcome => failedWith(failure, partial());
  if ("kind" in ending) return failed(ending);
  const { reply, finishReason, facts } = ending;
  if (Either.isLeft(reply)) return failed(retryable("unknown", reply.left));
  const failure = nothingSaid(reply.right, finishReason) ?? callUnclear(reply.right, finishReason);
  return failure === null ? { type: "completed", reply: reply.right, finishReason, ...facts } : failed(failure);
};

export const failedWith = (failure: Failure, { content, usage }: PartialAnswer): LlmOutcome => {
  const partial: ReplyDraft | undefined = content === undefined ? undefined : { content };
  return { type: "failed", failure, ...defined({ partial, usage }) };
};

/** Returns the pieces of a reply that came in one. */
export const deltasOf = ({ content = [], toolCalls = [] }: ReplyDraft): readonly LlmDelta[] => [
  ...textsOf(content).filter(({ text }) => text !== ""),
  ...toolCalls.map(({ id, name, arguments: given }, index) => ({
    type: "toolCall" as const,
    index,
    id,
    name,
    arguments: given,
  })),
];

/** Returns the texts of a reply, without parts that only its server can read. */
export const textsOf = (content: Content): readonly Exclude<LlmDelta, { type: "toolCall" }>[] =>
  partsOf(content).flatMap((part) =>
    part.type === "text" || part.type === "reasoning" || part.type === "refusal"
      ? [{ type: part.type, text: part.text }]
      : [],
  );

/**
 * Returns the failure of an answer without text, call, refusal or other part; null for any other. The finish reason decides. A
 * model may mean `stop` and say nothing (Anthropic's "Handling stop reasons" has it after results of tools), unless it only
 * thought (Gemini CLI asks again then). A full window left no room, so the prompt is too long. A reply that was cut otherwise
 * or filtered is incomplete. After any other reason (`tool_calls` without a call, Gemini's `MALFORMED_FUNCTION_CALL`,
 * DeepSeek's `insufficient_system_resource`, none) the model failed.
 */
export const nothingSaid = (
  { content = [], toolCalls = [], provider }: ReplyDraft,
  reason: string | null,
): Failure | null => {
  const parts = partsOf(content);
  const { function_call: called, audio } = provider ?? {};
  const isSaid = toolCalls.length > 0 || called !== undefined || audio !== undefined;
  if (isSaid || parts.some((part) => part.type !== "reasoning" && !isBlank(part))) return null;
  const word = (reason ?? "").toLowerCase().replaceAll("-", "_");
  const hasThought = parts.some((part) => part.type === "reasoning");
  const ended = `ended with the reason ${JSON.stringify(reason)}`;
  if (saysFull(word)) {
    const message = `the prompt left no room for an answer, which ${ended}`;
    return { kind: "context_length", retryable: false, message };
  }
  if (incomplete.test(word) || (stopped.has(word) && !hasThought)) return null;
  const only = hasThought ? ", only reasoning" : "";
  return retryable("unknown", `the server's answer has neither text nor calls${only}, and ${ended}`);
};

/**
 * Returns the failure of an answer with calls and an unknown reason; null for any other. The reason may be a cut or a block (vLLM's
 * `repetition`, Vertex's `MODEL_ARMOR`, Gemini's `OTHER`), and to ask again is safer than to run half of what a model wanted.
 */
const callUnclear = ({ toolCalls: [call] = [] }: ReplyDraft, reason: string | null): Failure | null => {
  if (call === undefined || saysCut(reason) || saysDone.test(reason ?? "")) return null;
  const message = `the server's answer has the call of "${call.name}", and ended with the unknown reason ${JSON.stringify(reason)}`;
  return retryable("unknown", message);
};

/** A whole body may have no reason. */
const saysDone =
  /^$|^(?!.*unspecified).*(stop|tool|function|(^|_)end|eos|eot|complete|finish|done|normal|natural|success)/i;

type Content = Exclude<ReplyDraft["content"], undefined>;
export type ReplyPart = Exclude<Content, string>[number];

const partsOf = (content: Content): readonly ReplyPart[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

/** A message of the Responses API that has no content yet is kept as it came. */
const isBlank = (part: ReplyPart): boolean => {
  if (part.type !== "opaque") return "text" in part && part.text.trim() === "";
  const { value } = part.value;
  return isObject(value) && value["type"] === "message" && listOf(value["content"]).length === 0;
};

const stopped: ReadonlySet<string> = new Set(["stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed"]);

/** Whether a reason is a full window: Anthropic's `model_context_window_exceeded`, Mistral's `model_length`. */
export const saysFull = (reason: string): boolean => /context|^model_length$/i.test(reason);

/** OpenAI, Anthropic, Gemini (also `content_filter: RECITATION`), Bedrock (`guardrail_intervened`), Zhipu (`sensitive`). */
const incomplete =
  /^(length|max_.*tokens|content_filter(ed|:.*)?|sensitive|guardrail_intervened|(image_)?(safety|recitation|prohibited_content)|blocklist|spii|language|refusal)$/;
