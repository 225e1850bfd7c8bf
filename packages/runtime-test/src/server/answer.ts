import type { ServerResponse } from "node:http";
import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import type { Failure, Json, JsonObject, Message, ReplyDraft, ReportedUsage } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";
import type { WireError } from "./wire-error.ts";

/** One of the protocols that the server speaks. */
export interface Dialect {
  /** What stands before the number in the id of an answer. */
  readonly idPrefix: string;
  /** The beginning of a whole answer that breaks off. */
  readonly half: (id: string) => string;
  /** The request in a body, or the error with which the real server would refuse it: the first one found. */
  readonly read: (text: string) => Either.Either<WireError, Request>;
}

/** A request, and how it wants its answer. */
export interface Request {
  readonly model: string;
  readonly messages: readonly Message[];
  /** All fields beside the model, the messages and the way of the answer, as they came. */
  readonly parameters: JsonObject;
  /** The body of an answer that is not streamed. */
  readonly whole: (head: AnswerHead, outcome: Completed) => JsonObject;
  /** Null for a request that wants its answer whole. */
  readonly stream: ((response: ServerResponse, head: AnswerHead) => AnswerStream) | null;
}

/** What all parts of one answer say about it. */
export interface AnswerHead {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
}

/** An answer as server-sent events. Nothing is sent, headers included, before the first piece is there. */
export interface AnswerStream {
  /** Whether anything was sent. */
  readonly started: () => boolean;
  readonly send: (delta: LlmDelta) => void;
  /** Sends what was not shown of the reply, and how it ended. */
  readonly complete: (outcome: Completed) => void;
  /** Ends as a real stream does that fails half way: with an error among the events, or with nothing. */
  readonly fail: (failure: Failure) => void;
}

export type Completed = Extract<LlmOutcome, { readonly type: "completed" }>;

/** The head, with what the outcome says of itself in its place. */
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

/** A reply in as few pieces as can be, for a model that shows nothing before it is done. */
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

/** What of a reply was sent so far, to know what is left of it when it is done. */
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

/** Arguments come in pieces of a token or so, none of which ends within a character. */
export const argumentPieces = (written: string): readonly string[] => written.match(/[\s\S]{1,12}/gu) ?? [];

/** Begins a stream of events. */
export const startEvents = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
};

/** Ends a stream that failed: with `error` among the events where a server would have sent one. */
export const endFailed = (response: ServerResponse, { kind }: Failure, error: () => string): void => {
  // What was shown is still on its way out: it goes first.
  if (kind === "network") response.write("", () => response.destroy());
  else if (kind === "truncated") response.end();
  else response.end(error());
};

/** A member with a value that is known. */
export const given = (name: string, value: Json | undefined): JsonObject =>
  value === undefined ? {} : { [name]: value };

/** The total as reported, else what is known to sum up to it. */
export const totalOf = ({ inputTokens, outputTokens, totalTokens }: ReportedUsage): number | undefined =>
  totalTokens ?? (inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens);
