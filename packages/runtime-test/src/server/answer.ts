import type { ServerResponse } from "node:http";
import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import type { Failure, Json, JsonObject, Message, ReplyDraft, ReportedUsage } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";
import type { WireError } from "./wire-error.ts";

/** One of the protocols that the server speaks. */
export interface Dialect {
  /** The prefix of an answer's id. */
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
  readonly stream: ((response: ServerResponse, head: AnswerHead) => AnswerStream) | null;
}

/** The fields that all parts of one answer share. */
export interface AnswerHead {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
}

/** An answer as server-sent events. Nothing is sent before the first piece is available, not even headers. */
export interface AnswerStream {
  /** Returns whether anything was sent. */
  readonly started: () => boolean;
  readonly send: (delta: LlmDelta) => void;
  /** Sends the part of the reply that was not shown yet, and its end. */
  readonly complete: (outcome: Completed) => void;
  /** Ends like a real stream that fails half way: with an error among the events, or with nothing. */
  readonly fail: (failure: Failure) => void;
}

export type Completed = Extract<LlmOutcome, { readonly type: "completed" }>;

/** Returns the head, with the outcome's model and response id if it has them. */
export const headOf = (head: AnswerHead, { model, responseId }: Completed): AnswerHead => ({
  ...head,
  ...(model === undefined ? {} : { model }),
  ...(responseId === undefined ? {} : { id: responseId }),
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

/** Tracks the sent part of a reply, so that the rest can be sent at its end. */
export const shownSoFar = (): {
  readonly note: (delta: LlmDelta) => void;
  readonly missing: (outcome: Completed) => readonly LlmDelta[];
} => {
  const calls = new Set<number>();
  let spoke = false;
  return {
    note: (delta) => {
      if (delta.type === "toolCall") calls.add(delta.index);
      else spoke = true;
    },
    missing: (outcome) =>
      deltasOf(outcome).filter((delta) => (delta.type === "toolCall" ? !calls.has(delta.index) : !spoke)),
  };
};

/** Splits arguments into pieces of about a token; no piece ends within a character. */
export const argumentPieces = (written: string): readonly string[] => written.match(/[\s\S]{1,12}/gu) ?? [];

/** Begins a stream of events. */
export const startEvents = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
};

/** Ends a failed stream, with `error` among the events if a real server would send one. */
export const endFailed = (response: ServerResponse, { kind }: Failure, error: () => string): void => {
  // Sends the buffered pieces before closing the socket.
  if (kind === "network") response.write("", () => response.destroy());
  else if (kind === "truncated") response.end();
  else response.end(error());
};

/** Returns a member if its value is known, otherwise nothing. */
export const given = (name: string, value: Json | undefined): JsonObject =>
  value === undefined ? {} : { [name]: value };

/** Returns the reported total, otherwise the sum of the known parts. */
export const totalOf = ({ inputTokens, outputTokens, totalTokens }: ReportedUsage): number | undefined =>
  totalTokens ?? (inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens);
