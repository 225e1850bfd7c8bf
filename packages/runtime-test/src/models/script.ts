import type { CallLlm, Failure, FailureKind, Json, ReportedUsage } from "@colloquy/machine";
import type { PromptView } from "./prompt-view.ts";

/** What a model does when it is called: made by `reply`, `toolCalls`, `streams`, `fails` and `never`. Plain data. */
export interface ScriptLine {
  /** What it shows, in this order. */
  readonly pieces: readonly Piece[];
  /** How it ends; null for never. */
  readonly ending: Ending | null;
  readonly expects?: PromptMatcher;
}

/** A piece of a reply, `delayMs` after the one before (default 0: at once). */
export type Piece = { readonly delayMs?: number } & (
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly refusal: string }
  | { readonly toolCall: ToolCallScript }
);

export interface ToolCallScript {
  readonly name: string;
  /** A value, sent as its JSON; or the exact string, whatever is in it. */
  readonly arguments: Json;
  /** The provider's id; null for none. Default: a counted one. */
  readonly id?: string | null;
}

export type Ending =
  | { readonly type: "completed"; readonly finishReason: string | null; readonly said: Said; readonly delayMs: number }
  | { readonly type: "failed"; readonly failure: Failure; readonly usage?: ReportedUsage; readonly delayMs: number };

/** What a model says about its reply. */
interface Said {
  readonly usage?: ReportedUsage;
  readonly model?: string;
  readonly responseId?: string;
}

/**
 * What a call must look like: the text of the newest message, a pattern in it, or a function. A function that
 * throws (an `expect` of a test) or gives false does not match.
 */
export type PromptMatcher = string | RegExp | ((prompt: PromptView, call: CallLlm) => boolean | void);

interface LineOptions {
  /** Checked before the line is used. Default: any call. */
  readonly expects?: PromptMatcher;
  /** Milliseconds before the first piece, on the clock of the call. Default 0. */
  readonly delayMs?: number;
}

export interface CompletionOptions extends LineOptions, Said {
  /** The provider's word for why it ended, null for none. Default "tool_calls" when there are any, else "stop". */
  readonly finishReason?: string | null;
}

export interface ReplyOptions extends CompletionOptions {
  /** How the text is streamed: the pieces themselves, which must add up to it. Default: word by word. */
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

/** Answers with tool calls, and with a text before them if `content` says so. */
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

/** A failure as a script says it: `retryable` as real ones of the kind are, if left out. */
export type FailureScript = Pick<Failure, "kind"> & Partial<Failure>;

/** Fails, after having shown `partial` if that is given. */
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

/** Shows `pieces`, if any, and then nothing more, until the call is cancelled. */
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

/** The line's delay comes before its first piece, or before its end if it has none. */
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

/** A text as a model would stream it: each word with the space after it. */
const wordsOf = (text: string): readonly string[] => text.match(/\s*\S+\s?|\s+/gu) ?? [];
