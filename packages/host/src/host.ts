/// <reference lib="esnext.disposable" preserve="true" />
import type { ConversationMachine, Entry, State } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { type AskInput, type AskOptions, askOptionKinds } from "./ask/ask-options.ts";
import type { AskHandle } from "./ask/ask-handle.ts";
import type { Ask } from "./ask/ask.ts";
import { ImportRefusedError, SearchUnavailableError, ThreadClosedError, ThreadExistsError } from "./boundary/errors.ts";
import { kinds, problemOfOptions } from "./boundary/option-kinds.ts";
import type { HostContext, ThreadDefaults } from "./context/host-context.ts";
import { isRequest } from "./delegation/inbox-items.ts";
import { dropRequests, msOfPolls } from "./delegation/requested-lease.ts";
import { openJournal } from "./journal/opening.ts";
import { ThreadLoop } from "./loop/loop.ts";
import { memoryStore } from "./memory-store/memory-store.ts";
import { hostContextOf, type HostOptions, type ImportOptions, importOptionKinds } from "./options.ts";
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

/** A host of conversations. */
export interface Host extends AsyncDisposable {
  /** The initial values of a thread that its first ask creates, as given by the option `thread`. */
  readonly threadDefaults: ThreadDefaults;
  /** The machine that decides the events of its threads. */
  readonly machine: ConversationMachine;
  /** Asks on a thread: the one named, a `"new"` one, or the default one. See `HostedThread.ask`. */
  ask<Schema extends OutputSchema = never>(
    input: AskInput,
    options?: AskOptions<Schema> & { readonly threadId?: string },
  ): AskHandle<OutputOf<Schema>, WrittenOf<Schema>>;
  /** Returns a thread by its id, whether it exists yet or not; `"new"` generates an id. Default: the default thread. */
  thread(threadId?: string): HostedThread;
  /** Lists the threads of the store, page by page, in the order of their creation. */
  threads(options?: ListOptions): Promise<ThreadPage>;
  /** Finds entries that contain all of the words. Rejects with `SearchUnavailableError` if the store has no search. */
  search(words: string, options?: SearchOptions): Promise<SearchPage>;
  /**
   * Makes a thread from an exported journal, whole and unchanged. Its unfinished work continues when the thread is
   * used. The journal is validated first: `ImportRefusedError` names the invalid entry, and nothing is stored. An
   * existing thread is never replaced: `ThreadExistsError`.
   *
   * @param options `threadId` is the id of the new thread; `"new"` generates one. Default: that of the journal.
   */
  importJournal(entries: readonly unknown[], options?: { readonly threadId?: string }): Promise<HostedThread>;
  /**
   * Makes a thread from a conversation that was had elsewhere, each of its turns as one that was added by hand. Rejects
   * as `importJournal` does. The id is generated if none is given.
   */
  importMessages(conversation: ForeignConversation, options?: ImportOptions): Promise<HostedThread>;
  /**
   * Starts recovery in the background. Each thread that its holder left with unfinished work (an open turn, asks that
   * wait, a summary), or with items in its inbox, is continued. From then on, so is each thread whose holder dies. A server calls it
   * once it listens. Otherwise recovery starts with the first change of a thread, and looks once. Observers are
   * notified by `recovered`, and `onObserverError` is called if the store fails. May be called again; does nothing if
   * the option `recovery` is false.
   *
   * @throws ConfigurationError if the model handler cannot make a call, for instance without a key.
   */
  start(): void;
  /**
   * Returns a host with the same parts whose threads are only in memory, and are lost when it is closed. For
   * conversations that nobody should keep. Closing this host does not close it.
   */
  inMemory(): Host;
  /** Waits for pending writes, then closes all threads. To end turns first, await or abort their asks. */
  close(): Promise<void>;
  /** Closes the host, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Makes a host. For each thread that is used it has one loop, which takes events, journals them, and performs the
 * machine's effects.
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
  /** The threads that are being released, each with a promise of the end of that. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #recovery: Recovery | null;
  /** The threads that were handed over, each with a function that cancels the check whether they were taken. */
  readonly #handedOver = new Map<string, () => void>();
  readonly #close = new AbortController();

  constructor(options: HostOptions) {
    this.#options = options;
    this.#host = hostContextOf(options, this.#close.signal);
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
    const problem = problemOfOptions("ask", given, hostAskOptionKinds);
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
    // Callers in JavaScript may pass any value.
    if (!kinds.anyText.fits(words)) throw new RangeError(`search takes the words as a text (got ${typeof words})`);
    return store.search(words, frozenCopy(options));
  }

  async importJournal(
    entries: readonly unknown[],
    options: Pick<ImportOptions, "threadId"> = {},
  ): Promise<HostedThread> {
    const problem = problemOfOptions("importJournal", options, { threadId: importOptionKinds.threadId });
    if (problem !== null) throw new ImportRefusedError(threadIdIn(entries) ?? "new", null, problem);
    const thread = this.thread(options.threadId ?? threadIdIn(entries) ?? "new");
    await this.store(thread.id, importedJournal(entries, thread.id));
    return thread;
  }

