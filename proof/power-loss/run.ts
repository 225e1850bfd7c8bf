import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { filesStore } from "@colloquy/runtime-node";

import { threadIds } from "../kit/contents.ts";
import { type Random, randomOf } from "../kit/random.ts";
import type { SeededRun } from "../kit/seeded-runs.ts";
import { isFolder, type Left, simulatedDisk } from "./disk.ts";
import { certainly } from "./expected.ts";
import type { Fault } from "./disk.ts";
import { SimulatedFileSystem } from "./file-system.ts";
import { differences, look, type Seen } from "./look.ts";
import { type Knowledge, knowledge, Worker } from "./work.ts";

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
  const base = mkdtempSync(join(memory, "colloquy-power-loss-"));
  const place = { root: join(base, "disk"), database: join(base, "database") };
  const system = new SimulatedFileSystem(place.root);
  mkdirSync(place.root);
  mkdirSync(place.database);
  const known = knowledge();
  const random = randomOf(seed);
  const done = { seed, violations: [], cuts: 0, looks: 0, kills: 0, acknowledged: 0 };
  const uninstall = system.install();
  try {
    return await cutRepeatedly({ place, system, known, random, fault, left: new Map() }, done);
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
  readonly known: Knowledge;
  readonly random: Random;
  readonly fault: Fault | null;
  /** The content of the disk when the power comes back. */
  left: Left;
}

const cutsPerRun = 3;
const looksPerCut = 4;

const cutRepeatedly = async (scene: Scene, begun: Run): Promise<Run> => {
  let run = begun;
  const { known, random, system, place } = scene;
  while (run.cuts < cutsPerRun && run.violations.length === 0) {
    putBack(scene);
    const disk = simulatedDisk(scene.left, scene.fault);
    const kills = random.integer(0, 2);
    const wrong: string[] = [];
    for (let kill = 0; kill <= kills && wrong.length === 0; kill += 1) {
      // Often so soon that another process continues the work of the dead one.
      system.begin(disk, random.integer(1, random.percent(40) ? 8 : 120));
      wrong.push(...(await workUntilKilled(scene)));
    }
    run = { ...run, kills: run.kills + kills, cuts: run.cuts + 1, acknowledged: known.acknowledged };
    system.begin(null, 0);
    keepDatabase(place);
    for (let looks = 0; looks < looksPerCut && wrong.length === 0; looks += 1) {
      scene.left = disk.cut(random);
      putBack(scene);
      const seen = await looked(scene);
      wrong.push(...(typeof seen === "string" ? [seen] : wrongIn(seen, known)));
      run = { ...run, looks: run.looks + 1 };
      if (looks === looksPerCut - 1 && typeof seen !== "string") adopt(seen, known);
    }
    run = { ...run, violations: wrong.map((violation) => `after cut ${run.cuts}: ${violation}`) };
  }
  return run;
};

/** Lets a process work until it dies. Returns the violations in its first view of the store. */
const workUntilKilled = async (scene: Scene): Promise<readonly string[]> => {
  const { system, known, random } = scene;
  const close: (() => Promise<void>)[] = [];
  try {
    const store = opened(scene);
    close.push(() => store.close?.() ?? Promise.resolve());
    const seen = await look(store, envelopesOf(known));
    const wrong = wrongIn(seen, known);
    if (wrong.length > 0) return wrong.map((violation) => `after a kill: ${violation}`);
    see(seen, known);
    const worker = new Worker(store, known, random);
    for (;;) await worker.work();
  } catch (thrown) {
    if (system.isDead) return [];
    return [`without a cut: ${String(thrown)}`];
  } finally {
    for (const each of close) await each();
  }
};

const opened = ({ place }: Scene): ReturnType<typeof filesStore> =>
  filesStore({ folder: join(place.root, "threads"), clock: { now: () => 0 } });

const envelopesOf =
  ({ threads }: Knowledge) =>
  (threadId: string): readonly string[] => [...(threads.get(threadId)?.envelopes.keys() ?? [])];

/** Returns the view of a fresh process; a text if it sees nothing. */
const looked = async (scene: Scene): Promise<Seen | string> => {
  try {
    const store = opened(scene);
    try {
      return await look(store, envelopesOf(scene.known));
    } finally {
      await store.close?.();
    }
  } catch (thrown) {
    return String(thrown);
  }
};

const wrongIn = ({ threads, violations }: Seen, known: Knowledge): readonly string[] => [
  ...violations,
  ...threadIds.flatMap((threadId) => {
    const [seen, expected] = [threads.get(threadId), known.threads.get(threadId)];
    return seen === undefined || expected === undefined ? [] : differences(threadId, seen, expected);
  }),
];

/** A power cut may still lose a state that was seen after a kill. */
const see = ({ threads }: Seen, known: Knowledge): void => {
  for (const [threadId, { state, envelopes }] of threads) {
    const expected = known.threads.get(threadId);
    if (expected === undefined) continue;
    expected.thread = { ...expected.thread, seen: state };
    for (const [id, seen] of envelopes)
      expected.envelopes.set(id, { left: [seen], ...expected.envelopes.get(id), seen });
  }
};

/** A state that was seen after a power cut is on the disk. */
const adopt = ({ threads }: Seen, known: Knowledge): void => {
  for (const [threadId, { state, envelopes }] of threads) {
    const expected = known.threads.get(threadId);
    if (expected === undefined) continue;
    expected.thread = certainly(state);
    for (const [id, seen] of envelopes) expected.envelopes.set(id, certainly(seen));
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
