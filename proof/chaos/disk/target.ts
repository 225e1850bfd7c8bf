// Uses a store of files on a simulated disk and cuts the power at random moments: unflushed data is lost, torn, or on
// the disk in another order. A fresh process must then find all acknowledged data, readable journals, and no torn
// snapshot or inbox item.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Store } from "@colloquy/host";
import { filesStore } from "@colloquy/runtime-node";

import { inFolder, memory } from "../../kit/folder.ts";
import { type Random, randomOf } from "../../kit/random.ts";
import { runSeeds, type SeededRun } from "../../kit/report.ts";
import { commandOf } from "../../kit/target.ts";
import { Book } from "../store/book.ts";
import { problemsIn } from "../store/check.ts";
import { threadIds } from "../store/contents.ts";
import { User } from "../store/user.ts";
import { type Fault, faults, isFolder, type Left, simulatedDisk } from "./disk.ts";
import { SimulatedFileSystem } from "./file-system.ts";

const run = (seed: number, fault: Fault | null): Promise<SeededRun> =>
  inFolder(
    "chaos-disk",
    async (base) => {
      const place = { root: join(base, "disk"), database: join(base, "database") };
      const system = new SimulatedFileSystem(place.root);
      mkdirSync(place.root);
      mkdirSync(place.database);
      const scene = { place, system, book: new Book(), random: randomOf(seed), fault, left: new Map(), store: null };
      const uninstall = system.install();
      try {
        return { seed, ...(await cutRepeatedly(scene)) };
      } finally {
        system.begin(null, 0);
        uninstall();
      }
    },
    // The disk is simulated, so the real one only needs to be fast.
    { within: memory() },
  );

interface Scene {
  readonly place: { readonly root: string; readonly database: string };
  readonly system: SimulatedFileSystem;
  readonly book: Book;
  readonly random: Random;
  readonly fault: Fault | null;
  /** The content of the disk when the power comes back. */
  left: Left;
  store: Store | null;
}

const cutsPerRun = 3;
const looksPerCut = 4;

const cutRepeatedly = async (scene: Scene): Promise<Omit<SeededRun, "seed">> => {
  let violations: readonly string[] = [];
  let [cuts, states, died] = [0, 0, 0];
  const { book, random, system, place } = scene;
  const user = userIn(scene);
  while (cuts < cutsPerRun && violations.length === 0) {
    putBack(scene);
    const disk = simulatedDisk(scene.left, scene.fault);
    const kills = random.integer(0, 2);
    const wrong: string[] = [];
    for (let kill = 0; kill <= kills && wrong.length === 0; kill += 1) {
      // Often so soon that another process continues the dead one's work.
      system.begin(disk, random.integer(1, random.percent(40) ? 8 : 120));
      wrong.push(...(await workUntilKilled(scene, user)));
    }
    died += kills;
    cuts += 1;
    system.begin(null, 0);
    keepDatabase(place);
    for (let looks = 0; looks < looksPerCut && wrong.length === 0; looks += 1) {
      scene.left = disk.cut(random);
      putBack(scene);
      wrong.push(...(await problemsLeft(scene, looks === looksPerCut - 1)));
      states += 1;
    }
    violations = wrong.map((violation) => `after cut ${cuts}: ${violation}`);
  }
  const counts = {
    "power cuts": cuts,
    "states of the disk after them": states,
    "processes that died before": died,
    "acknowledged writes": book.acknowledged,
  };
  return { violations, counts };
};

/** Uses the store of the living process, which continues a dead one's unfinished work. */
const userIn = (scene: Scene): User => {
  let number = 0;
  return new User({
    get store() {
      if (scene.store === null) throw new Error("no process lives");
      return scene.store;
    },
    owner: "owner",
    threadIds,
    random: scene.random,
    note: (note) => scene.book.note(note),
    deletes: true,
    leasesMs: [1e9],
    forgetsLeases: true,
    nextNumber: () => (number += 1),
  });
};

/** Runs a process until it dies. Returns the violations in its first view of the store. */
const workUntilKilled = async (scene: Scene, user: User): Promise<readonly string[]> => {
  let store: Store | null = null;
  try {
    store = scene.store = opened(scene);
    const wrong = await problemsIn(store, scene.book, threadIds);
    if (wrong.length > 0) return wrong.map((violation) => `after a kill: ${violation}`);
    for (;;) await user.visit();
  } catch (thrown) {
    return scene.system.isDead ? [] : [`without a cut: ${String(thrown)}`];
  } finally {
    await store?.close();
  }
};

const opened = ({ place }: Scene): Store =>
  filesStore({ folder: join(place.root, "threads"), clock: { now: () => 0 } });

/** Returns the violations that a fresh process sees after a power cut. If it adopts data, that is flushed. */
const problemsLeft = async (scene: Scene, adopts: boolean): Promise<readonly string[]> => {
  let store: Store | null = null;
  try {
    store = opened(scene);
    return await problemsIn(store, scene.book, threadIds, { adopts });
  } catch (thrown) {
    return [String(thrown)];
  } finally {
    await store?.close();
  }
};

const keepDatabase = ({ root, database }: Scene["place"]): void => {
  rmSync(database, { recursive: true });
  mkdirSync(database);
  const folder = join(root, "threads");
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (/^threads\.db(?:-wal)?$/.test(name)) copyFileSync(join(folder, name), join(database, name));
};

/** Restores the database, which SQLite flushes before it acknowledges a write, if its folder remained. */
const putBack = ({ place: { root, database }, left }: Scene): void => {
  rmSync(root, { recursive: true });
  mkdirSync(root);
  putInto(root, left);
  const folder = join(root, "threads");
  for (const name of existsSync(folder) ? readdirSync(database) : [])
    copyFileSync(join(database, name), join(folder, name));
};

const putInto = (folder: string, left: Left): void => {
  for (const [name, each] of left) {
    const path = join(folder, name);
    if (isFolder(each)) {
      mkdirSync(path);
      putInto(path, each);
    } else writeFileSync(path, each);
  }
};

export const command = commandOf({
  name: "disk",
  stores: ["files"],
  faults,
  runs: [1000, "the number of stores; the power of each is cut three times"],
  // One run after the other, as a process has one file system.
  run: ({ runs, seed, fault }) => runSeeds(runs, seed, (each) => run(each, fault)),
});
