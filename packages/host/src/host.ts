import type { ConversationMachine } from "@colloquy/machine";
import { ConfigurationError, toolsOf } from "@colloquy/machine";
import type { AskHandle } from "./ask/ask.ts";
import type { Equipment, ThreadDefaults } from "./equipment.ts";
import { Observation } from "./hooks.ts";
import type { Hooks, Observer, ObserverErrorHandler } from "./hooks.ts";
import { HostedThread } from "./hosted-thread.ts";
import type { AskInput, AskOptions, Loops } from "./hosted-thread.ts";
import type { Clock } from "./ports/clock.ts";
import type { Ids } from "./ports/ids.ts";
import type { LlmHandler } from "./ports/llm.ts";
import type { Store } from "./ports/store.ts";
import { ThreadLoop } from "./thread/loop.ts";
import { toolRegistry } from "./tools/registry.ts";
import type { Tool, ToolContext } from "./tools/tool.ts";

/** What a host is made from. */
export interface HostOptions {
  readonly machine: ConversationMachine;
  readonly store: Store;
  readonly llm: LlmHandler;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The functions of the tools that the machine declares: all of them, and no others. Default: none. */
  readonly tools?: readonly Tool[];
  /** What every tool gets; an ask may lay its own over it. Never journalled. Default {}. */
  readonly toolContext?: ToolContext;
  /** What a thread begins with that is made by its first ask. Default: nothing. */
  readonly thread?: ThreadDefaults;
  readonly hooks?: Hooks;
  readonly observers?: readonly Observer[];
  /** Told when a hook, an observer, or something in the background failed. Default: nobody is told. */
  readonly onObserverError?: ObserverErrorHandler;
  /** The thread of asks that name none. Default `default`. */
  readonly defaultThread?: string;
  /** How long a thread stays held after this process died, in milliseconds. Default 30,000. */
  readonly leaseTtlMs?: number;
  /** How long a thread on which nothing happens stays open, and held, in milliseconds. Shorter where several hosts share threads; each opening reads the journal. Default 5,000. */
  readonly idleMs?: number;
  /** Under which name leases are taken. Default: drawn, so that no two hosts have the same. */
  readonly owner?: string;
}

/** Conversations that are run. */
export interface Host {
  /** Asks on a thread: the one named, a `"new"` one, or the default one. See `HostedThread.ask`. */
  ask(input: AskInput, options?: AskOptions & { readonly threadId?: string }): AskHandle;
  /** A thread by its id, whether it is there yet or not; `"new"` draws an id. Default: the default thread. */
  thread(threadId?: string): HostedThread;
  /** Lets go of all threads, as `HostedThread.close` does, when what is being stored is stored. To end turns first, await or abort their asks. */
  close(): Promise<void>;
}

/**
 * Makes a host: for each thread that is used, the one loop that takes events, journals them, and performs what the
 * machine wants done.
 *
 * @throws ConfigurationError when the tools are not those that the machine declares, or an option can't be meant.
 */
export const createHost = (options: HostOptions): Host => new ConversationHost(options);

class ConversationHost implements Host, Loops {
  readonly #equipment: Equipment;
  readonly #ids: Ids;
  readonly #defaultThread: string;
  readonly #loops = new Map<string, ThreadLoop>();
  /** Of threads that are being let go: when that is done. */
  readonly #closing = new Map<string, Promise<void>>();
  #closed = false;

  constructor(options: HostOptions) {
    this.#equipment = equipmentOf(options);
    this.#ids = options.ids;
    this.#defaultThread = options.defaultThread ?? "default";
  }

  ask(input: AskInput, { threadId, ...options }: AskOptions & { readonly threadId?: string } = {}): AskHandle {
    return this.thread(threadId).ask(input, options);
  }

  thread(threadId: string = this.#defaultThread): HostedThread {
    const id = threadId === "new" ? this.#ids.draw("thread") : threadId;
    if (id === "") throw new ConfigurationError('a thread needs an id that is not empty; "new" draws one');
    return new HostedThread(id, this.#equipment, this.#ids, this);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const loop of this.#loops.values()) void loop.close();
    await Promise.all(this.#closing.values());
  }

  use(threadId: string): ThreadLoop | null {
    const known = this.#loops.get(threadId);
    if (known !== undefined) return known;
    if (this.#closed) return null;
    const loop = new ThreadLoop(threadId, this.#equipment, this.#closing.get(threadId), this.#forget);
    this.#loops.set(threadId, loop);
    return loop;
  }

  opened(threadId: string): ThreadLoop | undefined {
    return this.#loops.get(threadId);
  }

  readonly #forget = (loop: ThreadLoop): void => {
    const { threadId, released } = loop;
    this.#loops.delete(threadId);
    const closing = released.finally(() => {
      if (this.#closing.get(threadId) === closing) this.#closing.delete(threadId);
    });
    this.#closing.set(threadId, closing);
  };
}

const equipmentOf = (options: HostOptions): Equipment => {
  const { machine, store, llm, clock, ids, leaseTtlMs = 30_000, idleMs = 5_000 } = options;
  for (const [name, value] of Object.entries({ leaseTtlMs, idleMs })) {
    if (!(Number.isSafeInteger(value) && value >= (name === "idleMs" ? 0 : 3))) {
      throw new ConfigurationError(
        `${name} is ${value}; it must be a whole number of milliseconds, 0 or more (a lease 3 or more)`,
      );
    }
  }
  return {
    machine,
    store,
    llm,
    clock,
    leaseTtlMs,
    idleMs,
    tools: toolRegistry(options.tools ?? [], toolsOf(machine)),
    observation: new Observation(options.hooks ?? {}, options.observers ?? [], options.onObserverError),
    toolContext: options.toolContext ?? {},
    threadDefaults: options.thread ?? {},
    owner: options.owner ?? ids.draw("owner"),
  };
};
