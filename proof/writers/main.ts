// Has several processes write one thread at once: each asks, many at a time, and answers all asks while it has the
// lease of the thread. That process is stopped once past its lease, and then continued. Then looks whether any ask was
// lost or answered twice. Exits with 1 when anything is wrong.
import { runCommand } from "../kit/command.ts";
import { oneOf, whole } from "../kit/options.ts";
import { withProgram } from "../kit/program.ts";
import { printViolations } from "../kit/report.ts";
import { type WritersOptions, writeTogether, type Written } from "./run.ts";

/** Has processes write one thread, with a program that is made for it. */
export const writers = (options: WritersOptions): Promise<Written> =>
  withProgram(new URL(import.meta.resolve("./child.ts")), (program) => writeTogether(program, options));

if (import.meta.main)
  await runCommand({
    name: "writers",
    options: {
      store: oneOf(
        ["sqlite", "postgres"],
        "sqlite",
        "sqlite (a file, made for it) or postgres (at COLLOQUY_POSTGRES_URL); default sqlite",
      ),
      asks: whole(10_000, "of all processes together"),
      processes: whole(4, "how many processes"),
      outstanding: whole(32, "how many asks each of them has out at a time"),
      lease: whole(1_000, "how long a lease lasts; the process that has it is stopped for twice as long", {
        placeholder: "MS",
      }),
    },
    run: async ({ lease: leaseTtlMs, ...options }) => {
      const { problems, entries, seconds, again, because } = await writers({ ...options, leaseTtlMs });
      const rate = Math.round(options.asks / seconds);
      console.log(
        `${options.store}: ${options.asks} asks of ${options.processes} processes, ${entries} entries, ${seconds.toFixed(1)} s, ${rate} asks/s; ${again} asked again.`,
      );
      for (const [reason, times] of because) console.log(`  ${times} times: ${reason}`);
      if (problems.length === 0) console.log("None is lost, none is answered twice, and the sequence has no gaps.");
      printViolations(problems);
    },
  });
