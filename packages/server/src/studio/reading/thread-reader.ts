import type { Host, Store, StoredThread } from "@colloquy/host";
import { partsIn, withRedactions } from "@colloquy/host/store";
import { contentText, type Entry, type LaterEntry, type State } from "@colloquy/machine";
import { decodeEntry, describeDecodeError, fold, foldEntry } from "@colloquy/machine/journal";
import { asksModel, rowOf } from "../projections/timeline-row.ts";
import { figuresOf } from "../projections/thread-views.ts";
import type { Journal } from "../projections/turn-view.ts";
import type { ThreadFigures, ThreadItem, TimelineRow } from "../wire/wire.ts";

/** A thread that was read, valid until it changes. */
export interface ReadThread extends Journal {
  /** Returns the entry that requested the newest call, up to an entry; null if there is none. */
  callAt(seq: number): number | null;
}

/** The reason why a thread cannot be shown. */
export class UnreadableThreadError extends Error {
  override readonly name = "UnreadableThreadError";
}

/**
 * Reads threads; of a known thread, only the new entries. Takes no lease. Caches the last few threads.
 *
 * @returns null for a thread that does not exist. Rejects with `UnreadableThreadError`.
 */
export const threadReader = (store: Store): ((threadId: string) => Promise<ReadThread | null>) => {
  const kept = new Map<string, Promise<Reading | null>>();
  return (threadId) => {
    // One after the other: a page makes many requests at once, and the first of them reads for all.
    const known = kept.get(threadId)?.catch(() => null) ?? Promise.resolve(null);
    const reading = known.then(
      async (before) => (await before?.continued(store)) ?? (await Reading.begun(store, threadId)),
    );
    keepNewest(kept, threadId, reading, keptMax);
    return reading;
  };
};

const keptMax = 4;

/** Keeps a value as the newest of at most `max`. */
const keepNewest = <Value>(kept: Map<string, Value>, key: string, value: Value, max: number): void => {
  kept.delete(key);
  kept.set(key, value);
  for (const oldest of [...kept.keys()].slice(0, -max)) kept.delete(oldest);
};

/** Adds figures to listed threads. */
export type ItemReader = (threads: readonly StoredThread[]) => Promise<readonly ThreadItem[]>;

/**
 * Reads the figures of threads for the list. Takes no lease. Of a thread with a snapshot, only its few needed parts are
 * read, and of an unchanged thread nothing.
 */
export const itemReader = (host: Host): ItemReader => {
  const kept = new Map<string, { readonly version: string; readonly figures: ThreadFigures }>();
  const figuresFor = async ({ threadId, createdAt, seq }: StoredThread): Promise<ThreadFigures> => {
    const version = `${createdAt} ${seq}`;
    const known = kept.get(threadId);
    if (known?.version === version) return known.figures;
    // A thread that cannot be read says so where it is opened.
    const figures =
      (await host
        .thread(threadId)
        .look(figuresOf)
        .catch(() => null)) ?? unknown;
    keepNewest(kept, threadId, { version, figures }, itemsMax);
    return figures;
  };
  return async (threads) => {
    const items: ThreadItem[] = [];
    for (const thread of threads) items.push({ ...thread, ...(await figuresFor(thread)) });
    return items;
  };
};

const itemsMax = 10_000;

const unknown: ThreadFigures = { title: "", place: null, approvals: 0, turns: 0, tokens: null, cost: null };

/**
 * Reads the text that the model of an open turn has written by now: from the journal (`progressMs`), or from the log of
 * parts (`partsMs`), which is newer. Empty if hosts keep neither.
 */
export const runningText = async (store: Store, { context }: State, now: number): Promise<string> => {
  const { open } = context;
  if (open?.stage.type !== "responding") return "";
  const { content = "" } = open.stage.call.partial ?? {};
  const journalled = contentText(
    typeof content === "string" ? content : content.filter(({ type }) => type !== "reasoning" && type !== "refusal"),
  );
  // Of a log that cannot be read, the journal tells what is known; a host goes on without it too.
  const text = await loggedText(store, context, now).catch(() => "");
  return text.length > journalled.length ? text : journalled;
};

