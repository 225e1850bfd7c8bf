/// <reference lib="esnext.disposable" preserve="true" />
import type { ConversationMachine, Entry, State } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { type AskInput, type AskOptions, askOptionNames } from "./ask/ask-event.ts";
import type { AskHandle } from "./ask/ask-handle.ts";
import type { Ask } from "./ask/ask.ts";
import { ImportRefusedError, SearchUnavailableError, ThreadClosedError, ThreadExistsError } from "./boundary/errors.ts";
import { problemOfOptions } from "./boundary/option-names.ts";
import type { HostContext, ThreadDefaults } from "./context/host-context.ts";
import { lookAt } from "./journal/opening.ts";
import { ThreadLoop } from "./loop/loop.ts";
import { memoryStore } from "./memory-store/memory-store.ts";
import { hostContextOf, type HostOptions, type ImportOptions, importOptionNames } from "./options.ts";
import type { OutputOf, OutputSchema, WrittenOf } from "./output/expected.ts";
import type { ListOptions, ThreadPage } from "./ports/listing.ts";
import type { SearchOptions, SearchPage } from "./ports/searching.ts";
import { handleTo, refusedAsk } from "./thread/asking.ts";
import { HostedThread } from "./thread/hosted-thread.ts";
import {
  type ForeignConversation,
  importedJournal,
  journalOfTurns,
  storeJournal,
  threadIdIn,
} from "./thread/import.ts";
import { Recovery } from "./thread/recovery.ts";
import { type Loops, threadIdOf, type ThreadRef } from "./thread/thread-ref.ts";

