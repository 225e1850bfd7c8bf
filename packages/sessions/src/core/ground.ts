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

/** What a session runs on: a store, a host for its threads there, and hosts for the model calls within. */
export class Ground {
  readonly store: Store;
  readonly llm: LlmHandler | undefined;
  /** Of the session's own threads. */
  readonly host: Host;
  readonly options: AnyOptions;
  readonly #models = new Map<readonly Tool[], Host>();
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #done = new Map<string, Promise<void>>();
  readonly #underWay = new Map<string, Set<Promise<void>>>();

  constructor(options: AnyOptions, store: Store, llm: LlmHandler | undefined, host: Host) {
    this.options = options;
    this.store = store;
    this.llm = llm;
    this.host = host;
  }

  /** The host of model calls with some tools. @throws ConfigurationError where there is no model */
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

  /** Does something that needs to be done once in this process; again where it failed. */
  once(key: string, work: () => Promise<void>): Promise<void> {
    const done = this.#done.get(key) ?? work();
    this.#done.set(key, done);
    done.catch(() => this.#done.delete(key));
    return done;
  }

  /** Does what is to be done with a thread in the order in which it was asked for. */
  inOrder<Done>(threadId: string, work: () => Promise<Done>): Promise<Done> {
    const done = (this.#tails.get(threadId) ?? Promise.resolve()).then(work);
    const over = done.then(nothing, nothing).finally(() => {
      if (this.#tails.get(threadId) === over) this.#tails.delete(threadId);
    });
    this.#tails.set(threadId, over);
    return done;
  }

  /** Keeps count of a call that was made on a thread here. */
  track(threadId: string, call: PromiseLike<unknown>): void {
    const calls = this.#underWay.get(threadId) ?? new Set();
    this.#underWay.set(threadId, calls);
    const over = Promise.resolve(call)
      .then(nothing, nothing)
      .finally(() => {
        calls.delete(over);
        if (calls.size === 0) this.#underWay.delete(threadId);
      });
    calls.add(over);
  }

  /** When the calls that were made on a thread here have ended. */
  async settled(threadId: string): Promise<void> {
    const calls = this.#underWay.get(threadId);
    if (calls !== undefined) await Promise.all(calls);
  }

  /**
   * Begins a thread, unless it was begun before; false then. Where another host holds it, and it is not there yet, that one
   * may be about to begin it, or dead: its lease is waited for.
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

const nothing = (): void => {};
