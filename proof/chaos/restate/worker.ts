// A worker of an engine, until it is killed or its parent process ends. It prints its address, and then the name of
// each tool and model that is called.
import { serve } from "@colloquy/runtime-restate";
import { redisHub } from "@colloquy/runtime-restate/redis";

import { recorderOf } from "../story/facts.ts";
import { scriptOf } from "./script.ts";

export interface WorkerOptions {
  readonly facts: string;
  readonly slackMs: number;
  readonly snapshotEvery: number;
  /** The Redis that shows askers what happens; null: they poll the journals. */
  readonly redisUrl: string | null;
}

export const work = async ({ facts, slackMs, snapshotEvery, redisUrl }: WorkerOptions): Promise<void> => {
  const record = recorderOf(facts);
  const script = scriptOf({
    note: (fact) => {
      record(fact);
      process.stdout.write(`${fact.what}\n`);
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

// The parent process writes these options.
if (import.meta.main) await work(JSON.parse(process.argv[2] ?? "") as WorkerOptions);
