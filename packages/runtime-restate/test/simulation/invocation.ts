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
  /** The commands of the invocation, in order; an attempt with another command does not replay those before. */
  readonly commands: string[];
  /** The notifications to the invocation, in order. */
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
  /** Its commands do not count any more, and nothing that it waits for arrives. */
  isDead: boolean;
  wake(): void;
}

/** The requests of an attempt to Restate. */
export interface Server {
  readonly clock: VirtualClock;
  /** The impossible events that happened. */
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
