// A worker of an engine, until it is killed or the process that started it is gone. It says on its output where it
// listens, and then one line for each tool and model call that begins.
import { serve } from "@colloquy/runtime-restate";
import { redisHub } from "@colloquy/runtime-restate/redis";

import type { Fault } from "./faults.ts";
import { noteRun } from "./ledger.ts";
import { scriptOf } from "./script.ts";

/** The options of a worker, as JSON in its first argument. */
export interface WorkerOptions {
  /** The file in which it notes what runs. */
  readonly ledger: string;
  /** How long each tool and model call takes at most, in milliseconds. */
  readonly slackMs: number;
  readonly snapshotEvery: number;
  /** The Redis by which those who ask are shown what happens; null: they look into journals. */
  readonly redisUrl: string | null;
  readonly fault: Fault | null;
}

/** Serves conversations, until this process ends. */
export const work = async ({ ledger, slackMs, snapshotEvery, redisUrl }: WorkerOptions): Promise<void> => {
  const script = scriptOf({
    note: (ran) => {
      noteRun(ledger, ran);
      process.stdout.write(`${ran.what} ${ran.id}\n`);
    },
    slackMs,
  });
  const { url } = await serve({
    ...script,
    ...(redisUrl !== null && { hub: redisHub({ url: redisUrl }) }),
    port: 0,
    snapshotEvery,
  });
  process.stdin.on("end", () => process.exit()).resume();
  process.stdout.write(`listens on ${new URL(url).port}\n`);
};

// The driver writes them.
if (import.meta.main) await work(JSON.parse(process.argv[2] ?? "") as WorkerOptions);
