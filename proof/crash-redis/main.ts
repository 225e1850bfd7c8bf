// Kills a Redis of its own with SIGKILL while stores append to it, starts it again, and checks that every acknowledged
// entry is there, that nothing is there which no writer wrote, and that the same stores continue to work. The Redis is
// set up as the docs demand, with `appendfsync always`. Exits with 1 when anything is wrong.
import { globSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";

import { redisStore } from "@colloquy/runtime-node/redis";

import { crashServer, runServerCommand, type ServerCrashes } from "../crash-server/run.ts";
import { startRedis } from "../servers/redis.ts";

const faults = {
  everysec: "the server flushes each second, and the power fails: what it wrote since is gone",
  dumps: "the server keeps no append-only file",
} as const;

type Fault = keyof typeof faults;

/** Kills a server so many times, or until something is wrong. */
export const crashRedis = (runs: number, seed: number, fault: Fault | null): Promise<ServerCrashes> =>
  crashServer(
    {
      start: (folder, port) => startRedis({ folder, port, settings: settingsFor(fault) }),
      open: (url) => redisStore({ url }),
      onKill: async (folder, crowd) => {
        if (fault !== "everysec") return () => undefined;
        const flushed = sizesIn(folder);
        await crowd.acknowledged(20);
        return () => {
          for (const { path, bytes } of flushed) truncateSync(path, bytes);
        };
      },
    },
    runs,
    seed,
  );

const settingsFor = (fault: Fault | null): Readonly<Record<string, string>> =>
  fault === "dumps"
    ? { appendonly: "no" }
    : { appendonly: "yes", appendfsync: fault === "everysec" ? "everysec" : "always" };

/** Of the files that it appends to: all of them in version 7, where one that is read again grows no more. */
const sizesIn = (folder: string): readonly { readonly path: string; readonly bytes: number }[] =>
  globSync(join(folder, "data/**/*.aof")).map((path) => ({ path, bytes: statSync(path).size }));

if (import.meta.main) await runServerCommand("crash-redis", "A Redis", faults, crashRedis);
