import type { Store } from "@colloquy/host";
import { messageOf, checkOptions, kinds, type OptionKinds, withRedactions } from "@colloquy/host/store";
import { type Message } from "@colloquy/machine";
import { decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import type { Answer, MemoryClient, MemoryMessage, MemoryProblem, MemoryPage } from "../client/memory-client.ts";
import {
  allSegmentsOf,
  infoOf,
  inPlace,
  keyOf,
  type Mirrored,
  mirroredIn,
  pairOf,
  type Segment,
  segmentsOf,
} from "./segment.ts";

export interface OpenSearchMirrorOptions {
  /** The memories, from `openSearchMemory`. */
  readonly memory: Memories;
  /** The journals, which are only read. */
  readonly store: Pick<Store, "read">;
}

/** The functions of the memory API that the mirror calls. */
type Memories = Pick<MemoryClient, "add" | "conversation" | "create" | "memories" | "remove">;

/** A mirror of threads in memories of OpenSearch. */
export interface OpenSearchMirror {
  /**
   * Brings the memory of a thread up to date with its journal. You can interrupt and repeat it at any point: it first
   * reads what the service has, so that it writes nothing twice and leaves nothing out. Calls for one thread run one
   * after the other.
   */
  sync(threadId: string): Answer<Synced>;
  /** Returns the exact messages that a mirror wrote to a memory, in the thread's order, not the service's. */
  messages(memoryId: string): Answer<readonly Message[]>;
}

/** The result of a synchronisation. */
export interface Synced {
  /** The memory that has the thread's path; null if there is nothing to store. */
  readonly memoryId: string | null;
  /** The number of messages that were written to it. */
  readonly written: number;
  /** The number of memories that were deleted, because they contained content that is no longer in the journal. */
  readonly deleted: number;
}

/**
 * Mirrors threads to memories that other tools of OpenSearch can read. A memory has the name of its thread. Each of its
 * messages has a user's text as input, the answer as response, and in `additional_info` the whole messages of the
 * thread, from which the mirror restores them.
 *
 * It is a mirror and not a store, because the service has no leases and no compare-and-set, and cannot delete a single
 * message. One memory has the thread's path: its turns from the first to the head. When the head moves (`clear`,
 * `undo`, a branch), the mirror continues in a memory that has a beginning of the new path, or else in a new one, and
 * keeps the other memories. It deletes a memory if its thread was deleted, or if redaction or truncation removed some
 * of its content from the journal. In the second case, it then writes the path again.
 *
 * Only one process may mirror a thread at a time. Two may write a message twice; `messages` hides the duplicate.
 *
 * @throws ConfigurationError for invalid options.
 */
export const openSearchMirror = (options: OpenSearchMirrorOptions): OpenSearchMirror => {
  checkOptions("openSearchMirror", options, optionKinds);
  const { memory: service, store } = options;
  const newestSync = new Map<string, Promise<unknown>>();
  return {
    sync: (threadId) => {
      const synced = (newestSync.get(threadId) ?? Promise.resolve()).then(() => sync(service, store, threadId));
      newestSync.set(threadId, synced);
      return synced.finally(() => {
        if (newestSync.get(threadId) === synced) newestSync.delete(threadId);
      });
    },
    messages: async (memoryId) =>
      Either.map((written: readonly MemoryMessage[]) =>
        inPlace(written.flatMap(({ info }) => mirroredIn(info) ?? [])).flatMap(({ messages }) => messages),
      )(await service.conversation(memoryId)),
  };
};

const optionKinds: OptionKinds<OpenSearchMirrorOptions> = {
  memory: kinds.needed(kinds.anything),
  store: kinds.needed(kinds.anything),
};

/** Returns the name of a memory: the id, as JSON if the service would drop it as blank or drop its lone surrogates. */
const nameOf = (threadId: string): string =>
  threadId.trim() === "" || !isWellFormed(threadId) ? JSON.stringify(threadId) : threadId;

const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

/** A memory of a thread, with the segments that the mirror wrote into it, in order. */
interface Kept {
  readonly id: string;
  readonly segments: readonly Mirrored[];
}

const sync = async (service: Memories, store: Pick<Store, "read">, threadId: string): Answer<Synced> => {
  const journal = await readPath(store, threadId);
  if (Either.isLeft(journal)) return journal;
  const { seq, path, said } = journal.right;
  const found = await memoriesOf(service, threadId);
  if (Either.isLeft(found)) return found;
  const isStale = ({ segments }: Kept): boolean => segments.some((segment) => !said.has(keyOf(segment)));
  const gone = found.right.filter((each) => (path === null ? each.segments.length > 0 : isStale(each)));
  for (const { id } of gone) {
    const removed = await service.remove(id);
    if (Either.isLeft(removed) && removed.left.status !== 404) return removed;
  }
  const deleted = gone.length;
  if (path === null || path.length === 0) return Either.right({ memoryId: null, written: 0, deleted });
  const keys = path.map(keyOf);
  const [best] = found.right
    .filter(({ segments }) => segments.every((segment, index) => keyOf(segment) === keys[index]))
    .toSorted((left, right) => right.segments.length - left.segments.length);
  const memory = best === undefined ? await service.create(nameOf(threadId)) : Either.right(best.id);
  if (Either.isLeft(memory)) return memory;
  const written = await writeRest(service, memory.right, best?.segments.length ?? 0, { threadId, seq, path });
  return Either.map((count: number) => ({ memoryId: memory.right, written: count, deleted }))(written);
};

/** Writes the segments of a path from an index on. Returns their number. */
const writeRest = async (
  service: Memories,
  memoryId: string,
  from: number,
  { threadId, seq, path }: { readonly threadId: string; readonly seq: number; readonly path: readonly Segment[] },
): Answer<number> => {
  for (const [place, segment] of path.entries()) {
    if (place < from) continue;
    const info = infoOf(threadId, seq, place, segment);
    const added = await service.add(memoryId, { ...pairOf(segment.messages), info });
    if (Either.isLeft(added)) return added;
  }
  return Either.right(path.length - from);
};

/** Returns the memories of a thread, newest first. */
const memoriesOf = async (service: Memories, threadId: string): Answer<readonly Kept[]> => {
  const memories = await allPages((from) => service.memories(from));
  if (Either.isLeft(memories)) return memories;
  const kept: Kept[] = [];
  for (const { id, name } of memories.right) {
    if (name !== nameOf(threadId)) continue;
    const messages = await service.conversation(id);
    if (Either.isLeft(messages)) {
      // The memory was deleted meanwhile.
      if (messages.left.status === 404) continue;
      return messages;
    }
    const read = messages.right.map(({ info }) => mirroredIn(info));
    const own = read.filter((each) => each !== null && each.thread === threadId);
    // A memory with this name that only others wrote to belongs to them.
    if (own.length > 0 || read.length === 0) kept.push({ id, segments: inPlace(own.flatMap((each) => each ?? [])) });
  }
  return Either.right(kept);
};

interface JournalRead {
  readonly seq: number;
  /** The segments on the path; null if the thread does not exist. */
  readonly path: readonly Segment[] | null;
  /** The keys of all segments in the journal, on the path or off it. */
  readonly said: ReadonlySet<string>;
}

const readPath = async (
  store: Pick<Store, "read">,
  threadId: string,
): Promise<Either.Either<MemoryProblem, JournalRead>> => {
  const failed = (reason: string) =>
    Either.left({ status: null, reason: `the journal of thread "${threadId}" can't be read: ${reason}` });
  try {
    const stored = await store.read(threadId);
    if (stored.length === 0) return Either.right({ seq: -1, path: null, said: new Set() });
    const entries = decodeJournal(stored);
    if (Either.isLeft(entries)) return failed(describeDecodeError(entries.left));
    const state = fold(withRedactions(entries.right));
    if (Either.isLeft(state)) return failed(`entry ${state.left.seq}: ${state.left.reason}`);
    return Either.right({
      seq: state.right.context.seq,
      path: segmentsOf(state.right),
      said: new Set(allSegmentsOf(state.right).map(keyOf)),
    });
  } catch (thrown) {
    return failed(messageOf(thrown));
  }
};

/**
 * Reads all items of a list by offset while others write to it. It reads to the end, then from the start again until a
 * pass finds no new item, since new items come first in the list. Each page overlaps the one before it: an overlap that
 * is not known shows that an item before it was deleted, and that others may have moved past the reader. Returns each
 * item once, in the order of discovery.
 */
const allPages = async <Item extends { readonly id: string }>(
  read: (from: number) => Answer<MemoryPage<Item>>,
): Answer<readonly Item[]> => {
  const found = new Map<string, Item>();
  for (let readsAll = true, isNew = true; isNew;) {
    isNew = false;
    let hasMoved = false;
    for (let from: number | null = 0; from !== null;) {
      const page: Awaited<ReturnType<typeof read>> = await read(from);
      if (Either.isLeft(page)) return page;
      const { items, next } = page.right;
      const brought = items.filter(({ id }) => !found.has(id));
      hasMoved ||= from > 0 && items[0] !== undefined && items[0] === brought[0];
      for (const item of brought) found.set(item.id, item);
      isNew ||= brought.length > 0;
      // New items come first, so a page of known items ends the search for them.
      const goesOn: boolean = readsAll || brought.length > 0;
      from = goesOn && next !== null ? Math.max(next - 1, from + 1) : null;
    }
    readsAll = hasMoved;
  }
  return Either.right([...found.values()]);
};