  async importMessages(conversation: ForeignConversation, options: ImportOptions = {}): Promise<HostedThread> {
    const problem = problemOfOptions("importMessages", options, importOptionKinds);
    if (problem !== null) throw new ImportRefusedError(options?.threadId ?? "new", null, problem);
    const { threadId = "new", metadata } = options;
    const thread = this.thread(threadId);
    await this.store(thread.id, journalOfTurns(this.#host, thread.id, conversation, metadata));
    return thread;
  }

  start(): void {
    if (this.#recovery === null || this.#closed) return;
    this.#host.llm.check?.();
    this.#recovery.repeat();
  }

  inMemory(): Host {
    return new ConversationHost({
      ...this.#options,
      store: memoryStore({ clock: this.#options.clock }),
      recovery: false,
    });
  }

  async close(): Promise<void> {
    this.#close.abort();
    this.#recovery?.end();
    for (const cancel of this.#handedOver.values()) cancel();
    for (const loop of this.#loops.values()) void loop.close();
    await Promise.all(this.#closing.values());
  }

  get #closed(): boolean {
    return this.#host.closed.aborted;
  }

  #ref(id: string): ThreadRef {
    return { id, host: this.#host, loops: this };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  use(threadId: string): ThreadLoop | null {
    if (!this.#closed) this.#recovery?.begin();
    // It ends if its lease ran out while the process stood still: another host may have continued the thread since.
    this.#loops.get(threadId)?.mayCall();
    return this.#loops.get(threadId) ?? (this.#closed ? null : this.#open(threadId, null));
  }

  #open(threadId: string, lost: State | null): ThreadLoop {
    const before = { over: this.#closing.get(threadId), lost };
    const loop = new ThreadLoop(threadId, this.#host, before, this.#forget);
    this.#loops.set(threadId, loop);
    return loop;
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
    this.#recovery?.begin();
    this.#loops.get(threadId)?.end(why);
    const done = Promise.resolve(this.#closing.get(threadId)).then(() => {
      if (this.#closed) throw new ThreadClosedError(threadId);
      return work();
    });
    const over = (): void => {};
    this.#keepOut(threadId, done.then(over, over));
    return done;
  }

  async store(threadId: string, entries: readonly Entry[]): Promise<void> {
    const loop = this.#loops.get(threadId);
    // Work that continues there must not be stopped needlessly.
    if (loop !== undefined && (loop.state !== null || (await openJournal(this.#host, threadId, null)) !== null))
      throw new ThreadExistsError(threadId);
    await this.alone(threadId, () => storeJournal(this.#host, threadId, entries));
  }

  readonly #forget = (loop: ThreadLoop, carried: readonly Ask[]): void => {
    const { threadId } = loop;
    this.#loops.delete(threadId);
    this.#keepOut(threadId, loop.released);
    if (loop.isHandedOver && !this.#closed) this.#lookAfter(threadId);
    if (carried.length === 0) return;
    const next = this.#closed ? null : this.#open(threadId, loop.state ?? loop.lost);
    for (const ask of carried) {
      // An ask is found by its id, whichever host has the thread now.
      if (next === null) ask.fail(new ThreadClosedError(threadId));
      else next.postAsk(ask);
    }
  };

  /** Takes a handed-over thread back if the host that wanted it is gone. */
  #lookAfter(threadId: string): void {
    const { clock } = this.#host;
    this.#handedOver.get(threadId)?.();
    const cancel = clock.wakeAt(clock.now() + msOfPolls(takesPolls, this.#host), () => {
      this.#handedOver.delete(threadId);
      void this.#takeBack(threadId);
    });
    this.#handedOver.set(threadId, cancel);
  }

  async #takeBack(threadId: string): Promise<void> {
    const { store, observation } = this.#host;
    try {
      const left = (await store.inbox?.unanswered(threadId)) ?? [];
      const requests = left.filter(isRequest);
      if (left.length > requests.length) this.use(threadId);
      // The hosts that requested it did not take it: they are gone.
      else if (requests.length > 0 && !this.#closed && !this.#loops.has(threadId))
        await this.alone(threadId, () => dropRequests(this.#host, threadId, requests));
    } catch (thrown) {
      if (!(thrown instanceof ThreadClosedError)) observation.report(thrown, "store");
    }
  }

  /** Makes the next use of a thread wait until a promise has settled. */
  #keepOut(threadId: string, until: Promise<void>): void {
    const closing = until.finally(() => {
      if (this.#closing.get(threadId) === closing) this.#closing.delete(threadId);
    });
    this.#closing.set(threadId, closing);
  }
}

/** The number of polls after which a host that wants a thread has tried to take it. */
const takesPolls = 5;

const hostAskOptionKinds = { ...askOptionKinds, threadId: kinds.text } as const;
