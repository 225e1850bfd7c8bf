// Moves a thread from store to engine to store. It continues in each place, and is the same everywhere, entry for
// entry.
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { createHost, type Host, type Store } from "@colloquy/host";
import { canonicalText, type Json } from "@colloquy/machine";
import { filesStore, randomIds, sqliteStore, systemClock } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { redisStore } from "@colloquy/runtime-node/redis";
import { differenceOf } from "@colloquy/runtime-test/laws";

import { type Later, withCleanup } from "../../kit/cleanup.ts";
import { withProgram } from "../../kit/program.ts";
import { startPostgres } from "../../servers/postgres.ts";
import { startRedis } from "../../servers/redis.ts";
import { type Answer, type Fact, readFacts, recorderOf } from "../story/facts.ts";
import { judge } from "../story/judge.ts";
import { answerTo } from "./converse.ts";
import { startFleet } from "./fleet.ts";
import { referencesOf } from "./reference.ts";
import { type Engine, startEngine } from "./restate.ts";
import { machineOf } from "../story/script.ts";
import { asksOf, type Script, scriptOf, threadOf } from "./script.ts";

/** Moves threads through all places and back, and says what is otherwise than it was. */
export const moveAround = (folder: string, snapshotEvery: number): Promise<readonly string[]> =>
  withProgram(new URL(import.meta.resolve("./worker.ts")), (program) =>
    withCleanup(async (later) => {
      const facts = join(folder, "facts");
      const engine = await startEngine(join(folder, "server"), null);
      later(engine.stop);
      const options = { facts, slackMs: 0, snapshotEvery, redisUrl: null };
      const fleet = await startFleet({ program, workers: 1, folder, options, onRun: () => {} });
      later(() => fleet.stop());
      await engine.register(fleet.url);
      const stores = await storesIn(folder, later);
      const script = scriptOf({ note: recorderOf(facts), slackMs: 0 });
      return new Journey(placesOf(stores, engine, script, snapshotEvery), facts).problems();
    }),
  );

type Stores = Readonly<Record<"sqlite" | "postgres" | "files" | "redis", Store>>;

/** A store of each kind, with the servers that they need. */
const storesIn = async (folder: string, later: Later): Promise<Stores> => {
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o755);
  const postgres = await startPostgres({ folder: folderIn(folder, "postgres"), settings: { fsync: "off" } });
  later(postgres.stop);
  const redis = await startRedis({ folder: folderIn(folder, "redis") });
  later(redis.stop);
  const stores = {
    sqlite: sqliteStore({ path: join(folder, "threads.db") }),
    postgres: postgresStore({ connectionString: postgres.url }),
    files: filesStore({ folder: join(folder, "threads") }),
    redis: redisStore({ url: redis.url }),
  };
  for (const store of Object.values(stores)) later(() => store.close());
  return stores;
};

interface Place {
  readonly name: string;
  readonly host: Host;
}

/** From SQLite by the engine and the other stores back to SQLite. */
const placesOf = (stores: Stores, engine: Engine, script: Script, snapshotEvery: number): readonly Place[] => {
  const place = (name: keyof Stores): Place => ({
    name,
    host: createHost({ ...script, store: stores[name], clock: systemClock, ids: randomIds, snapshotEvery }),
  });
  const sqlite = place("sqlite");
  const others = [{ name: engine.name, host: engine.host }, place("postgres"), place("files"), place("redis")];
  return [sqlite, ...others, sqlite];
};

const folderIn = (folder: string, name: string): string => {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
};

const waiting = "waiting";
const limitMs = 60_000;

/** One thread that is asked something in each place, and one whose call waits for approval all the time. */
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

  /** Its asker does not wait: the thread is moved away beneath it. */
  async #begin(host: Host): Promise<void> {
    const thread = host.thread(waiting);
    for await (const { type } of thread.ask("refund 1", { askId: waiting })) if (type === "approval.requested") break;
  }

  async #move(threadId: string, from: Place, to: Place): Promise<void> {
    const source = from.host.thread(threadId);
    const [journal, state] = [await source.exportJournal(), await source.state()];
    const moved = await source.moveTo(to.host);
    const where = `${threadId}, moved from ${from.name} to ${to.name}`;
    const difference = differenceOf(plain(journal), plain(await moved.exportJournal()));
    if (difference !== null) this.#problems.push(`${where}: its journal is another: ${difference}`);
    const other = differenceOf(plain(state), plain(await moved.state()));
    if (other !== null) this.#problems.push(`${where}: its state is another: ${other}`);
    if ((await source.state()) !== null) this.#problems.push(`${where}: it is still there`);
    if (threadId === waiting && (await moved.approvals()).length !== 1)
      this.#problems.push(`${where}: nothing waits for approval`);
  }

  async #end(host: Host): Promise<void> {
    const thread = host.thread(waiting);
    const [request] = await thread.approvals();
    if (request !== undefined) await thread.approve(request.id);
    const { text } = await thread.rejoin(waiting);
    if (!text.startsWith("the answer to <refund 1>"))
      this.#problems.push(`what was approved came to ${JSON.stringify(text)}`);
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

/** As JSON, in whatever order its members come. */
const plain = (value: unknown): unknown =>
  // JSON.parse returns JSON.
  JSON.parse(canonicalText(JSON.parse(JSON.stringify(value)) as Json));
