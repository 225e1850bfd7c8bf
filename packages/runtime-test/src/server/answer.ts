import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import type { Failure, JsonObject, Message, ReplyDraft, ReportedUsage } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";
import type { WireError } from "./wire-error.ts";

/** One of the protocols that the server speaks. */
export interface Dialect {
  readonly idPrefix: string;
  /** Returns the beginning of a whole answer that breaks off. */
  readonly half: (id: string) => string;
  /** Parses a body to a request, or to the first error with which the real server would refuse it. */
  readonly read: (text: string) => Either.Either<WireError, Request>;
}

/** A request, and the form of its answer. */
export interface Request {
  readonly model: string;
  readonly messages: readonly Message[];
  /** All fields except the model, the messages and the form of the answer, unparsed. */
  readonly parameters: JsonObject;
  /** Returns the body of an answer that is not streamed. */
  readonly whole: (head: AnswerHead, outcome: Completed) => JsonObject;
  /** Null if the request does not want a stream. */
  readonly stream: ((response: EventSink, head: AnswerHead) => AnswerStream) | null;
}

export interface AnswerHead {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
}

/** An answer as server-sent events. Nothing is sent before the first piece is available, not even headers. */
export interface AnswerStream {
  readonly started: () => boolean;
  readonly send: (delta: LlmDelta) => void;
  /** Sends the part of the reply that was not shown yet, and its end. */
  readonly complete: (outcome: Completed) => void;
  /** Ends like a real stream that fails half way: with an error among the events, or with nothing. */
  readonly fail: (failure: Failure) => void;
}

export type Completed = Extract<LlmOutcome, { readonly type: "completed" }>;

export const headOf = (head: AnswerHead, { model = head.model, responseId: id = head.id }: Completed): AnswerHead => ({
  ...head,
  id,
  model,
});

/** The pieces of a reply by kind, each kind joined. */
export const spokenOf = (reply: ReplyDraft): Readonly<Record<"text" | "reasoning" | "refusal", string>> => {
  const said = { text: "", reasoning: "", refusal: "" };
  if (typeof reply.content === "string") return { ...said, text: reply.content };
  for (const part of reply.content ?? []) {
    if (part.type === "text" || part.type === "reasoning" || part.type === "refusal") said[part.type] += part.text;
  }
  return said;
};

/** Returns a reply in as few pieces as possible, for a model that shows nothing before it is done. */
export const deltasOf = ({ reply }: Completed): readonly LlmDelta[] => {
  const { text, reasoning, refusal } = spokenOf(reply);
  const spoken = [
    { type: "reasoning", text: reasoning },
    { type: "text", text },
    { type: "refusal", text: refusal },
  ] as const;
  const calls = (reply.toolCalls ?? []).map((call, index) => ({ type: "toolCall", index, ...call }) as const);
  return [...spoken.filter((delta) => delta.text !== ""), ...calls];
};

/** The parts of a stream of events that dialects differ in. */
interface Events {
  readonly open?: () => void;
  readonly piece: (delta: LlmDelta) => void;
  readonly close: (outcome: Completed) => string;
  readonly failed: (failure: Failure) => string;
}

/** Where events go: a response, or a list. */
export interface EventSink {
  writeHead(status: number, headers: { readonly [name: string]: string }): unknown;
  write(event: string, sent?: () => void): unknown;
  end(event?: string): unknown;
  destroy(): unknown;
}

/** Sends an answer as events: a piece of the reply once, and at the end the pieces that were not shown. */
export const answerStream = (response: EventSink, { open, piece, close, failed }: Events): AnswerStream => {
  const calls = new Set<number>();
  let [started, spoke] = [false, false];
  const start = (): void => {
    if (started) return;
    started = true;
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    open?.();
  };
  const send = (delta: LlmDelta): void => {
    start();
    if (delta.type === "toolCall") calls.add(delta.index);
    else spoke = true;
    piece(delta);
  };
  return {
    started: () => started,
    send,
    complete: (outcome) => {
      start();
      const isMissing = (delta: LlmDelta): boolean => (delta.type === "toolCall" ? !calls.has(delta.index) : !spoke);
      for (const delta of deltasOf(outcome).filter(isMissing)) send(delta);
      response.end(close(outcome));
    },
    fail: (failure) => {
      start();
      // Sends the buffered pieces before closing the socket.
      if (failure.kind === "network") response.write("", () => response.destroy());
      else if (failure.kind === "truncated") response.end();
      else response.end(failed(failure));
    },
  };
};

/** Splits arguments into pieces of about a token; no piece ends within a character. */
export const argumentPieces = (written: string): readonly string[] => written.match(/[\s\S]{1,12}/gu) ?? [];

/** Returns a usage report, with the API's names of what goes in and what comes out. JSON has no unknown figures. */
export const wireUsage = (usage: ReportedUsage, sent = "prompt", received = "completion"): JsonObject => ({
  [`${sent}_tokens`]: usage.inputTokens,
  [`${received}_tokens`]: usage.outputTokens,
  total_tokens: totalOf(usage),
  [`${sent}_tokens_details`]: detail("cached_tokens", usage.cacheReadTokens),
  [`${received}_tokens_details`]: detail("reasoning_tokens", usage.reasoningTokens),
  ...usage.provider,
});

const detail = (name: string, tokens: number | undefined): JsonObject | undefined =>
  tokens === undefined ? undefined : { [name]: tokens };

/** Returns the reported total, otherwise the sum of the known parts. */
const totalOf = ({ inputTokens, outputTokens, totalTokens }: ReportedUsage): number | undefined =>
  totalTokens ?? (inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens);
