import type { CallLlm, Failure, FailureKind, Json, ReportedUsage } from "@colloquy/machine";
import type { PromptView } from "./prompt-view.ts";

/** A model's behaviour in one call, made by `reply`, `toolCalls`, `streams`, `fails` and `never`. Plain data. */
export interface ScriptLine {
  /** The pieces to show, in this order. */
  readonly pieces: readonly Piece[];
  /** The end of the call; null if it never ends. */
  readonly ending: Ending | null;
  readonly expects?: PromptMatcher;
}

/** A piece of a reply, `delayMs` milliseconds after the one before (default 0: at once). */
export type Piece = { readonly delayMs?: number } & (
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly refusal: string }
  | { readonly toolCall: ToolCallScript }
);

export interface ToolCallScript {
  readonly name: string;
  /** A value to send as JSON, or the exact string, whatever it contains. */
  readonly arguments: Json;
  /** The provider's id; null for none. Default: a numbered one. */
  readonly id?: string | null;
}

export type Ending =
  | { readonly type: "completed"; readonly finishReason: string | null; readonly said: Said; readonly delayMs: number }
  | { readonly type: "failed"; readonly failure: Failure; readonly usage?: ReportedUsage; readonly delayMs: number };

/** The model's report on its reply. */
interface Said {
  readonly usage?: ReportedUsage;
  readonly model?: string;
  readonly responseId?: string;
}

/**
 * The condition on a call: the text of the newest message, a pattern in it, or a function. A function that throws (such
 * as a test's `expect`) or returns false does not match.
 */
export type PromptMatcher = string | RegExp | ((prompt: PromptView, call: CallLlm) => boolean | void);

interface LineOptions {
  /** Checked before the line is used. Default: any call. */
  readonly expects?: PromptMatcher;
  /** Milliseconds before the first piece, on the clock of the call. Default 0. */
  readonly delayMs?: number;
}

export interface CompletionOptions extends LineOptions, Said {
  /** The provider's finish reason, null for none. Default "tool_calls" if there are tool calls, otherwise "stop". */
  readonly finishReason?: string | null;
}

export interface ReplyOptions extends CompletionOptions {
  /** The pieces in which the text is streamed; joined they must be the text. Default: word by word. */
  readonly deltas?: readonly string[];
}

/** Answers with a text. */
export const reply = (text: string, options: ReplyOptions = {}): ScriptLine => {
  const deltas = options.deltas ?? wordsOf(text);
  if (deltas.join("") !== text) {
    throw new RangeError(
      `the deltas of a reply add up to ${JSON.stringify(deltas.join(""))} and not to ${JSON.stringify(text)}`,
    );
  }
  return completed(
    deltas.map((delta) => ({ text: delta })),
    options,
  );
};

/** Answers with tool calls, after the text in `content` if given. */
export const toolCalls = (
  calls: readonly ToolCallScript[],
  options: CompletionOptions & { readonly content?: string } = {},
): ScriptLine =>
  completed(
    [...wordsOf(options.content ?? "").map((text) => ({ text })), ...calls.map((toolCall) => ({ toolCall }))],
    options,
  );

/** Answers piece by piece; a bare string is text without delay. */
export const streams = (pieces: readonly (string | Piece)[], options: CompletionOptions = {}): ScriptLine =>
  completed(pieces.map(pieceOf), options);

/** A failure in a script. `retryable` defaults to the usual value of the kind. */
export type FailureScript = Pick<Failure, "kind"> & Partial<Failure>;

/** Fails, after showing `partial` if given. */
export const fails = (
  failure: FailureScript,
  options: LineOptions & {
    readonly partial?: string | readonly (string | Piece)[];
    readonly usage?: ReportedUsage;
  } = {},
): ScriptLine => {
  const { partial = [] } = options;
  const pieces = typeof partial === "string" ? wordsOf(partial).map(pieceOf) : partial.map(pieceOf);
  return lineOf(pieces, options, (delayMs) => ({
    type: "failed",
    failure: { message: `the script says: ${failure.kind}`, retryable: retryableKinds.has(failure.kind), ...failure },
    ...(options.usage === undefined ? {} : { usage: options.usage }),
    delayMs,
  }));
};

/** Shows `pieces`, if any, and then waits until the call is cancelled. */
export const never = (options: LineOptions & { readonly pieces?: readonly (string | Piece)[] } = {}): ScriptLine =>
  lineOf((options.pieces ?? []).map(pieceOf), options, () => null);

const retryableKinds: ReadonlySet<FailureKind> = new Set([
  "rate_limit",
  "overloaded",
  "timeout",
  "network",
  "truncated",
]);

const completed = (pieces: readonly Piece[], options: CompletionOptions): ScriptLine => {
  const calls = pieces.some((piece) => "toolCall" in piece);
  return lineOf(pieces, options, (delayMs) => ({
    type: "completed",
    finishReason: options.finishReason === undefined ? (calls ? "tool_calls" : "stop") : options.finishReason,
    said: {
      ...(options.usage === undefined ? {} : { usage: options.usage }),
      ...(options.model === undefined ? {} : { model: options.model }),
      ...(options.responseId === undefined ? {} : { responseId: options.responseId }),
    },
    delayMs,
  }));
};

/** Makes a line. Its delay applies before the first piece, or before the end if there is no piece. */
const lineOf = (
  pieces: readonly Piece[],
  { delayMs = 0, expects }: LineOptions,
  endingAfter: (delayMs: number) => Ending | null,
): ScriptLine => {
  for (const delay of [delayMs, ...pieces.map((piece) => piece.delayMs ?? 0)]) {
    if (!(delay >= 0)) throw new RangeError(`a delay of ${delay} ms: it must be 0 or more`);
  }
  const [first, ...rest] = pieces;
  return {
    pieces: first === undefined ? [] : [{ ...first, delayMs: (first.delayMs ?? 0) + delayMs }, ...rest],
    ending: endingAfter(first === undefined ? delayMs : 0),
    ...(expects === undefined ? {} : { expects }),
  };
};

const pieceOf = (piece: string | Piece): Piece => (typeof piece === "string" ? { text: piece } : piece);

/** Splits a text as a model would stream it: each word with the space after it. */
const wordsOf = (text: string): readonly string[] => text.match(/\s*\S+\s?|\s+/gu) ?? [];
