import { chmodSync } from "node:fs";

import type { Store } from "@colloquy/host";

import { eventually } from "../kit/calls.ts";
import { runCommand } from "../kit/command.ts";
import { inFolder } from "../kit/folder.ts";
import { fault, seed, whole } from "../kit/options.ts";
import { randomOf } from "../kit/random.ts";
import { reportRuns, type SeededRun } from "../kit/seeded-runs.ts";
import { freePort, type Server } from "../servers/process.ts";
import { violationsIn } from "./check.ts";
import { type Crowd, startCrowd } from "./crowd.ts";
import { killServer } from "./kill.ts";

/** A server to kill, with a fault or without one. */
export interface ServerToKill {
  /** Starts it in a folder, which is empty or one that it left when it was killed. */
  readonly start: (folder: string, port: number) => Promise<Server>;
  readonly open: (url: string) => Store;
  /** Called ahead of each kill. Calls what it returns when the server is dead. */
  readonly onKill?: (folder: string, crowd: Crowd) => Promise<() => void>;
}

export interface ServerCrashes extends SeededRun {
  readonly kills: number;
  readonly acknowledged: number;
  readonly failures: number;
}

/** Kills a server so many times, or until something is wrong. */
export const crashServer = (server: ServerToKill, runs: number, seed: number): Promise<ServerCrashes> =>
  inFolder("crash-server", async (folder) => {
    // The server may run as another user when this is root.
    chmodSync(folder, 0o755);
    const port = await freePort();
    let running = await server.start(folder, port);
    const open = (): Store => server.open(running.url);
    const [reader, stores] = [open(), [open(), open(), open()]];
    try {
      const crowd = startCrowd(stores);
      const random = randomOf(seed);
      const violations: string[] = [];
      let kills = 0;
      while (kills < runs && violations.length === 0) {
        await crowd.acknowledged(random.integer(5, 200));
        const afterKill = await server.onKill?.(folder, crowd);
        await killServer(running.pid);
        kills += 1;
        afterKill?.();
        running = await server.start(folder, port);
        // The reader's connection is broken, which its first call may have to find out.
        violations.push(...(await eventually(() => violationsIn(reader, crowd.writers))));
      }
      // The writers continue, each with the store that it had. After a violation they may fail in ways that they do not
      // expect.
      if (violations.length === 0) await crowd.acknowledged(20);
      await crowd.stop().catch((error: unknown) => void violations.push(String(error)));
      const acknowledged = crowd.writers.reduce((sum, writer) => sum + writer.acknowledged.size, 0);
      const failures = crowd.writers.reduce((sum, writer) => sum + writer.failures(), 0);
      return { seed, kills, violations, acknowledged, failures };
    } finally {
      await Promise.all([reader, ...stores].map((store) => store.close()));
      await running.stop();
    }
  });

/** The command that kills servers of one kind. */
export const runServerCommand = <Fault extends string>(
  name: string,
  title: string,
  faults: Readonly<Record<Fault, string>>,
  crash: (runs: number, seed: number, fault: Fault | null) => Promise<ServerCrashes>,
): Promise<void> =>
  runCommand({
    name,
    options: {
      runs: whole(20, "how often to kill the server"),
      seed: seed("what the moments of the kills follow from"),
      fault: fault(faults, "set the server up wrongly, to see that it is noticed"),
    },
    run: ({ runs, seed, fault }, again) =>
      reportRuns(
        crash(runs, seed, fault).then((crashes) => [crashes]),
        ([crashes]) =>
          `${title} killed ${crashes?.kills} times; ${crashes?.acknowledged} entries were acknowledged, ` +
          `${crashes?.failures} calls failed meanwhile.`,
        seed,
        () => again({ runs, seed }),
      ),
  });
