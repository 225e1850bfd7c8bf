import { type Clock, memoryStore, type SearchHit, type SearchPage, type Store } from "@colloquy/host";
import { type Inbox, type Lease, type StoredSnapshot, textOfEntry, wordsOf } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { type Fault, type Faults, present, searchOf } from "./fault.ts";

/** Stores that do with a journal's derivatives, and with inbox items, what they should not. */
export const derivedFaults: Faults = {
  "a rewriting that rewrites nothing": ["rewrites the entries that it is given", () => ({ rewrite: async () => {} })],
  "a rewriting entry by entry": [
    "rewrites all of what it is given or nothing",
    (sound) => ({
      rewrite: async (lease, entries) => {
        for (const entry of entries) await sound.rewrite(lease, [entry]);
      },
    }),
  ],
  "a rewriting for anybody": [
    "rewrites nothing under a lease",
    (sound) => ({
      rewrite: async ({ threadId }, entries) => sound.rewrite(await anyLease(sound, threadId), entries),
    }),
  ],
  "a rewriting that keeps the snapshot": ["when the journal is rewritten", snapshotsApart],
  "a deletion that keeps the snapshot": ["drops a snapshot with its thread", snapshotsApart],
  "a snapshot for anybody": [
    "saves no snapshot under a lease",
    (sound) => ({
      saveSnapshot: async ({ threadId }, snapshot) => sound.saveSnapshot(await anyLease(sound, threadId), snapshot),
    }),
  ],
  "a snapshot that keeps what was dropped": [
    "that were not dropped",
    (sound) => ({ saveSnapshot: (lease, snapshot) => sound.saveSnapshot(lease, { ...snapshot, dropped: [] }) }),
  ],
  "a snapshot that forgets the chunks before it": [
    "that were not dropped",
    (sound) => ({
      saveSnapshot: async (lease, snapshot) => {
        const { threadId } = lease;
        const all = ["a", "b", "c", "d"].filter((id) => !snapshot.chunks.has(id));
        await sound.saveSnapshot(lease, { ...snapshot, threadId, dropped: all });
      },
    }),
  ],
  "a snapshot that fetches nothing when it is to fetch all": [
    "one by one or all the rest",
    fetching((chunk) => (chunk === null ? [] : [chunk])),
  ],
  "a snapshot that fetches nothing when it is to fetch one": [
    "one by one or all the rest",
    fetching((chunk) => (chunk === null ? ["a", "b.1", "c", "d"] : [])),
  ],
  "inbox items in another order": [
    "keeps inbox items in order",
    inboxed((inbox) => ({ unanswered: async (threadId) => (await inbox.unanswered(threadId)).toReversed() })),
  ],
  "inbox items that are kept twice": ["keeps an inbox item once by its id", inboxed(renumbered)],
  "inbox items that stay unanswered": [
    "gives the answer to an inbox item",
    inboxed(() => ({ answer: async () => {} })),
  ],
  "answers for anybody": [
    "answers nothing under a lease",
    (sound) => {
      const inbox = present(sound.inbox);
      const answer: Inbox["answer"] = async ({ threadId }, answers) =>
        inbox.answer(await anyLease(sound, threadId), answers);
      return { inbox: { ...inbox, answer } };
    },
  ],
  "inbox items that are never discarded": ["forgets an inbox item", inboxed(() => ({ discard: async () => {} }))],
  "inbox items that outlive their thread": ["deletes inbox items and answers with their thread", inboxApart],
  "a search that takes parts of words": [
    "by all of its words",
    searching((words) => ({ isFound: (text) => words.every((word) => text.includes(word)) })),
  ],
  "a search for any of the words": [
    "by all of its words",
    searching((words) => ({ isFound: (text) => words.some((word) => wordsOf(text).includes(word)) })),
  ],
  "a search of whole entries": [
    "finds what anybody said, and nothing that nobody did",
    searching((words) => ({ isFound: (_, entry) => words.every((word) => JSON.stringify(entry).includes(word)) })),
  ],
  "a search everywhere": [
    "finds in one thread",
    (sound) => ({
      search: (words, { threadId: _, ...options } = {}) => searchOf(sound)(words, options),
    }),
  ],
  "a search that looks once": ["finds what was appended a moment ago", searchingOnce],
  "a search that remembers what was rewritten": ["finds no more what was rewritten", searchingOnce],
  "a search that remembers what was deleted": ["finds nothing of a deleted thread", searchingOnce],
  "a search without pages": [
    "shows each hit once",
    (sound) => ({ search: (words, options) => searchOf(sound)(words, { ...options, limit: 1e9 }) }),
  ],
};

/** Returns a lease that is in force. */
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

/** A snapshot whose chunks have to be fetched, by a rule which. */
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

/** Finds by another rule than the words of what was said. */
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
