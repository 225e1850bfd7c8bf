import type { Turn } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type { Exchange } from "../program/exchange.ts";
import { memoryOf } from "../program/memory.ts";
import type { TurnPrompt, TurnPrompts } from "./prompts.ts";
import { scoreOf, sessionTurn } from "./turns.ts";

/** A turn as a training example of its program: the inputs, the memory that it saw, and its outputs. Frozen. */
export interface ProgramExample<Inputs extends object = object, Result extends object = object> {
  readonly thread: string;
  readonly turn: number;
  readonly inputs: Inputs;
  readonly outputs: Result;
  /** The earlier turns exactly as the program saw them. Absent if it was not requested. */
  readonly history?: ExampleHistory;
  /** Null if the turn was never scored. */
  readonly score: number | null;
}

/** A program's view of the earlier turns. */
export interface ExampleHistory {
  readonly exchanges: readonly Omit<Exchange, "messages">[];
  /** The same as text, summaries included. */
  readonly text: string;
}

/** Examples, and the turns that are left out. */
export interface Examples<Inputs extends object = object, Result extends object = object> extends ReadonlyArray<
  ProgramExample<Inputs, Result>
> {
  /** Oldest first. */
  readonly leftOut: readonly LeftOut[];
}

/** The selection of turns, and of their content. */
export interface ExampleOptions {
  /** The lowest score of an example. Default: turns with any score, or none. */
  readonly minScore?: number;
  /** Leaves out all turns after one whose score is lower than `minScore`, or that has none. Default false. */
  readonly strict?: boolean;
  /** Whether examples contain the history that their programs saw. Default true. */
  readonly includeHistory?: boolean;
}

/** Returns the examples from the turns of a thread. */
export const examplesOf = (
  thread: string,
  turns: readonly Turn[],
  prompts: Pick<TurnPrompts, "of" | "isRedacted">,
  { minScore, strict = false, includeHistory = true }: ExampleOptions,
): Examples => {
  const examples: ProgramExample[] = [];
  const leftOut: LeftOut[] = [];
  let isBehindBadTurn = false;
  for (const turn of turns) {
    const { number, inputs, outputs, annotations } = sessionTurn(turn);
    const score = scoreOf({ annotations });
    const isBad = reasonOfScore(score, minScore);
    const { status } = turn.outcome;
    const failed = status === "completed" ? null : status;
    const because = failed ?? (prompts.isRedacted(turn) ? "redacted" : isBehindBadTurn ? "behindBadTurn" : isBad);
    if (strict && failed === null && isBad !== null) isBehindBadTurn = true;
    // The call of a program is one step.
    if (because !== null) leftOut.push({ thread, turn: number, step: 1, because, score });
    else {
      const history = includeHistory ? { history: historyOf(prompts.of(number)) } : {};
      examples.push({ thread, turn: number, inputs, outputs, score, ...history });
    }
  }
  return reported(examples, leftOut);
};

/** Joins the examples of several sessions, and the turns left out of them. */
export const mergeExamples = <Inputs extends object, Result extends object>(
  ...all: readonly Examples<Inputs, Result>[]
): Examples<Inputs, Result> =>
  reported(
    all.flatMap((examples) => [...examples]),
    all.flatMap(({ leftOut }) => leftOut),
  );

const reported = <Inputs extends object, Result extends object>(
  examples: readonly ProgramExample<Inputs, Result>[],
  leftOut: readonly LeftOut[],
): Examples<Inputs, Result> => {
  const all = Object.assign([...frozenCopy(examples)], { leftOut: frozenCopy(leftOut) });
  // Not enumerable, so that comparing the array or writing it as JSON covers only the examples.
  return Object.freeze(Object.defineProperty(all, "leftOut", { enumerable: false }));
};

const historyOf = (prompt: TurnPrompt | null): ExampleHistory => {
  const { exchanges, text } = prompt?.memory ?? memoryOf([]);
  return { exchanges: exchanges.map(({ turn, inputs, outputs }) => ({ turn, inputs, outputs })), text };
};

/** A turn or a model call without an example, or an example without a row. */
export interface LeftOut {
  /** The id of its thread, or the name of its journal. */
  readonly thread: string;
  readonly turn: number;
  /** The number of the step in its turn, from 1. */
  readonly step: number;
  readonly because: LeftOutBecause;
  /** The score of its turn; null if there is none. */
  readonly score: number | null;
}

/**
 * The reason for leaving it out:
 *
 * - `open`: its turn has not ended. `failed`, `cancelled`: its turn failed or was cancelled.
 * - `interrupted`: the reply ended early. `truncated`: a limit or a filter cut it off, or it was shortened afterwards.
 * - `synthesised`: the machine made the reply, or a part of its turn's prompt. `recovered`: a crash lost something in
 * its turn.
 * - `refused`: the reply was not the requested output. `redacted`: content was redacted.
 * - `unrecorded`: the sent prompt differs from the journal.
 * - `copied`: the thread from which it was forked, or another fork, contains it (or has redacted it).
 * - `undone`: its turn is off the path.
 * - `unscored`: it has no score, but one is required. `belowScore`: its score is too low. `behindBadTurn`: it follows
 * an unscored or low-scored turn, and the whole trajectory must be good.
 * - `untrained`: it was imported with the mark not to train it. `empty`: a message that needs content is empty.
 * - `continues`: the prompt ends with an assistant message, which templates join with the reply.
 * - `content`: the format does not support one of its parts.
 */
export type LeftOutBecause =
  | "open"
  | "failed"
  | "cancelled"
  | "interrupted"
  | "truncated"
  | "synthesised"
  | "recovered"
  | "refused"
  | "redacted"
  | "unrecorded"
  | "copied"
  | "undone"
  | "unscored"
  | "belowScore"
  | "behindBadTurn"
  | "untrained"
  | "empty"
  | "continues"
  | "content";

/** Returns why a score is not enough; null if it is, or none is required. */
export const reasonOfScore = (score: number | null, least: number | undefined): "unscored" | "belowScore" | null => {
  if (least === undefined) return null;
  return score === null ? "unscored" : score < least ? "belowScore" : null;
};
