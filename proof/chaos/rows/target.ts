// Tampers with a thread in a store: entries, snapshots, inbox items and listings are changed, removed, swapped or
// copied from another thread. A host must then have the earlier state, or that of the changed journal, or an error that
// names the thread and the entry. No process may die, and no other thread may be harmed.
import { setTimeout as pause } from "node:timers/promises";

import { createHost, type Host, JournalUnreadableError, type Store, StoreError } from "@colloquy/host";
import { canonicalText, conversationMachine, type Entry, type State } from "@colloquy/machine";
import { randomIds, StorageError, systemClock } from "@colloquy/runtime-node";

import { ending, noteStray } from "../../kit/calls.ts";
import { entriesIn, stateOf } from "../../kit/journal.ts";
import { randomOf } from "../../kit/random.ts";
import { runSeeds, type SeededRun } from "../../kit/report.ts";
import { methodsOf } from "../../kit/store-methods.ts";
import { commandOf } from "../../kit/target.ts";
import { type Damage, tamper } from "./damage.ts";
import { openPlace, placeNames } from "./places.ts";

interface Run extends SeededRun {
  readonly damage: Damage;
}

export const run = async (
  seed: number,
  store: (typeof placeNames)[number],
  fault: Fault | null,
  limitMs: number = limitMsDefault,
): Promise<Run> => {
  const place = await openPlace(store);
  const stray = noteStray();
  try {
    const before = await conversations(place.open());
    const damage = await tamper(await place.cells(), damaged, randomOf(seed));
    const opened = faultyStore(place.open(), fault);
    const reports: string[] = [];
    // With the snapshot, or by the journal alone.
    const host = hostOn(opened, reports, seed % 2 === 0 ? 6 : 0);
    const looking = place.open();
    const found = new Findings({ store: looking, host, before, reports, damage, limitMs });
    try {
      await found.lookAtDamaged();
      await found.lookAtOther();
      await found.useDamaged();
    } catch (error) {
      found.violations.push(String(error));
    }
    await ending("close", limitMs, host.close());
    await opened.close();
    await looking.close();
    const violations = [...found.violations, ...stray.noted];
    const counts = {
      [`threads with a damaged ${damage.kind}`]: 1,
      [found.wentOn ? "that continued" : "that an error refused"]: 1,
    };
    return { seed, note: `  ${damage.words}`, damage, violations, counts };
  } finally {
    stray.end();
    await place.leave();
  }
};

const damaged = "one";
const other = "two";
const limitMsDefault = 10_000;
const looksMax = 100;

/** Makes two threads of the same kind, with snapshots and with envelopes that no host has answered. */
const conversations = async (store: Store): Promise<ReadonlyMap<string, readonly Entry[]>> => {
  const host = hostOn(store, []);
  for (const threadId of [damaged, other]) {
    const turns = Array.from({ length: turnsImported }, (_, turn) => [
      { role: "user", content: `question ${turn} on ${threadId}, long ago` } as const,
      { role: "assistant", content: "An answer." } as const,
    ]);
    await host.importMessages({ turns }, { threadId, metadata: { topic: "tampering" } });
    for (let turn = 1; turn <= turnsBefore; turn += 1)
      await host.ask(`question ${turn} on ${threadId}`, { threadId, askId: `ask-${turn}` });
  }
  await host.close();
  const journals = new Map<string, readonly Entry[]>();
  for (const threadId of [damaged, other]) {
    journals.set(threadId, decoded(await store.read(threadId)) ?? []);
    for (const id of envelopeIds)
      await store.inbox?.post(threadId, { id, event: { type: "ask.received", at: 0, askId: id, input: id } });
  }
  await store.close();
  return journals;
};

/** Enough for a snapshot with chunks. */
const turnsImported = 40;
const turnsBefore = 4;
const envelopeIds = ["left-1", "left-2", "left-3"];

const hostOn = (store: Store, reports: string[], snapshotEvery = 6): Host =>
  createHost({
    machine: conversationMachine({ overlap: { type: "queue", max: 100 } }),
    store,
    llm: async () => ({ type: "completed", reply: { content: "An answer." }, finishReason: "stop" }),
    clock: systemClock,
    ids: randomIds,
    onObserverError: (error) => void reports.push(String(error)),
    snapshotEvery,
    pollMs: 20,
  });

interface Given {
  /** The store without the host's built-in fault. */
  readonly store: Store;
  readonly host: Host;
  readonly before: ReadonlyMap<string, readonly Entry[]>;
  readonly reports: readonly string[];
  readonly damage: Damage;
  readonly limitMs: number;
}

class Findings {
  readonly violations: string[] = [];
  wentOn = true;
  readonly #given: Given;

  constructor(given: Given) {
    this.#given = given;
  }

  async lookAtDamaged(): Promise<void> {
    await this.#requireState(damaged, () => this.#given.host.thread(damaged).state());
  }

