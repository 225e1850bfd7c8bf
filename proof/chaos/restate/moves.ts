// Moves a thread from store to engine to store. It must continue in each place, and its entries must stay the same.
import { createHost, type Host, type Store } from "@colloquy/host";
import { canonicalText, type Json } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { differenceOf } from "@colloquy/runtime-test/laws";

import type { Later } from "../../kit/cleanup.ts";
import { leavePlace, newPlace, openStore } from "../../kit/places.ts";
import { type Answer, type Fact, readFacts, recorderOf } from "../story/facts.ts";
import { judge } from "../story/judge.ts";
import { machineOf } from "../story/script.ts";
import { answerTo, referencesOf } from "./converse.ts";
import type { Fault } from "./faults.ts";
import { onEngine } from "./fleet.ts";
import type { Engine } from "./restate.ts";
import { asksOf, type Script, scriptOf, threadOf } from "./script.ts";

export const moveAround = (folder: string, snapshotEvery: number, fault: Fault | null): Promise<readonly string[]> =>
  onEngine(folder, snapshotEvery, fault, async (engine, _, facts, later) => {
    const stores = storesIn(later);
    const script = scriptOf({ note: recorderOf(facts), slackMs: 0 });
    return new Journey(placesOf(stores, engine, script, snapshotEvery), facts).problems();
  });

const storeNames = ["sqlite", "postgres", "files", "redis"] as const;

type Stores = Readonly<Record<(typeof storeNames)[number], Store>>;

const storesIn = (later: Later): Stores => {
  const opened = storeNames.map((name) => {
    const place = newPlace(name, "moves");
    later(() => leavePlace(place));
    const store = openStore(place);
    later(() => store.close());
    return [name, store];
  });
  // Each name has its store.
  return Object.fromEntries(opened) as Stores;
};

interface Place {
  readonly name: string;
  readonly host: Host;
}

/** Returns the places in order: from SQLite to the engine, to the other stores, and back to SQLite. */
const placesOf = (stores: Stores, engine: Engine, script: Script, snapshotEvery: number): readonly Place[] => {
  const place = (name: keyof Stores): Place => ({
    name,
    host: createHost({ ...script, store: stores[name], clock: systemClock, ids: randomIds, snapshotEvery }),
  });
  const sqlite = place("sqlite");
  const others = [{ name: engine.name, host: engine.host }, place("postgres"), place("files"), place("redis")];
  return [sqlite, ...others, sqlite];
};

const waiting = "waiting";
const limitMs = 60_000;

/** Moves two threads: one gets an ask in each place, the other has a call that waits for approval throughout. */
class Journey {
  readonly #places: readonly Place[];
  readonly #facts: string;
  readonly #answers: Answer[] = [];
  readonly #problems: string[] = [];

  constructor(places: readonly Place[], facts: string) {
    this.#places = places;
    this.#facts = facts;
  }

  async problems(): Promise<readonly string[]> {
    const asks = asksOf(0, this.#places.length);
    let before: Place | null = null;
    for (const [index, place] of this.#places.entries()) {
      // The engine is the second place.
      if (index === 1) await this.#makeAnother(place.host);
      if (before === null) await this.#begin(place.host);
      else for (const thread of [threadOf(0), waiting]) await this.#move(thread, before, place);
      const asked = asks[index];
      if (asked !== undefined)
        this.#answers.push(await answerTo({ host: place.host, conversation: 0, asked }, limitMs));
      before = place;
    }
    if (before !== null) await this.#end(before.host);
    for (const { host } of new Set(this.#places)) await host.close();
    return this.#problems;
  }

  /** Starts an ask without waiting for its end, as its thread moves away. */
  async #begin(host: Host): Promise<void> {
    const thread = host.thread(waiting);
    for await (const { type } of thread.ask("refund 1", { askId: waiting })) if (type === "approval.requested") break;
  }

  /** Makes another thread of the same name and length, and deletes it: its kept state must not become the moved one's. */
  async #makeAnother(host: Host): Promise<void> {
    const other = host.thread(threadOf(0));
    await other.ask("plain other", { askId: "other" });
    await other.delete();
  }

  async #move(threadId: string, from: Place, to: Place): Promise<void> {
    const source = from.host.thread(threadId);
    const [journal, state] = [await source.exportJournal(), await source.state()];
    const moved = await source.moveTo(to.host);
    const where = `${threadId}, moved from ${from.name} to ${to.name}`;
    const difference = differenceOf(plain(journal), plain(await moved.exportJournal()));
    if (difference !== null) this.#problems.push(`${where}: its journal differs: ${difference}`);
    const other = differenceOf(plain(state), plain(await moved.state()));
    if (other !== null) this.#problems.push(`${where}: its state differs: ${other}`);
    if ((await source.state()) !== null) this.#problems.push(`${where}: the source still has it`);
    if (threadId === waiting && (await moved.approvals()).length !== 1)
      this.#problems.push(`${where}: nothing waits for approval`);
  }

  async #end(host: Host): Promise<void> {
    const thread = host.thread(waiting);
    const [request] = await thread.approvals();
    if (request !== undefined) await thread.approve(request.id);
    const { text } = await thread.rejoin(waiting);
    if (!text.startsWith("the answer to <refund 1>"))
      this.#problems.push(`the approved call ended with ${JSON.stringify(text)}`);
    const { of } = await referencesOf(1, this.#places.length);
    const journal = await host.thread(threadOf(0)).exportJournal();
    const ran = readFacts(this.#facts).filter((fact) => "id" in fact && fact.id.startsWith(`${threadOf(0)}/`));
    const facts: readonly Fact[] = [
      ...ran,
      ...this.#answers.map((answer) => ({ type: "answered", ...answer }) as const),
    ];
    const asked = asksOf(0, this.#places.length);
    for (const uncrashed of of)
      this.#problems.push(...judge({ journal, asked, facts, machine: machineOf(), uncrashed }));
  }
}

/** Returns JSON with its members in a fixed order. */
const plain = (value: unknown): unknown =>
  // JSON.parse returns JSON.
  JSON.parse(canonicalText(JSON.parse(JSON.stringify(value)) as Json));
