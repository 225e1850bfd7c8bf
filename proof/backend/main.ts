// Ends the documented chat backend, example 28, in the middle of turns, and measures how soon the next process, or another
// instance, answers. Checks that each turn that was cut off is continued exactly once. Exits with 1 if it is not.
import { runCommand } from "../kit/command.ts";
import { inFolder } from "../kit/folder.ts";
import { fault, flag, seed, someOf, whole } from "../kit/options.ts";
import { type Mistake, withFault, withProgram } from "../kit/program.ts";
import { reportRuns, type SeededRun, wordsOf } from "../kit/report.ts";
import { serverUrl } from "../kit/server-urls.ts";
import { startPgbouncer } from "../servers/pgbouncer.ts";
import { besideAiSdk } from "./beside-ai-sdk.ts";
import { restartBackend } from "./restarts.ts";
import type { BackendOptions } from "./shop-model.ts";
import { takeOver } from "./takeovers.ts";

type Options = BackendOptions & { readonly fault: Fault | null };

export const restarts = ({ fault, ...options }: Options): Promise<readonly SeededRun[]> =>
  withBackend(fault, async (program) => {
    const runs: SeededRun[] = [];
    for (const signal of ["SIGKILL", "SIGTERM"] as const)
      runs.push(await restartBackend(program, { ...options, signal }));
    return runs;
  });

/** Loses one of two instances on PostgreSQL. */
export const takeovers = (
  url: string,
  isPooled: boolean,
  { fault, ...options }: Options,
): Promise<readonly SeededRun[]> =>
  withBackend(fault, (program) =>
    Promise.all(
      // Both ways at once, since they mostly wait.
      (["kill", "cut"] as const).map((way) => takeOver(program, { ...options, way, url, isPooled })),
    ),
  );

/** Does the same behind a pooler that gives each transaction any connection. If there is none, prints why. */
const pooledTakeovers = (url: string, options: Options): Promise<readonly SeededRun[]> =>
  inFolder("pgbouncer", async (folder) => {
    const pooler = await startPgbouncer({ folder, url }).catch((thrown: unknown) => {
      console.log(`pooler: left out, PgBouncer cannot be started: ${wordsOf(thrown)}`);
      return null;
    });
    if (pooler === null) return [];
    try {
      return await takeovers(pooler.url, true, options);
    } finally {
      await pooler.stop();
    }
  });

const parts = {
  restart: restarts,
  takeover: (options: Options) => onPostgres("takeover", (url) => takeovers(url, false, options)),
  pooler: (options: Options) => onPostgres("pooler", (url) => pooledTakeovers(url, options)),
} as const;

const onPostgres = async (
  part: string,
  run: (url: string) => Promise<readonly SeededRun[]>,
): Promise<readonly SeededRun[]> => {
  const url = serverUrl("postgres");
  if (url !== null) return run(url);
  console.log(`${part}: left out, no PostgreSQL is named; \`pnpm servers pnpm backend\` starts one`);
  return [];
};

/** Far more than any machine needs. */
const patienceMs = 60_000;

export const faults = {
  "no-recovery": "the backend continues no thread by itself",
  "orders-twice": "the tool does its work twice",
  "long-leases": "a lease lasts a minute",
} as const;

export type Fault = keyof typeof faults;

export const withBackend = <A>(fault: Fault | null, use: (program: string) => Promise<A>): Promise<A> =>
  withProgram(source, use, withFault(mistakes, fault));

const source = new URL("../../examples/28-node/server.ts", import.meta.url);

const inExample = (text: string, instead: string): Mistake => ({ file: "/examples/28-node/server.ts", text, instead });

const mistakes: Readonly<Record<Fault, Mistake>> = {
  "no-recovery": inExample("createHost({", "createHost({ recovery: false,"),
  "orders-twice": inExample("`${thing}\\n`", "`${thing}\\n${thing}\\n`"),
  "long-leases": inExample("createHost({", "createHost({ leaseTtlMs: 60_000,"),
};

if (import.meta.main)
  await runCommand({
    name: "backend",
    options: {
      // The keys of the object above.
      part: someOf(
        Object.keys(parts) as (keyof typeof parts)[],
        "restart (one process, on SQLite), takeover (two instances, on PostgreSQL), pooler (the same behind PgBouncer)",
      ),
      kills: whole(50, "how often to end the process on SQLite, by each of two signals"),
      takeovers: whole(10, "how often one of two instances is lost, in each of two ways"),
      seed: seed("the seed of the moments of the kills"),
      "beside-ai-sdk": flag("measure example 28 beside the same backend made with the AI SDK, and nothing else"),
      fault: fault(faults),
    },
    run: async ({ part: chosen, "beside-ai-sdk": isBeside, ...options }, again) => {
      if (isBeside) return console.log(await besideAiSdk(options.kills));
      for (const part of chosen)
        await reportRuns(part, parts[part]({ ...options, patienceMs }), options.seed, (changes) =>
          again({ ...changes, part }),
        );
    },
  });
