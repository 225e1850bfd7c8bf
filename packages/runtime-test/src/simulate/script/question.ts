import {
  type AskHandle,
  type AskInput,
  AskRefusedError,
  type AskResult,
  AskReturnedError,
  AskSupersededError,
  ContextUnfitError,
  LimitReachedError,
  OutputError,
  type OutputOptions,
  type StandardSchema,
  StoreError,
  ThreadClosedError,
  ThreadHeldError,
  ThreadUnknownError,
  TurnCancelledError,
  TurnFailedError,
} from "@colloquy/host";
import { LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import type { AskAction } from "./script.ts";

/** A question of a user, repeated until it is answered. */
export interface Question extends How {
  readonly askId: string;
  readonly input: AskInput;
  handle: AskHandle | null;
  end: AskEnd | null;
  tries: number;
  /** Whether it was asked on a host that may not hold the thread. */
  mayBeInboxItem: boolean;
}

export interface How extends Pick<AskAction, "limits" | "overlap" | "from" | "tools" | "output"> {
  /** Whether it is only for the open turn. */
  readonly steers?: boolean;
}

export type AskEnd =
  | AskResult
  | TurnFailedError
  | LimitReachedError
  | ContextUnfitError
  | OutputError
  | TurnCancelledError
  | AskSupersededError
  | AskReturnedError
  | AskRefusedError
  /** The ask was to open its turn after another, and nothing was asked before it. */
  | ThreadUnknownError;

/** Returns whether an error leaves the outcome open; asking again may help. */
export const isPassing = (error: unknown): boolean => passing.some((kind) => error instanceof kind);

const passing = [ThreadHeldError, ThreadClosedError, LeaseLostError, SequenceConflictError, StoreError];

export const isEnd = (end: unknown): end is AskEnd =>
  end instanceof TurnFailedError ||
  end instanceof LimitReachedError ||
  end instanceof ContextUnfitError ||
  end instanceof OutputError ||
  end instanceof TurnCancelledError ||
  end instanceof AskSupersededError ||
  end instanceof AskReturnedError ||
  end instanceof AskRefusedError ||
  end instanceof ThreadUnknownError ||
  (typeof end === "object" && end !== null && "status" in end && end.status === "completed");

export const inWords = (end: unknown): string => {
  if (end instanceof Error) return `${end.name}: ${end.message}`;
  return typeof end === "object" && end !== null && "text" in end ? JSON.stringify(end.text) : String(end);
};

/** The result of the simulated output's schema for an answer. Only the schema makes one. */
export class SimulatedOutput {
  readonly even: number;

  constructor(even: number) {
    this.even = even;
    Object.freeze(this);
  }
}

/** Returns the options of an even number as output, of which the JSON Schema says only that it is a number. */
export const simulatedOutput = (repairs: number): OutputOptions<StandardSchema<unknown, SimulatedOutput>> => ({
  schema: {
    "~standard": {
      version: 1,
      vendor: "simulated",
      validate: (value) => {
        const even = numberIn(value);
        return even !== null && even % 2 === 0
          ? { value: new SimulatedOutput(even) }
          : { issues: [{ message: "expected an even number", path: ["even"] }] };
      },
      jsonSchema: {
        input: () => ({ type: "object", properties: { even: { type: "number" } }, required: ["even"] }),
      },
    },
  },
  name: "even",
  repairs,
});

const numberIn = (value: unknown): number | null =>
  typeof value === "object" && value !== null && "even" in value && typeof value.even === "number" ? value.even : null;
