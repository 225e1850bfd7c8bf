import type { VirtualClock } from "@colloquy/runtime-test";
import type { ThreadHandlers } from "../../src/handlers.ts";
import type { Outcome } from "./promise.ts";

export type HandlerName = keyof ThreadHandlers;

/** Calls a handler of a worker; each makes its own sense of what it is given. */
export type Handle = (name: HandlerName, context: unknown, input: unknown) => Promise<unknown>;

/** One call of a handler, with the journal of what it did. */
export interface Invocation {
  readonly id: string;
  readonly key: string;
  readonly name: HandlerName;
  readonly input: string;
  /** What it did, in order; an attempt that does something else instead is no replay of those before. */
  readonly commands: string[];
  /** What it was told, in order. */
  readonly told: { readonly id: string; readonly outcome: Outcome<string | undefined> }[];
  /** The invocations that it called, by its commands. */
  readonly calls: Map<string, string>;
  readonly ended: PromiseWithResolvers<Outcome<string | undefined>>;
  stage: "waits" | "runs" | "over";
  attempt: RunningAttempt | null;
}

export interface VirtualWorker {
  handle: Handle;
  isUp: boolean;
  readonly attempts: Set<RunningAttempt>;
}

export interface RunningAttempt {
  readonly invocation: Invocation;
  readonly worker: VirtualWorker;
  readonly completed: AbortController;
  /** What it does is of no consequence any more, and nothing that it waits for comes. */
  isDead: boolean;
  wake(): void;
}

/** What an attempt asks of Restate. */
export interface Server {
  readonly clock: VirtualClock;
  /** What may never happen, and did. */
  readonly problems: string[];
  stateOf(key: string): Map<string, string>;
  send(key: string, name: HandlerName, input: unknown, delayMs?: number): Invocation;
  /** Does something after up to so many milliseconds. */
  later(mostMs: number, act: () => void): void;
  tell(invocationId: string, id: string, outcome: Outcome<string | undefined>): void;
  cancel(invocationId: string): void;
  end(invocation: Invocation, outcome: Outcome<string | undefined>): void;
  /** Whether an attempt dies here. */
  strikes(attempt: RunningAttempt): boolean;
  /** Has an attempt die within so many milliseconds, now and then. */
  mayStrikeWithin(ms: number, attempt: RunningAttempt): void;
}

/** The id of what tells an invocation that it is cancelled. */
export const cancelled = "cancelled";

export const valueIn = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
