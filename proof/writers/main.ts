// Has several processes write one thread at once: each asks, many at a time, and answers whatever is asked while it
// holds the thread; the holder is stopped past its lease once, and let go again. Then looks whether any ask was lost or
// answered twice. Exits with 1 when anything is wrong.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { withProgram } from "../crash/program.ts";
import { type WritersOptions, writeTogether, type Written } from "./run.ts";

const usage = `Usage: pnpm writers [--store sqlite|postgres] [--asks N] [--processes N] [--outstanding N] [--lease MS]

  --store NAME     sqlite (a file, made for it) or postgres (at COLLOQUY_POSTGRES_URL); default sqlite
  --asks N         of all processes together (default 10000)
  --processes N    how many processes (default 4)
  --outstanding N  how many asks each of them has out at a time (default 32)
  --lease MS       how long a lease lasts; the holder is stopped for twice as long (default 1000)`;

/** Has processes write one thread, with a program that is made for it. */
export const writers = (options: WritersOptions): Promise<Written> =>
  withProgram(fileURLToPath(import.meta.resolve("./child.ts")), (program) => writeTogether(program, options));

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const { problems, entries, seconds, again, because } = await writers(options);
  const rate = Math.round(options.asks / seconds);
  console.log(
    `${options.store}: ${options.asks} asks of ${options.processes} processes, ${entries} entries, ${seconds.toFixed(1)} s, ${rate} asks/s; ${again} asked again.`,
  );
  for (const [reason, times] of because) console.log(`  ${times} times: ${reason}`);
  if (problems.length === 0) console.log("None is lost, none is answered twice, and the sequence has no gaps.");
  for (const problem of problems.slice(0, problemsShown)) console.error(`  ${problem}`);
  if (problems.length > problemsShown) console.error(`  and ${problems.length - problemsShown} more`);
  process.exitCode = problems.length === 0 ? 0 : 1;
};

const problemsShown = 20;

/** What was asked for, or what is wrong with it. */
const optionsOf = (args: string[]): WritersOptions | string => {
  try {
    const number = (value: string): { readonly type: "string"; readonly default: string } => ({
      type: "string",
      default: value,
    });
    const { values } = parseArgs({
      args,
      options: {
        store: { type: "string", default: "sqlite" },
        asks: number("10000"),
        processes: number("4"),
        outstanding: number("32"),
        lease: number("1000"),
      },
    });
    const { store, asks, processes, outstanding, lease } = values;
    if (store !== "sqlite" && store !== "postgres") return `--store is "${store}"; give sqlite or postgres`;
    for (const [name, value] of Object.entries({ asks, processes, outstanding, lease }))
      if (!/^[1-9]\d{0,6}$/u.test(value)) return `--${name} is "${value}"; give a whole number of 1 or more`;
    return {
      store,
      asks: Number(asks),
      processes: Number(processes),
      outstanding: Number(outstanding),
      leaseTtlMs: Number(lease),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

if (import.meta.main) await main();
