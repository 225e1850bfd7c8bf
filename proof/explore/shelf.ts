// The one store of a world: what it holds, and its calls as a process makes them.
import { memoryStore, type Store } from "@colloquy/host";
import type { Lease } from "@colloquy/host/store";
import { type AnswerableEffect, type Entry, type LaterEntry, outstanding, type State } from "@colloquy/machine";
import { fold, foldEntry } from "@colloquy/machine/journal";
import type { ApprovalLogItem } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";

import { methodsOf } from "../kit/store-methods.ts";
import { Digest } from "./digest.ts";
import type { Process, World } from "./world.ts";

export const threadId = "explored";

/** The content of the store, as far as a host can tell. Each entry is checked when it is written. */
export class Shelf {
  readonly store: Store;
  readonly entries: Entry[] = [];
  readonly inbox = new Map<string, string>();
  /** The entries and the runs of tools, in their order. */
  readonly log: ApprovalLogItem[] = [];
  lease: { readonly by: Process | null; readonly token: number; readonly until: number } = freed;
  /** The fold of the entries; null before the first. */
  state: State | null = null;
  readonly digest: Digest = new Digest("");
  readonly #world: World;
  readonly #asked = new Set<string>();

  constructor(world: World, change: (store: Store) => Store) {
    this.#world = world;
    const store = change(memoryStore({ clock: { now: () => world.now, wakeAt: () => () => undefined } }));
    const append: Store["append"] = (...given) => this.#append(store, ...given);
    this.store = { ...methodsOf(store), append };
  }

  get outstanding(): readonly AnswerableEffect[] {
    return this.state === null ? [] : outstanding(this.state);
  }

  /** The threads in whose inboxes items wait. */
  get waiting(): readonly string[] {
    return [...this.inbox.values()].some((item) => item.startsWith("{")) ? [threadId] : [];
  }

  /** Checks that an effect was journalled, and that its performer has the lease. */
  performs(process: Process, id: string): void {
    const { by, until } = this.lease;
    if (!this.#asked.has(id)) this.#world.breaks(`R1: "${id}" is performed, and no entry of the journal asks for it`);
    if (by !== process || this.#world.now >= until)
      this.#world.breaks(`R3: "${id}" is performed by ${process.name}, which does not have the lease`);
  }

  ran(key: string, input: unknown): void {
    this.log.push({ did: "ran", key, input });
    this.digest.add(key);
  }

  /** Checks that an entry which a host takes for stored is stored. */
  acknowledged({ name }: Process, entry: Entry): void {
    const stored = this.entries[entry.seq];
    if (stored !== entry && JSON.stringify(stored) !== JSON.stringify(entry))
      this.#world.breaks(`R3: ${name} takes entry ${entry.seq} (${entry.event.type}) for stored, and it is not`);
  }

  async #append(store: Store, ...[lease, seq, entries]: Parameters<Store["append"]>): Promise<void> {
    let written = entries;
    try {
      await store.append(lease, seq, entries);
    } catch (error) {
      // Only this function writes entries.
      written = (await store.read(threadId, this.entries.length)) as readonly Entry[];
      throw error;
    } finally {
      for (const entry of written) this.#wrote(entry);
      const { token, until } = this.lease;
      if (written.length > 0 && (token !== lease.token || this.#world.now >= until))
        this.#world.breaks(`R3: lease ${lease.token} wrote, and is not in force`);
    }
  }

  #wrote(entry: Entry): void {
    if (entry.seq !== this.entries.length)
      this.#world.breaks(`R3: entry ${entry.seq} was written where ${this.entries.length} is due`);
    this.entries.push(entry);
    this.digest.add(JSON.stringify(entry));
    this.log.push({ did: "appended", entry });
    if (this.state === null) {
      const begun = fold([entry]);
      if (Either.isRight(begun)) this.state = begun.right;
      else this.#world.breaks(`M5: entry 0 does not fold: ${begun.left.reason}`);
    } else this.state = foldEntry(this.state, entry as LaterEntry);
    for (const effect of this.outstanding) this.#asked.add(effect.id).add(keyOf(effect));
  }
}

const freed = { by: null, token: 0, until: 0 };

/** The idempotency key of a tool call; the id of any other effect. */
const keyOf = (effect: AnswerableEffect): string =>
  effect.type === "callTool" ? `${effect.threadId}/${effect.callId}#1` : effect.id;

/** Makes the store as a process sees it: each call waits for the schedule. */
export const storeOf = (process: Process, shelf: Shelf, mayLease: boolean): Store => {
  const { store } = shelf;
  const journal = (): string => shelf.digest.text;
  const leased = (lease: Lease, ttlMs: number): void => {
    shelf.lease = { by: process, token: lease.token, until: process.clock.now() + ttlMs };
  };
  const { inbox } = store;
  if (inbox === undefined) throw new Error("the store has no inbox");
  return {
    ...methodsOf(store),
    acquire: (...given) =>
      mayLease
        ? process.call("acquire", "write", async () => {
            const lease = await store.acquire(...given);
            if (lease !== null) leased(lease, given[2]);
            return lease;
          })
        : Promise.resolve(null),
    renew: (lease, ttlMs) =>
      process.call("renew", "write", async () => {
        const kept = await store.renew(lease, ttlMs);
        if (kept) leased(lease, ttlMs);
        return kept;
      }),
    release: (lease) =>
      process.call("release", "write", async () => {
        await store.release(lease);
        if (shelf.lease.token === lease.token) shelf.lease = { ...shelf.lease, by: null, until: 0 };
      }),
    append: (...given) =>
      process.call(`append ${given[2].map(({ seq, event }) => `${seq} ${event.type}`).join(", ")}`, "write", async () =>
        store.append(...given),
      ),
    read: (...given) => process.call(`read ${given[1] ?? 0}`, "read", () => store.read(...given), journal),
    abandoned: () => process.call("ask what is abandoned", "read", () => store.abandoned()),
    inbox: {
      post: (threadId, item) =>
        process.call(`post ${item.event.type}`, "write", async () => {
          await inbox.post(threadId, item);
          if (!shelf.inbox.has(item.id)) shelf.inbox.set(item.id, JSON.stringify(item.event));
        }),
      waiting: () => process.call("ask who waits", "read", async () => shelf.waiting),
      unanswered: (...given) => process.call("look", "read", () => inbox.unanswered(...given)),
      answer: (lease, answers) =>
        process.call(`answer ${answers.map(({ id }) => id).join(", ")}`, "write", async () => {
          await inbox.answer(lease, answers);
          for (const { id } of answers) if (shelf.inbox.has(id)) shelf.inbox.set(id, JSON.stringify(answers));
        }),
      answerTo: (...given) => process.call(`answer to ${given[1]}`, "read", () => inbox.answerTo(...given)),
      discard: (...given) =>
        process.call(`discard ${given[1]}`, "write", async () => {
          await inbox.discard(...given);
          shelf.inbox.delete(given[1]);
        }),
    },
  };
};
