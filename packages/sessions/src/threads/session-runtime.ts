import {
  type Host,
  type HostedThread,
  type LlmHandler,
  type Store,
  type ThreadDefaults,
  ThreadExistsError,
  ThreadHeldError,
  type Tool,
} from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import { createHost, systemClock } from "@colloquy/runtime-node";
import type { AnyOptions } from "./options.ts";
import type { CallPart } from "../program/program.ts";

/** A store with the host of a session's threads there, and the hosts of the nested model calls. */
export class SessionRuntime {
  readonly store: Store;
  readonly llm: LlmHandler | undefined;
  /** The host of the session's own threads. */
  readonly host: Host;
  readonly options: AnyOptions;
  /** The work on each thread, in the order of its requests. */
  readonly lanes: Lanes = new Lanes();
  readonly #models = new Map<readonly Tool[], Host>();
  readonly #done = new Map<string, Promise<void>>();
  readonly #calls = new Lanes();

  constructor(options: AnyOptions, store: Store, llm: LlmHandler | undefined, host: Host) {
    this.options = options;
    this.store = store;
    this.llm = llm;
    this.host = host;
  }

  /** Returns the host of model calls with these tools. @throws ConfigurationError if there is no model */
  models(tools: readonly Tool[] = this.options.tools ?? noTools): Host {
    const { llm, store } = this;
    if (llm === undefined)
      throw new ConfigurationError(
        `the program "${this.options.name}" calls a model, and its session has none; give session the option llm`,
      );
    const host = this.#models.get(tools) ?? createHost({ ...this.options.host, recovery: false, llm, store, tools });
    this.#models.set(tools, host);
    return host;
  }

  /** Does the work of a key once in this process; again at the next call if it failed. */
  once(key: string, work: () => Promise<void>): Promise<void> {
    const done = this.#done.get(key) ?? work();
    this.#done.set(key, done);
    done.catch(() => this.#done.delete(key));
    return done;
  }

  /** Tracks a call on a thread of this process. */
  track(threadId: string, call: PromiseLike<unknown>): void {
    this.#calls.run(threadId, async () => call).catch(ignore);
  }

  /** Resolves when the tracked calls on a thread have ended. */
  settled(threadId: string): Promise<void> {
    return this.#calls.run(threadId, async () => {});
  }

  /**
   * Begins a thread. Returns false if it exists already. If another host holds the lease of a thread that does not
   * exist, waits for the lease: that host may be about to begin the thread, or may be dead.
   */
  async begin(thread: HostedThread, beginning: ThreadDefaults): Promise<boolean> {
    for (;;) {
      try {
        await thread.start(beginning);
        return true;
      } catch (thrown) {
        if (thrown instanceof ThreadExistsError) return false;
        if (!(thrown instanceof ThreadHeldError)) throw thrown;
      }
      if ((await thread.state()) !== null) return false;
      const { clock = systemClock, pollMs = 200 } = this.options.host ?? {};
      await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + pollMs, resolve));
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.host, ...this.#models.values()].map((host) => host.close()));
  }
}

const noTools: readonly Tool[] = [];

/** A queue of work for each name: work of the same name runs one after the other. */
export class Lanes {
  readonly #last = new Map<string, Promise<void>>();

  run<Done>(name: string, work: () => Promise<Done>): Promise<Done> {
    const done = (this.#last.get(name) ?? Promise.resolve()).then(work);
    const over = done.then(ignore, ignore).finally(() => {
      if (this.#last.get(name) === over) this.#last.delete(name);
    });
    this.#last.set(name, over);
    return done;
  }
}

const ignore = (): void => {};

/** A call for which a caller in this process waits. */
export interface WaitingCall {
  show(part: CallPart): void;
  /** Returns whether a run of that session waits for it. */
  isWithin(session: object): boolean;
  /** Makes the call reject with exactly this error of the program. */
  threw(error: unknown): void;
  /** Delays the call until this promise resolves; it must never reject. */
  after(done: Promise<void>): void;
}

/** The waiting calls of this process, by thread and ask. */
export class WaitingCalls {
  readonly #calls = new Map<string, Set<WaitingCall>>();

  /** @returns the function that removes the call. */
  add(threadId: string, askId: string, call: WaitingCall): () => void {
    const key = keyOf(threadId, askId);
    const calls = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, calls.add(call));
    return () => {
      calls.delete(call);
      if (calls.size === 0) this.#calls.delete(key);
    };
  }

  of(threadId: string, askId: string | undefined): readonly WaitingCall[] {
    return askId === undefined ? [] : [...(this.#calls.get(keyOf(threadId, askId)) ?? [])];
  }
}

const keyOf = (threadId: string, askId: string): string => JSON.stringify([threadId, askId]);
