import { setTimeout as pause } from "node:timers/promises";

import { createHost, type Host, JournalUnreadableError, type Store, StoreError } from "@colloquy/host";
import { canonicalText, conversationMachine, type Entry, type State } from "@colloquy/machine";
import { randomIds, StorageError, systemClock } from "@colloquy/runtime-node";

import { ending } from "../../kit/calls.ts";
import { entriesIn, stateOf } from "../../kit/journal.ts";
import { randomOf } from "../../kit/random.ts";
import type { SeededRun } from "../../kit/seeded-runs.ts";
import { noteStray } from "../../kit/stray.ts";
import { type Damage, tamper } from "./damage.ts";
import { type Fault, faultyStore } from "./faults.ts";
import { type PlaceName, places } from "./places.ts";

/** The outcome of one thread that was tampered with. */
export interface Run extends SeededRun {
  readonly damage: Damage;
  /** Whether the thread continued; else an error refused it. */
  readonly wentOn: boolean;
}

/** Has two threads, tampers with what is kept of the first, and looks at what a host makes of both. A call that takes longer than `limitMs` never ends. */
export const run = async (
  seed: number,
  store: PlaceName,
  fault: Fault | null,
  limitMs: number = limitMsDefault,
): Promise<Run> => {
  const place = await places[store]();
  const stray = noteStray();
  try {
    const before = await conversations(place.open());
    const damage = await tamper(await place.cells(), damaged, randomOf(seed));
    const opened = faultyStore(place.open(), fault);
    const reports: string[] = [];
    // With the snapshot, and by the journal alone.
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
    return { seed, note: `  ${damage.words}`, damage, wentOn: found.wentOn, violations };
  } finally {
    stray.end();
    await place.leave();
  }
};

const damaged = "one";
const other = "two";
const limitMsDefault = 10_000;
const looksMax = 100;

/** Two threads of the same kind, with snapshots and with envelopes that no host has answered. */
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

/** Enough for chunks of a snapshot. */
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
  /** Read past what may be built into the store of the host. */
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

  /** It is as it was, or as its journal says now, or it is refused. */
  async lookAtDamaged(): Promise<void> {
    await this.#requireState(damaged, () => this.#given.host.thread(damaged).state());
  }

  /** Nothing became of it, and all about it works. */
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

  /** It is asked, and its envelopes are answered. */
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

  /** An envelope that was refused was reported. */
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
    // Envelopes may be answered between a look at the state and one at the journal.
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

  /** Returns the entries of the store from a seq on; null if they cannot be read. */
  async #stored(threadId: string, fromSeq: number): Promise<readonly unknown[] | null> {
    try {
      return await this.#given.store.read(threadId, fromSeq);
    } catch {
      return null;
    }
  }

  /**
   * Returns the value of `work`; undefined if an error refuses it that names the thread, and the entry if there is one.
   */
  async #orRefused<A>(name: string, work: () => PromiseLike<A>): Promise<A | undefined> {
    try {
      return await ending(name, this.#given.limitMs, work());
    } catch (error) {
      const isKnown =
        error instanceof StoreError || error instanceof StorageError || error instanceof JournalUnreadableError;
      const message = error instanceof Error ? error.message : "";
      // A file has the name of its thread.
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

/** As text; `null` for no journal, and a text that no state has for one that can't be read. */
const textOfJournal = (stored: readonly unknown[] | null): string => {
  if (stored === null) return "unreadable";
  if (stored.length === 0) return "null";
  try {
    return textOfState(stateOf(entriesIn(stored)));
  } catch {
    return "unreadable";
  }
};

/** Whatever the order of its members. */
const textOfState = (state: State): string => canonicalText(state);

const same = (one: unknown, another: unknown): boolean => JSON.stringify(one) === JSON.stringify(another);
