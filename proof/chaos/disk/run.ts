import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Store } from "@colloquy/host";
import { filesStore } from "@colloquy/runtime-node";

import { type Random, randomOf } from "../../kit/random.ts";
import type { SeededRun } from "../../kit/seeded-runs.ts";
import { Book } from "../store/book.ts";
import { problemsIn } from "../store/check.ts";
import { threadIds } from "../store/contents.ts";
import { User } from "../store/user.ts";
import { type Fault, isFolder, type Left, simulatedDisk } from "./disk.ts";
import { SimulatedFileSystem } from "./file-system.ts";

/** The outcome of one store under which the power was cut, several times. */
export interface Run extends SeededRun {
  /** Power cuts, and states of the disk after them that were looked at. */
  readonly cuts: number;
  readonly looks: number;
  /** Processes that died while the power stayed. */
  readonly kills: number;
  readonly acknowledged: number;
}

/** Works with a store of files on a simulated disk, and cuts the power, each time at a moment that follows from the seed. */
export const run = async (seed: number, fault: Fault | null): Promise<Run> => {
  const base = mkdtempSync(join(memory, "colloquy-chaos-disk-"));
  const place = { root: join(base, "disk"), database: join(base, "database") };
  const system = new SimulatedFileSystem(place.root);
  mkdirSync(place.root);
  mkdirSync(place.database);
  const book = new Book();
  const random = randomOf(seed);
  const done = { seed, violations: [], cuts: 0, looks: 0, kills: 0, acknowledged: 0 };
  const uninstall = system.install();
  try {
    return await cutRepeatedly({ place, system, book, random, fault, left: new Map(), store: null }, done);
  } finally {
    system.begin(null, 0);
    uninstall();
    rmSync(base, { recursive: true, force: true });
  }
};

/** The disk is simulated: the real one has only to be quick. */
const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

interface Scene {
  readonly place: { readonly root: string; readonly database: string };
  readonly system: SimulatedFileSystem;
  readonly book: Book;
  readonly random: Random;
  readonly fault: Fault | null;
  /** The content of the disk when the power comes back. */
  left: Left;
  /** As the process that lives has it. */
  store: Store | null;
}

const cutsPerRun = 3;
const looksPerCut = 4;

const cutRepeatedly = async (scene: Scene, begun: Run): Promise<Run> => {
  let run = begun;
  const { book, random, system, place } = scene;
  const user = userIn(scene);
  while (run.cuts < cutsPerRun && run.violations.length === 0) {
    putBack(scene);
    const disk = simulatedDisk(scene.left, scene.fault);
    const kills = random.integer(0, 2);
    const wrong: string[] = [];
    for (let kill = 0; kill <= kills && wrong.length === 0; kill += 1) {
      // Often so soon that another process continues the work of the dead one.
      system.begin(disk, random.integer(1, random.percent(40) ? 8 : 120));
      wrong.push(...(await workUntilKilled(scene, user)));
    }
    run = { ...run, kills: run.kills + kills, cuts: run.cuts + 1, acknowledged: book.acknowledged };
    system.begin(null, 0);
    keepDatabase(place);
    for (let looks = 0; looks < looksPerCut && wrong.length === 0; looks += 1) {
      scene.left = disk.cut(random);
      putBack(scene);
      wrong.push(...(await problemsLeft(scene, looks === looksPerCut - 1)));
      run = { ...run, looks: run.looks + 1 };
    }
    run = { ...run, violations: wrong.map((violation) => `after cut ${run.cuts}: ${violation}`) };
  }
  return run;
};

/** Uses the store of the process that lives: what one did not finish another goes on with. */
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

/** Lets a process work until it dies. Returns the violations in its first view of the store. */
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

/** Returns the violations in the view of a fresh process after a power cut. What it adopts is on the disk. */
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

/** SQLite flushes its file by itself, before what it wrote is acknowledged: it is there as it was, if its folder is. */
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