  async lookAtOther(): Promise<void> {
    const thread = this.#given.host.thread(other);
    await ending("an ask on the other thread", this.#given.limitMs, thread.ask("And now?", { askId: "now" }));
    await this.#requireState(other, () => thread.state());
    const stored = decoded(await this.#given.store.read(other)) ?? [];
    const before = this.#given.before.get(other) ?? [];
    if (!same(stored.slice(0, before.length), before)) this.violations.push("the other thread was changed");
    const page = await this.#orRefused("list", () => this.#given.store.list());
    if (page === undefined) this.violations.push("the threads can't be listed");
    else if (!page.threads.some(({ threadId }) => threadId === other))
      this.violations.push("the other thread is not listed");
    await this.#orRefused("search", async () => this.#given.store.search?.("question"));
  }

  async useDamaged(): Promise<void> {
    const thread = this.#given.host.thread(damaged);
    const asked = await this.#orRefused("ask", () => thread.ask("And now?", { askId: "now" }));
    if (asked === undefined) {
      this.wentOn = false;
      return;
    }
    await ending("the envelopes to be answered", this.#given.limitMs, this.#envelopesAnswered());
    await this.#requireState(damaged, () => thread.state());
    await this.#requireReports();
  }

  async #envelopesAnswered(): Promise<void> {
    while (((await this.#given.store.inbox?.unanswered(damaged)) ?? []).length > 0) await pause(10);
  }

  /** Checks that each refused envelope was reported. */
  async #requireReports(): Promise<void> {
    for (const id of envelopeIds) {
      const answer = await this.#given.store.inbox?.answerTo(damaged, id);
      const refused = typeof answer === "object" && answer !== null && "handled" in answer && answer.handled === false;
      if (refused && this.#given.reports.length === 0)
        this.violations.push(`envelope ${id} was refused, and the host reported nothing`);
    }
  }

  async #requireState(threadId: string, see: () => Promise<State | null>): Promise<void> {
    const before = this.#given.before.get(threadId) ?? [];
    // Envelopes may be answered between the reads of the state and of the journal.
    for (let looks = 1; ; looks += 1) {
      const state = await this.#orRefused("state", see);
      if (state === undefined) return;
      const [stored, later] = [await this.#stored(threadId, 0), await this.#stored(threadId, before.length)];
      const right = [stored, later === null ? null : [...before, ...later]].map(textOfJournal);
      if (right.includes(state === null ? "null" : textOfState(state))) return;
      if (looks === looksMax) break;
      await pause(20);
    }
    this.violations.push(`thread "${threadId}": its state is neither what it was nor what its journal says`);
  }

  async #stored(threadId: string, fromSeq: number): Promise<readonly unknown[] | null> {
    try {
      return await this.#given.store.read(threadId, fromSeq);
    } catch {
      return null;
    }
  }

  /** Returns the value of `work`; undefined if it fails with an error that names the thread, and the damaged entry. */
  async #orRefused<A>(name: string, work: () => PromiseLike<A>): Promise<A | undefined> {
    try {
      return await ending(name, this.#given.limitMs, work());
    } catch (error) {
      const isKnown =
        error instanceof StoreError || error instanceof StorageError || error instanceof JournalUnreadableError;
      const message = error instanceof Error ? error.message : "";
      // A file has its thread's name.
      const namesThread = message.includes(`"${damaged}"`) || message.includes(`/${damaged}.`);
      const namesEntry =
        this.#given.damage.kind !== "entry" || /(entry|seq|line) \d+|seq\)=\(\d+, \d+|is empty|begin/.test(message);
      if (!isKnown || !namesThread || !namesEntry) this.violations.push(`${name}: ${String(error)}`);
      return undefined;
    }
  }
}

const decoded = (stored: readonly unknown[]): readonly Entry[] | null => {
  try {
    return entriesIn(stored);
  } catch {
    return null;
  }
};

/** Returns the state of a journal as text; `null` for no journal, and a text of no state for an unreadable one. */
const textOfJournal = (stored: readonly unknown[] | null): string => {
  if (stored === null) return "unreadable";
  if (stored.length === 0) return "null";
  try {
    return textOfState(stateOf(entriesIn(stored)));
  } catch {
    return "unreadable";
  }
};

const textOfState = (state: State): string => canonicalText(state);

const same = (one: unknown, another: unknown): boolean => JSON.stringify(one) === JSON.stringify(another);

const faults = {
  renumbering: "entries are given the seqs that they should have",
  blocking: "an unreadable item keeps the whole inbox from being read",
} as const;

type Fault = keyof typeof faults;

const faultyStore = (store: Store, fault: Fault | null): Store => {
  if (fault === null) return store;
  const methods = methodsOf(store);
  const { inbox } = methods;
  if (fault === "renumbering" || inbox === undefined)
    return {
      ...methods,
      read: async (threadId, fromSeq = 0) =>
        // A value that is not an entry becomes one without an event.
        (await store.read(threadId, fromSeq)).map((entry, index) => ({ ...(entry as Entry), seq: fromSeq + index })),
    };
  return {
    ...methods,
    inbox: {
      ...inbox,
      unanswered: async (threadId) => {
        const envelopes = await inbox.unanswered(threadId);
        if (envelopes.every(isWhole)) return envelopes;
        throw new Error(`an envelope to thread "${threadId}" is damaged`);
      },
    },
  };
};

const isWhole = (envelope: unknown): boolean =>
  typeof envelope === "object" && envelope !== null && "event" in envelope && "id" in envelope;

export const command = commandOf({
  name: "rows",
  stores: placeNames,
  faults,
  runs: [200, "the number of threads to tamper with in each store"],
  run: ({ store, runs, seed, fault }) => runSeeds(runs, seed, (each) => run(each, store, fault)),
});
