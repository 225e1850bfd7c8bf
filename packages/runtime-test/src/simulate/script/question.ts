import {
  type AskHandle,
  type AskInput,
  AskRefusedError,
  AskReturnedError,
  type AskResult,
  AskSupersededError,
  ContextUnfitError,
  LimitReachedError,
  OutputError,
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
  /** The handle to its ask, while there is one. */
  handle: AskHandle | null;
  end: AskEnd | null;
  tries: number;
  /** Whether it was asked on a host that may not hold the thread. */
  mayBeInboxItem: boolean;
}

/** The options of a simulated ask. */
export interface How extends Pick<AskAction, "limits" | "overlap" | "from" | "tools" | "output"> {
  /** Whether it is only for the open turn. */
  readonly steers?: boolean;
}

/** The outcome of an ask. */
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
export const isPassing = (error: unknown): boolean =>
  error instanceof ThreadHeldError ||
  error instanceof ThreadClosedError ||
  error instanceof LeaseLostError ||
  error instanceof SequenceConflictError ||
  error instanceof StoreError;

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

/** Describes an outcome for the trace. */
export const inWords = (end: unknown): string => {
  if (end instanceof Error) return `${end.name}: ${end.message}`;
  return typeof end === "object" && end !== null && "text" in end ? JSON.stringify(end.text) : String(end);
};