const loggedText = async (store: Store, { open, threadId }: State["context"], now: number): Promise<string> => {
  if (open?.stage.type !== "responding") return "";
  const { attempt } = open.stage.call;
  const batches = (await store.parts?.read(threadId, { at: now, after: null, turn: open.number })) ?? [];
  let text = "";
  let epoch: number | undefined;
  for (const { body, token } of batches) {
    for (const { part } of partsIn(body, token)) {
      // Another holder of the thread, or another try, writes the reply from its start.
      if (token !== epoch || part.type === "replay.started") text = "";
      epoch = token;
      if (part.type === "text.delta" && part.step === open.step && part.attempt === attempt) text += part.text;
    }
  }
  return text;
};

/** The distance of stored states; others are folded from them, as all would take far more room. */
const statesEvery = 256;

class Reading implements ReadThread {
  readonly #threadId: string;
  readonly entries: Entry[] = [];
  readonly rows: TimelineRow[] = [];
  readonly #states: State[] = [];
  readonly #calls: number[] = [];
  #state: State | null = null;

  private constructor(threadId: string) {
    this.#threadId = threadId;
  }

  static async begun(store: Store, threadId: string): Promise<Reading | null> {
    const stored = await store.read(threadId);
    if (stored.length === 0) return null;
    const reading = new Reading(threadId);
    reading.#add(withRedactions(stored.map(decoded)));
    return reading;
  }

  /** Returns null if the thread must be read from the start: it was redacted, deleted, or created again. */
  async continued(store: Store): Promise<Reading | null> {
    const last = this.entries.length - 1;
    const stored = await store.read(this.#threadId, last);
    const [same, ...news] = stored;
    if (JSON.stringify(same) !== JSON.stringify(this.entries[last])) return null;
    if (news.length === 0) return this;
    const entries = news.map((entry, index) => decoded(entry, last + 1 + index));
    if (entries.some(({ event }) => event.type === "thread.redacted")) return null;
    this.#add(entries);
    return this;
  }

  get state(): State {
    if (this.#state === null) throw new Error("a thread that was read has a state");
    return this.#state;
  }

  at(seq: number): State {
    const begin = Math.min(Math.floor(seq / statesEvery), this.#states.length - 1);
    const first = this.#states[begin] ?? this.state;
    return (
      this.entries
        .slice(begin * statesEvery + 1, seq + 1)
        // Only the first entry begins a thread, and it is not among these.
        .reduce((state, entry) => foldEntry(state, entry as LaterEntry), first)
    );
  }

  callAt(seq: number): number | null {
    return this.#calls.findLast((call) => call <= seq) ?? null;
  }

  #add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const before = this.#state;
      const after = before === null ? this.#begin(entry) : this.#follow(before, entry);
      if (entry.seq % statesEvery === 0) this.#states.push(after);
      if (asksModel(before, after)) this.#calls.push(entry.seq);
      this.entries.push(entry);
      this.rows.push(rowOf(entry, before, after));
      this.#state = after;
    }
  }

  #begin(entry: Entry): State {
    const begun = fold([entry]);
    if ("left" in begun) throw new UnreadableThreadError(`entry ${begun.left.seq}: ${begun.left.reason}`);
    return begun.right;
  }

  #follow(before: State, entry: Entry): State {
    try {
      // `foldEntry` also refuses a second `thread.started`.
      return foldEntry(before, entry as LaterEntry);
    } catch (thrown) {
      throw new UnreadableThreadError(`entry ${entry.seq}: ${thrown instanceof Error ? thrown.message : "unreadable"}`);
    }
  }
}

const decoded = (stored: unknown, index: number): Entry => {
  const entry = decodeEntry(stored, index);
  if ("left" in entry) throw new UnreadableThreadError(describeDecodeError(entry.left));
  return entry.right;
};
