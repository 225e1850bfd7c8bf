import type {
  CallLlm,
  CallTool,
  Entry,
  RequestApproval,
  Signal,
  State,
  ToolCompleted,
  ToolFailed,
  Turn,
} from "@colloquy/machine";

/**
 * Functions around what happens. They look, and change nothing. A `before` hook is awaited before the thing is
 * done; an `after` hook is called when its outcome is journalled, and not waited for. After a restart the `before`
 * hooks of what is done again are called again. One that throws is reported to `onObserverError`, and what it
 * stood before goes on. Summaries are no steps of a turn: no hook is called for them; their signals report them.
 */
export interface Hooks {
  /** Before the first model call of a turn. */
  readonly beforeTurn?: (turn: TurnOpening) => void | Promise<void>;
  readonly afterTurn?: (turn: { readonly threadId: string; readonly turn: Turn }) => void | Promise<void>;
  /** Before a model call, retries not counted. */
  readonly beforeStep?: (call: CallLlm) => void | Promise<void>;
  /** After a model call and the tool calls that it asked for. */
  readonly afterStep?: (step: StepEnded) => void | Promise<void>;
  /** Before a tool runs; its arguments are not read yet. Not before one that is to be approved first. */
  readonly beforeToolCall?: (call: CallTool) => void | Promise<void>;
  readonly afterToolCall?: (call: CallTool, outcome: ToolCompleted | ToolFailed) => void | Promise<void>;
}

export interface TurnOpening {
  readonly threadId: string;
  readonly turn: number;
}

export interface StepEnded {
  readonly threadId: string;
  readonly turn: number;
  readonly step: number;
}

/** The states of a thread around one entry, immutable. Turns that were closed long before may stand in a snapshot that is read when they are looked at. */
export interface StatesAround {
  /** Null before the first entry. */
  readonly before: State | null;
  readonly after: State;
}

/** Called with what happened, in order, after it is journalled. Losing a call loses nothing. */
export interface Observer {
  /** Each entry, when it is stored, with the states on both sides of it. */
  readonly entry?: (entry: Entry, threadId: string, states: StatesAround) => void;
  readonly signal?: (signal: Signal, threadId: string) => void;
  /** A tool call waits for approval. Called again, under the same id, each time that the thread is opened and it still waits. */
  readonly approval?: (request: RequestApproval, threadId: string) => void;
  /** A call of a tool of the caller waits for its result. Called again, with the same call, each time that the thread is opened and it still waits. */
  readonly callToAnswer?: (call: CallTool, threadId: string) => void;
  /** The host has looked for threads that a dead process left: after the first look, and after each later one that continued a thread. */
  readonly recovered?: (recovered: Recovered) => void;
}

/** What came of a look for threads that a dead process left. */
export interface Recovered {
  /** The ids of the threads that this host continues now. */
  readonly continued: readonly string[];
  /** Threads with something outstanding that it could not take, mostly because another host holds them. They are tried again. */
  readonly left: readonly LeftThread[];
}

export interface LeftThread {
  readonly threadId: string;
  readonly error: Error;
}

/** Where an observer or a hook failed: its name, such as `beforeStep`; or what the host did in the background. */
export type ObserverErrorHandler = (error: unknown, where: string) => void;

/** Calls observers and hooks so that none of them can do harm. */
export class Observation {
  readonly hooks: Hooks;
  readonly #observers: readonly Observer[];
  readonly #onError: ObserverErrorHandler | undefined;

  constructor(hooks: Hooks, observers: readonly Observer[], onError: ObserverErrorHandler | undefined) {
    this.hooks = hooks;
    this.#observers = observers;
    this.#onError = onError;
  }

  entry(entry: Entry, threadId: string, states: StatesAround): void {
    for (const observer of this.#observers)
      this.#guard("observer.entry", () => observer.entry?.(entry, threadId, { ...states }));
  }

  signal(signal: Signal, threadId: string): void {
    for (const observer of this.#observers) this.#guard("observer.signal", () => observer.signal?.(signal, threadId));
  }

  approval(request: RequestApproval, threadId: string): void {
    for (const observer of this.#observers)
      this.#guard("observer.approval", () => observer.approval?.(request, threadId));
  }

  callToAnswer(call: CallTool, threadId: string): void {
    for (const observer of this.#observers)
      this.#guard("observer.callToAnswer", () => observer.callToAnswer?.(call, threadId));
  }

  recovered(recovered: Recovered): void {
    for (const observer of this.#observers) this.#guard("observer.recovered", () => observer.recovered?.(recovered));
  }

  /** Calls a `before` hook and waits for it. Never rejects. */
  async before<Name extends keyof Hooks>(name: Name, ...given: Parameters<NonNullable<Hooks[Name]>>): Promise<void> {
    try {
      // The name and what is given belong together; TypeScript can't follow that through an indexed union.
      await (this.hooks[name] as ((...given: unknown[]) => unknown) | undefined)?.(...given);
    } catch (thrown) {
      this.report(thrown, name);
    }
  }

  /** Calls an `after` hook and goes on. */
  after<Name extends keyof Hooks>(name: Name, ...given: Parameters<NonNullable<Hooks[Name]>>): void {
    if (this.hooks[name] !== undefined) void this.before(name, ...given);
  }

  report(error: unknown, where: string): void {
    void this.#pass(error, where);
  }

  /** Never rejects: what the error handler itself throws is dropped. */
  async #pass(error: unknown, where: string): Promise<void> {
    try {
      // An async function fits a type that returns nothing.
      await (this.#onError?.(error, where) as unknown);
    } catch {}
  }

  #guard(where: string, call: () => unknown): void {
    try {
      const called = call();
      if (called instanceof Promise) called.catch((thrown: unknown) => this.report(thrown, where));
    } catch (thrown) {
      this.report(thrown, where);
    }
  }
}
