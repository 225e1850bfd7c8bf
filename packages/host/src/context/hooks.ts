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
 * Functions that are called around the steps of a turn. They observe, and change nothing. A `before` hook is awaited
 * before the step is done. An `after` hook is called when the outcome is journalled, and is not awaited. After a
 * restart, the `before` hooks of everything that is done again are called again. If a hook throws, the error is
 * reported to `onObserverError`, and the step continues. Summaries are not steps of a turn: no hook is called for them;
 * their signals report them.
 */
export interface Hooks {
  /** Called before the first model call of a turn. */
  readonly beforeTurn?: (turn: TurnOpening) => void | Promise<void>;
  readonly afterTurn?: (turn: { readonly threadId: string; readonly turn: Turn }) => void | Promise<void>;
  /** Called before a model call, but not before its retries. */
  readonly beforeStep?: (call: CallLlm) => void | Promise<void>;
  /** Called after a model call and the tool calls that it asked for. */
  readonly afterStep?: (step: StepEnded) => void | Promise<void>;
  /**
   * Called before a tool runs; its arguments are not read yet. Not called before a call that must be approved first.
   */
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

/** The states around one entry, immutable. Turns closed long before are read from a snapshot when accessed. */
export interface StatesAround {
  /** Null before the first entry. */
  readonly before: State | null;
  readonly after: State;
}

/** Functions that are called with each event of a thread, in order, once journalled. Losing a call loses no data. */
export interface Observer {
  /** Called with each entry when it is stored, with the states before and after it. */
  readonly entry?: (entry: Entry, threadId: string, states: StatesAround) => void;
  readonly signal?: (signal: Signal, threadId: string) => void;
  /** Called when a tool call waits for approval, and again, with the same id, each time the thread is opened. */
  readonly approval?: (request: RequestApproval, threadId: string) => void;
  /** Called when a call of the caller's tools waits for its result, and again each time the thread is opened. */
  readonly callToAnswer?: (call: CallTool, threadId: string) => void;
  /** Called after the first look for threads that a dead process left, and after each that found something new. */
  readonly recovered?: (recovered: Recovered) => void;
}

/** The result of a look for threads that a dead process left. */
export interface Recovered {
  /** The ids of the threads that this host continues now. */
  readonly continued: readonly string[];
  /** Threads that it could not continue, because another host holds them, or they can't be read. */
  readonly left: readonly LeftThread[];
}

export interface LeftThread {
  readonly threadId: string;
  readonly error: Error;
}

/** Handles an error of an observer, a hook or a background task, named by `where`, such as `beforeStep`. */
export type ObserverErrorHandler = (error: unknown, where: string) => void;

/** Calls observers and hooks so that none of their errors does harm. */
export class Observation {
  readonly hooks: Hooks;
  /** Whether there is an observer. Otherwise a loop skips some twenty calls a turn. */
  readonly isObserved: boolean;
  readonly #observers: readonly Observer[];
  readonly #onError: ObserverErrorHandler | undefined;

  constructor(hooks: Hooks, observers: readonly Observer[], onError: ObserverErrorHandler | undefined) {
    this.hooks = hooks;
    this.isObserved = observers.length > 0;
    this.#observers = observers;
    this.#onError = onError;
  }

  entry(entry: Entry, threadId: string, states: StatesAround): void {
    this.#notify("entry", (observer) => observer.entry?.(entry, threadId, { ...states }));
  }

  signal(signal: Signal, threadId: string): void {
    this.#notify("signal", (observer) => observer.signal?.(signal, threadId));
  }

  approval(request: RequestApproval, threadId: string): void {
    this.#notify("approval", (observer) => observer.approval?.(request, threadId));
  }

  callToAnswer(call: CallTool, threadId: string): void {
    this.#notify("callToAnswer", (observer) => observer.callToAnswer?.(call, threadId));
  }

  recovered(recovered: Recovered): void {
    this.#notify("recovered", (observer) => observer.recovered?.(recovered));
  }

  /** Calls a `before` hook and waits for it. Never rejects. */
  async before<Name extends keyof Hooks>(name: Name, ...given: Parameters<NonNullable<Hooks[Name]>>): Promise<void> {
    try {
      // The name and its arguments belong together; TypeScript cannot follow that through an indexed union.
      await (this.hooks[name] as ((...given: unknown[]) => unknown) | undefined)?.(...given);
    } catch (thrown) {
      this.report(thrown, name);
    }
  }

  /** Calls an `after` hook, which is there, without waiting for it. */
  after<Name extends keyof Hooks>(name: Name, ...given: Parameters<NonNullable<Hooks[Name]>>): void {
    void this.before(name, ...given);
  }

  /** Reports an error. An error of the error handler itself is dropped. */
  report(thrown: unknown, where: string): void {
    // An async function fits a type that returns nothing.
    const pass = async (): Promise<unknown> => this.#onError?.(thrown, where);
    pass().catch(() => {});
  }

  #notify(name: keyof Observer, call: (observer: Observer) => unknown): void {
    for (const observer of this.#observers) {
      const failed = (thrown: unknown): void => this.report(thrown, `observer.${name}`);
      try {
        const called = call(observer);
        if (called instanceof Promise) called.catch(failed);
      } catch (thrown) {
        failed(thrown);
      }
    }
  }
}
