import type { VirtualClock } from "@colloquy/runtime-test";
import type { ThreadHandlers } from "../../src/handlers.ts";
import type { Outcome } from "./promise.ts";

export type HandlerName = keyof ThreadHandlers;

/** Calls a handler of a worker, which parses the request. */
export type Handle = (name: HandlerName, context: unknown, input: unknown) => Promise<unknown>;

/** One call of a handler, with the journal of its commands. */
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
  /** Its commands no longer count, and it gets no more notifications. */
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
  /** Acts after at most `mostMs` milliseconds. */
  later(mostMs: number, act: () => void): void;
  tell(invocationId: string, id: string, outcome: Outcome<string | undefined>): void;
  cancel(invocationId: string): void;
  end(invocation: Invocation, outcome: Outcome<string | undefined>): void;
  /** Returns true if an attempt dies here. */
  strikes(attempt: RunningAttempt): boolean;
  /** Sometimes lets an attempt die within some milliseconds. */
  mayStrikeWithin(ms: number, attempt: RunningAttempt): void;
}

/** The id of a cancellation's notification. */
export const cancelled = "cancelled";

export const valueIn = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
