import { type Clock, memoryStore, type SearchHit, type SearchPage, type Store } from "@colloquy/host";
import { type Inbox, type Lease, type StoredSnapshot, textOfEntry, wordsOf } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { fault, type Fault, type Faults, present, searchOf } from "./fault.ts";

/** Stores with faults in a journal's derivatives or in inbox items. */
export const derivedFaults: Faults = [
  fault("a rewriting that rewrites nothing", "rewrites the entries that it is given", () => ({
    rewrite: async () => {},
  })),
  fault("a rewriting entry by entry", "rewrites all of what it is given or nothing", (sound) => ({
    rewrite: async (lease, entries) => {
      for (const entry of entries) await sound.rewrite(lease, [entry]);
    },
  })),
  fault("a rewriting for anybody", "rewrites nothing under a lease", (sound) => ({
    rewrite: async ({ threadId }, entries) => sound.rewrite(await anyLease(sound, threadId), entries),
  })),
  fault("a rewriting that keeps the snapshot", "when the journal is rewritten", snapshotsApart),
  fault("a deletion that keeps the snapshot", "drops a snapshot with its thread", snapshotsApart),
  fault("a snapshot for anybody", "saves no snapshot under a lease", (sound) => ({
    saveSnapshot: async ({ threadId }, snapshot) => sound.saveSnapshot(await anyLease(sound, threadId), snapshot),
  })),
  fault("a snapshot that keeps what was dropped", "that were not dropped", (sound) => ({
    saveSnapshot: (lease, snapshot) => sound.saveSnapshot(lease, { ...snapshot, dropped: [] }),
  })),
  fault("a snapshot that forgets the chunks before it", "that were not dropped", (sound) => ({
    saveSnapshot: async (lease, snapshot) => {
      const { threadId } = lease;
      const all = ["a", "b", "c", "d"].filter((id) => !snapshot.chunks.has(id));
      await sound.saveSnapshot(lease, { ...snapshot, threadId, dropped: all });
    },
  })),
  fault(
    "a snapshot that fetches nothing when it is to fetch all",
    "one by one or all the rest",
    fetching((chunk) => (chunk === null ? [] : [chunk])),
  ),
  fault(
    "a snapshot that fetches nothing when it is to fetch one",
    "one by one or all the rest",
    fetching((chunk) => (chunk === null ? ["a", "b.1", "c", "d"] : [])),
  ),
  fault(
    "inbox items in another order",
    "keeps inbox items in order",
    inboxed((inbox) => ({ unanswered: async (threadId) => (await inbox.unanswered(threadId)).toReversed() })),
  ),
  fault(
    "threads that wait unnamed",
    "names the threads in which inbox items wait",
    inboxed((inbox) => ({ waiting: async () => (await inbox.waiting()).slice(1) })),
  ),
  fault("inbox items that are kept twice", "keeps an inbox item once by its id", inboxed(renumbered)),
  fault(
    "inbox items that stay unanswered",
    "gives the answer to an inbox item",
    inboxed(() => ({ answer: async () => {} })),
  ),
  fault("answers for anybody", "answers nothing under a lease", (sound) => {
    const inbox = present(sound.inbox);
    const answer: Inbox["answer"] = async ({ threadId }, answers) =>
      inbox.answer(await anyLease(sound, threadId), answers);
    return { inbox: { ...inbox, answer } };
  }),
  fault(
    "inbox items that are never discarded",
    "forgets an inbox item",
    inboxed(() => ({ discard: async () => {} })),
  ),
  fault("inbox items that outlive their thread", "deletes inbox items and answers with their thread", inboxApart),
  fault(
    "a search that takes parts of words",
    "by all of its words",
    searching((words) => ({ isFound: (text) => words.every((word) => text.includes(word)) })),
  ),
  fault(
    "a search for any of the words",
    "by all of its words",
    searching((words) => ({ isFound: (text) => words.some((word) => wordsOf(text).includes(word)) })),
  ),
  fault(
    "a search of whole entries",
    "finds what anybody said, and nothing that nobody did",
    searching((words) => ({ isFound: (_, entry) => words.every((word) => JSON.stringify(entry).includes(word)) })),
  ),
  fault("a search everywhere", "finds in one thread", (sound) => ({
    search: (words, { threadId: _, ...options } = {}) => searchOf(sound)(words, options),
  })),
  fault("a search that looks once", "finds what was appended a moment ago", searchingOnce),
  fault("a search that remembers what was rewritten", "finds no more what was rewritten", searchingOnce),
  fault("a search that remembers what was deleted", "finds nothing of a deleted thread", searchingOnce),
  fault("a search without pages", "shows each hit once", (sound) => ({
    search: (words, options) => searchOf(sound)(words, { ...options, limit: 1e9 }),
  })),
];

