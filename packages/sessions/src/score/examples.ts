import type { Turn } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type { Exchange } from "../program/exchange.ts";
import type { Memory } from "../program/memory.ts";
import { sessionTurn } from "../thread/turns.ts";
import { scoreOf } from "./score.ts";

/** A turn as something to learn from: what a program was given and saw, and what it made of it. Frozen. */
export interface Example<Inputs extends object = object, Result extends object = object> {
  readonly threadId: string;
  readonly turn: number;
  readonly inputs: Inputs;
  readonly outputs: Result;
  /** What the program saw of the turns before, exactly as it was then. Absent where it was not wanted. */
  readonly history?: ExampleHistory;
  /** Null where it was never scored. */
  readonly score: number | null;
}

/** What a program saw of the turns before. */
export interface ExampleHistory {
  readonly exchanges: readonly Omit<Exchange, "messages">[];
  /** The same as text, summaries included. */
  readonly text: string;
}

/** Examples, and the turns that are none. */
export interface Examples<Inputs extends object = object, Result extends object = object> extends ReadonlyArray<
  Example<Inputs, Result>
> {
  /** Oldest first. */
  readonly leftOut: readonly LeftOut[];
}

/** A turn that is no example. */
export interface LeftOut {
  readonly threadId: string;
  readonly turn: number;
  /**
   * `failed`: it has no outputs, since it failed or was cancelled. `redacted`: words of it were taken out. `unscored`: it
   * has no score, and one is asked for. `belowScore`: its score is lower than that. `behindBadTurn`: it comes after one of
   * these two, and the whole trajectory is to be good.
   */
  readonly because: "failed" | "redacted" | "unscored" | "belowScore" | "behindBadTurn";
  readonly score: number | null;
}

/** Which turns are examples, and what of them. */
export interface ExampleOptions {
  /** The score that an example has at least. Default: any, and none. */
  readonly minScore?: number;
  /** Leaves out all that comes after a turn whose score is lower than `minScore`, or that has none. Default false. */
  readonly strict?: boolean;
  /** Whether examples have the history that their programs saw. Default true. */
  readonly includeHistory?: boolean;
}

/** A turn of the path, and what the journal says of it. */
export interface ExampleSource {
  readonly turn: Turn;
  readonly isRedacted: boolean;
  readonly memory: () => Memory;
}

/** The examples that the turns of a thread are. */
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

/** All examples of several sessions, one after the other, and all that was left out of them. */
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
  // Whoever compares the array, or writes it as JSON, means the examples.
  return Object.freeze(Object.defineProperty(all, "leftOut", { enumerable: false }));
};

const historyOf = ({ exchanges, text }: Memory): ExampleHistory => ({
  exchanges: exchanges.map(({ turn, inputs, outputs }) => ({ turn, inputs, outputs })),
  text,
});