/** Conversations that are run. */
export interface Host extends AsyncDisposable {
  /** What a thread begins with that is made by its first ask, as the option `thread` says. */
  readonly threadDefaults: ThreadDefaults;
  /** What decides about its threads. */
  readonly machine: ConversationMachine;
  /** Asks on a thread: the one named, a `"new"` one, or the default one. See `HostedThread.ask`. */
  ask<Schema extends OutputSchema = never>(
    input: AskInput,
    options?: AskOptions<Schema> & { readonly threadId?: string },
  ): AskHandle<OutputOf<Schema>, WrittenOf<Schema>>;
  /** A thread by its id, whether it is there yet or not; `"new"` draws an id. Default: the default thread. */
  thread(threadId?: string): HostedThread;
  /** The threads that the store has, page by page, in the order of their making. */
  threads(options?: ListOptions): Promise<ThreadPage>;
  /** Entries in which all of the words were said. Rejects with `SearchUnavailableError` where the store can't search. */
  search(words: string, options?: SearchOptions): Promise<SearchPage>;
  /**
   * Makes a thread from a journal that was exported, whole and as it was: what was under way goes on when the thread is
   * used. It is read before it is believed: `ImportRefusedError` names the entry that is invalid, and nothing is stored.
   * Never over a thread that is there: `ThreadExistsError`.
   *
   * @param options `threadId` is the id of the new thread; `"new"` draws one. Default: that of the journal.
   */
  importJournal(entries: readonly unknown[], options?: { readonly threadId?: string }): Promise<HostedThread>;
  /** Makes a thread from a conversation that was had elsewhere, each of its turns as one that was added by hand. Rejects as `importJournal` does; the id is drawn where none is given. */
  importMessages(conversation: ForeignConversation, options?: ImportOptions): Promise<HostedThread>;
  /**
   * Begins recovery in the background: each thread of the store with something outstanding (an open turn, asks that wait, a
   * summary, items in its inbox) is continued, and so is, from then on, each one whose holder dies. A server calls it once it
   * listens. Without it recovery begins with the first change of a thread, and looks once. Observers are told by `recovered`,
   * and `onObserverError` if the store fails. May be called again; does nothing if the option `recovery` is false.
   *
   * @throws ConfigurationError if the model handler can make no call, as without a key.
   */
  start(): void;
  /**
   * A host of the same parts whose threads live in memory alone and are gone when it is closed, for conversations that nobody
   * is to keep. Closing this host does not close it.
   */
  inMemory(): Host;
  /** Lets go of all threads, as `HostedThread.close` does, when what is being stored is stored. To end turns first, await or abort their asks. */
  close(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Makes a host: for each thread that is used, the one loop that takes events, journals them, and performs what the
 * machine wants done.
 *
 * @throws ConfigurationError when the tools are not those that the machine declares, or an option is invalid.
 */
export const createHost = (options: HostOptions): Host => new ConversationHost(options);

class ConversationHost implements Host, Loops {
  readonly threadDefaults: ThreadDefaults;
  readonly machine: ConversationMachine;
  readonly #options: HostOptions;
  readonly #host: HostContext;
  readonly #defaultThread: string;
  readonly #loops = new Map<string, ThreadLoop>();
  /** Of threads that are being let go: when that is done. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #recovery: Recovery | null;
  #closed = false;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#host = hostContextOf(options);
    this.#defaultThread = options.defaultThread ?? "default";
    this.threadDefaults = this.#host.threadDefaults;
    this.machine = this.#host.machine;
    const { recovery } = this.#host;
    this.#recovery = recovery === null ? null : new Recovery(this.#host, this, recovery);
  }

  ask<Schema extends OutputSchema = never>(
    input: AskInput,
    given: AskOptions<Schema> & { readonly threadId?: string } = {},
  ): AskHandle<OutputOf<Schema>, WrittenOf<Schema>> {
    const problem = problemOfOptions("ask", given, hostAskOptionNames);
    if (problem !== null) return handleTo<Schema>(refusedAsk(this.#defaultThread, this.#host.ids, given, problem));
    const { threadId, ...options } = given;
    return this.thread(threadId).ask(input, options);
  }

  thread(threadId: string = this.#defaultThread): HostedThread {
    return new HostedThread(this.#ref(threadIdOf(threadId, this.#host.ids)));
  }

  async threads(options?: ListOptions): Promise<ThreadPage> {
    return this.#host.store.list(frozenCopy(options));
  }

  async search(words: string, options?: SearchOptions): Promise<SearchPage> {
    const { store } = this.#host;
    if (store.search === undefined) throw new SearchUnavailableError();
    return store.search(words, frozenCopy(options));
  }

  async importJournal(
    entries: readonly unknown[],
    options: { readonly threadId?: string } = {},
  ): Promise<HostedThread> {
    const thread = this.thread(options.threadId ?? threadIdIn(entries) ?? "new");
    await this.store(thread.id, importedJournal(entries, thread.id));
    return thread;
  }

  async importMessages(conversation: ForeignConversation, options: ImportOptions = {}): Promise<HostedThread> {
    const problem = problemOfOptions("importMessages", options, importOptionNames);
    if (problem !== null) throw new ImportRefusedError(options?.threadId ?? "new", null, problem);
    const { threadId = "new", metadata } = options;
    const thread = this.thread(threadId);
    await this.store(thread.id, journalOfTurns(this.#host, thread.id, conversation, metadata));
    return thread;
  }

  start(): void {
    if (this.#recovery === null || this.#closed) return;
    this.#host.llm.check?.();
    this.#host.active.code.run(null, () => this.#recovery?.repeat());
  }

  inMemory(): Host {
    const { owner: _, ...options } = this.#options;
    return new ConversationHost({ ...options, store: memoryStore({ clock: options.clock }), recovery: false });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#recovery?.end();
    for (const loop of this.#loops.values()) void loop.close();
    await Promise.all(this.#closing.values());
  }

  #ref(id: string): ThreadRef {
    return { id, host: this.#host, loops: this };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  use(threadId: string): ThreadLoop | null {
    this.#beginRecovery();
    return this.#loops.get(threadId) ?? (this.#closed ? null : this.#open(threadId, this.#host.owner, null));
  }

  #open(threadId: string, owner: string, lost: State | null): ThreadLoop {
    const before = { over: this.#closing.get(threadId), owner, lost };
    const loop = new ThreadLoop(threadId, this.#host, before, this.#forget);
    this.#loops.set(threadId, loop);
    return loop;
  }

  #beginRecovery(): void {
    if (this.#recovery !== null && !this.#closed) this.#host.active.code.run(null, () => this.#recovery?.begin());
  }

  opened(threadId: string): ThreadLoop | undefined {
    return this.#loops.get(threadId);
  }

  async alone<Done>(
    threadId: string,
    work: () => Promise<Done>,
    why: ThreadClosedError = new ThreadClosedError(threadId),
  ): Promise<Done> {
    if (this.#closed) throw new ThreadClosedError(threadId);
    this.#beginRecovery();
    this.#loops.get(threadId)?.end(why);
    const done = Promise.resolve(this.#closing.get(threadId)).then(work);
    const over = (): void => {};
    this.#keepOut(threadId, done.then(over, over));
    return done;
  }

  async store(threadId: string, entries: readonly Entry[]): Promise<void> {
    const loop = this.#loops.get(threadId);
    // What goes on there must not be stopped for nothing.
    if (
      loop !== undefined &&
      (loop.state !== null || (await lookAt(this.#host, threadId, () => true, "some")) !== null)
    )
      throw new ThreadExistsError(threadId);
    await this.alone(threadId, () => storeJournal(this.#host, threadId, entries));
  }

  readonly #forget = (loop: ThreadLoop, carried: readonly Ask[]): void => {
    const { threadId } = loop;
    this.#loops.delete(threadId);
    this.#keepOut(threadId, loop.released);
    if (carried.length === 0) return;
    // Under another name: the lease may now be that of another process of the same name, and would count as ours.
    const next = this.#closed ? null : this.#open(threadId, this.#host.ids.draw("owner"), loop.state ?? loop.lost);
    for (const ask of carried) {
      // By its id an ask is known wherever the thread is now.
      if (next === null) ask.fail(new ThreadClosedError(threadId));
      else next.postAsk(ask);
    }
  };

  /** The next use of a thread waits until something is over. */
  #keepOut(threadId: string, until: Promise<void>): void {
    const closing = until.finally(() => {
      if (this.#closing.get(threadId) === closing) this.#closing.delete(threadId);
    });
    this.#closing.set(threadId, closing);
  }
}

const hostAskOptionNames = { ...askOptionNames, threadId: true } as const;
