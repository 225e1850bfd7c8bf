import type { Store } from "@colloquy/host";
import { messageOf, checkOptions, type OptionKinds, withRedactions } from "@colloquy/host/store";
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

/** The used part of the memory API. */
type Memories = Pick<MemoryClient, "add" | "conversation" | "create" | "memories" | "remove">;

/** A mirror of threads in memories of OpenSearch. */
export interface OpenSearchMirror {
  /**
   * Updates the memory of a thread to its journal. It may be repeated and interrupted at any point: it reads the
   * service's present content first, so that nothing is written twice or left out. Calls for one thread run one after
   * the other.
   */
  sync(threadId: string): Answer<Synced>;
  /** Returns the exact messages that a mirror wrote to a memory, in their order, whatever order the service uses. */
  messages(memoryId: string): Answer<readonly Message[]>;
}

/** The result of a synchronisation. */
export interface Synced {
  /** The memory with the path of the thread; null if there is nothing to store. */
  readonly memoryId: string | null;
  /** The number of messages that were written to it. */
  readonly written: number;
  /** The number of memories that were deleted, because they contained content that is no longer in the journal. */
  readonly deleted: number;
}

/**
 * Mirrors threads to memories that other tools of OpenSearch can read. A memory has the name of the thread. The user's
 * text and the answer are a pair of input and response. The whole messages are in `additional_info`, from which the
 * mirror restores them.
 *
 * It is a mirror and not a store, because the service has neither leases nor compare-and-set nor the deletion of a
 * message. It follows the journal. The path is in one memory. When the head moves (`clear`, `undo`, a branch), the path
 * continues in a memory that has its beginning, or in a new one, and the other memories stay. A memory is deleted if
 * its thread was deleted, or if redaction or truncation removed some of its content from the journal. The path is then
 * written again.
 *
 * Only one process may mirror a thread at a time. Two may write a message twice; reading here hides the duplicate.
 *
 * @throws ConfigurationError for invalid options.
 */
export const openSearchMirror = (options: OpenSearchMirrorOptions): OpenSearchMirror => {
  checkOptions("openSearchMirror", options, optionKinds);
  const { memory: service, store } = options;
  const under = new Map<string, Promise<unknown>>();
  return {
    sync: (threadId) => {
      const synced = (under.get(threadId) ?? Promise.resolve()).then(() => sync(service, store, threadId));
      under.set(threadId, synced);
      return synced.finally(() => {
        if (under.get(threadId) === synced) under.delete(threadId);
      });
    },
    messages: async (memoryId) =>
      Either.map((written: readonly MemoryMessage[]) =>
        inPlace(written.flatMap(({ info }) => mirroredIn(info) ?? [])).flatMap(({ messages }) => messages),
      )(await service.conversation(memoryId)),
  };
};

const optionKinds: OptionKinds<OpenSearchMirrorOptions> = { memory: "required", store: "required" };

/** Returns a name for the service, which drops blank names and lone surrogates. */
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
  const [stale, kept] = partition(found.right, ({ segments }) => segments.some((segment) => !said.has(keyOf(segment))));
  const gone = path === null ? found.right.filter(({ segments }) => segments.length > 0) : stale;
  for (const { id } of gone) {
    const removed = await service.remove(id);
    if (Either.isLeft(removed) && removed.left.status !== 404) return removed;
  }
  const deleted = gone.length;
  if (path === null || path.length === 0) return Either.right({ memoryId: null, written: 0, deleted });
  const keys = path.map(keyOf);
  const [best] = kept
    .filter(({ segments }) => segments.every((segment, index) => keyOf(segment) === keys[index]))
    .toSorted((left, right) => right.segments.length - left.segments.length);
  const memory = best === undefined ? await service.create(nameOf(threadId)) : Either.right(best.id);
  if (Either.isLeft(memory)) return memory;
  const written = await writeBehind(service, memory.right, best?.segments.length ?? 0, { threadId, seq, path });
  return Either.map((count: number) => ({ memoryId: memory.right, written: count, deleted }))(written);
};

const writeBehind = async (
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

const partition = <Item>(items: readonly Item[], isFirst: (item: Item) => boolean): readonly [Item[], Item[]] => [
  items.filter(isFirst),
  items.filter((item) => !isFirst(item)),
];

/**
 * Reads all items of a list by offset while others write to it. It reads to the end, and again from the start as long
 * as that finds items that moved there meanwhile. Returns each item once, in the order in which they were first seen.
 */
const allPages = async <Item extends { readonly id: string }>(
  read: (from: number) => Answer<MemoryPage<Item>>,
): Answer<readonly Item[]> => {
  const found = new Map<string, Item>();
  for (let pass = 0, isNew = true; isNew; pass++) {
    isNew = pass === 0;
    for (let from: number | null = 0; from !== null;) {
      const page: Awaited<ReturnType<typeof read>> = await read(from);
      if (Either.isLeft(page)) return page;
      const known = found.size;
      for (const item of page.right.items) if (!found.has(item.id)) found.set(item.id, item);
      const brought = found.size > known;
      isNew ||= brought;
      // The items after a page of known items were read before.
      from = pass > 0 && !brought ? null : page.right.next;
    }
  }
  return Either.right([...found.values()]);
};