/** Returns a valid lease. */
const anyLease = async (store: Store, threadId: string): Promise<Lease> =>
  present(await store.acquire(threadId, "anybody", 1));

function snapshotsApart(sound: Store): Partial<Store> {
  const kept = new Map<string, StoredSnapshot>();
  return {
    saveSnapshot: async (lease, snapshot) => {
      await sound.saveSnapshot(lease, snapshot);
      kept.set(lease.threadId, present(await sound.readSnapshot(lease.threadId)));
    },
    readSnapshot: async (threadId) => kept.get(threadId) ?? null,
  };
}

/** Makes a snapshot some of whose chunks must be fetched, by a rule. */
function fetching(rule: (chunk: string | null) => readonly string[]): Fault {
  return (sound) => ({
    readSnapshot: async (threadId) => {
      const snapshot = await sound.readSnapshot(threadId);
      const fetched = new Set<string>();
      return (
        snapshot && {
          head: snapshot.head,
          chunk: (id) => (fetched.has(id) ? snapshot.chunk(id) : undefined),
          fetch: async (chunk) => {
            for (const id of rule(chunk)) fetched.add(id);
          },
        }
      );
    },
  });
}

function inboxed(change: (inbox: Inbox) => Partial<Inbox>): Fault {
  return ({ inbox }) => ({ inbox: { ...present(inbox), ...change(present(inbox)) } });
}

function renumbered(inbox: Inbox): Partial<Inbox> {
  let count = 0;
  return { post: (threadId, letter) => inbox.post(threadId, { ...letter, id: `${letter.id} ${(count += 1)}` }) };
}

function inboxApart(sound: Store, clock: Clock): Partial<Store> {
  const apart = present(memoryStore({ clock }).inbox);
  return {
    inbox: {
      ...present(sound.inbox),
      post: (...given) => apart.post(...given),
      unanswered: (...given) => apart.unanswered(...given),
      answerTo: (...given) => apart.answerTo(...given),
    },
  };
}

/** Searches by another rule than the words of messages. */
function searching(
  rule: (words: readonly string[]) => { readonly isFound: (text: string, entry: Entry) => boolean },
): Fault {
  return (sound) => ({
    search: async (query) => {
      const { isFound } = rule(wordsOf(query));
      const { threads } = await sound.list();
      const hits: SearchHit[] = [];
      for (const { threadId } of threads) {
        for (const entry of (await sound.read(threadId)) as readonly Entry[]) {
          const text = textOfEntry(entry);
          if (isFound(text.toLowerCase(), entry))
            hits.push({ threadId, seq: entry.seq, at: entry.event.at, excerpt: text });
        }
      }
      return { hits, next: null };
    },
  });
}

function searchingOnce(sound: Store): Partial<Store> {
  const known = new Map<string, Promise<SearchPage>>();
  return {
    search: (words, options) => {
      const page = known.get(words) ?? searchOf(sound)(words, options);
      known.set(words, page);
      return page;
    },
  };
}
