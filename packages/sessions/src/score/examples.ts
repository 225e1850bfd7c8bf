import type { Turn } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type { Exchange } from "../program/exchange.ts";
import type { Memory } from "../program/memory.ts";
import { sessionTurn } from "../thread/turns.ts";
import { scoreOf } from "./score.ts";

/** A turn as a training example: the program's inputs, the memory that it saw, and its outputs. Frozen. */
export interface Example<Inputs extends object = object, Result extends object = object> {
  readonly threadId: string;
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
  Example<Inputs, Result>
> {
  /** Oldest first. */
  readonly leftOut: readonly LeftOut[];
}

/** A turn that is not an example. */
export interface LeftOut {
  readonly threadId: string;
  readonly turn: number;
  /**
   * `failed`: it has no outputs, since it failed or was cancelled. `redacted`: some of its content was redacted.
   * `unscored`: it has no score, but one is required. `belowScore`: its score is too low. `behindBadTurn`: it follows
   * an unscored or low-scored turn, and the whole trajectory must be good.
   */
  readonly because: "failed" | "redacted" | "unscored" | "belowScore" | "behindBadTurn";
  readonly score: number | null;
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

/** A turn of the path, and its data from the journal. */
export interface ExampleSource {
  readonly turn: Turn;
  readonly isRedacted: boolean;
  readonly memory: () => Memory;
}

/** Returns the examples from the turns of a thread. */
export const examplesOf = (
  threadId: string,
  sources: readonly ExampleSource[],
  { minScore, strict = false, includeHistory = true }: ExampleOptions,
): Examples => {
  const examples: Example[] = [];
  const leftOut: LeftOut[] = [];
  let isBehindBadTurn = false;
  for (const { turn, isRedacted, memory } of sources) {
    const { number, inputs, outputs, annotations } = sessionTurn(turn);
    const score = scoreOf({ annotations });
    const isBad = minScore === undefined ? null : score === null ? "unscored" : score < minScore ? "belowScore" : null;
    const failed = turn.outcome.status === "completed" ? null : "failed";
    const because = failed ?? (isRedacted ? "redacted" : isBehindBadTurn ? "behindBadTurn" : isBad);
    if (strict && failed === null && isBad !== null) isBehindBadTurn = true;
    const example = { threadId, turn: number, inputs, outputs, score };
    if (because !== null) leftOut.push({ threadId, turn: number, because, score });
    else examples.push(includeHistory ? { ...example, history: historyOf(memory()) } : example);
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
  examples: readonly Example<Inputs, Result>[],
  leftOut: readonly LeftOut[],
): Examples<Inputs, Result> => {
  const all = Object.assign([...frozenCopy(examples)], { leftOut: frozenCopy(leftOut) });
  // Not enumerable, so that comparing the array or writing it as JSON covers only the examples.
  return Object.freeze(Object.defineProperty(all, "leftOut", { enumerable: false }));
};

const historyOf = ({ exchanges, text }: Memory): ExampleHistory => ({
  exchanges: exchanges.map(({ turn, inputs, outputs }) => ({ turn, inputs, outputs })),
  text,
});
