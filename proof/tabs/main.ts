// Has tabs of a Chromium talk on one thread in IndexedDB: they ask, steer, cancel and approve, and are closed, crashed,
// loaded again or stopped in the middle of turns, as a seed says. Then looks whether anything was lost, repeated or is
// there twice. Exits with 1 when anything is wrong.
import { neededBrowser, startBrowser } from "../kit/browser.ts";
import { bundleForBrowser } from "../kit/browser-bundle.ts";
import { runCommand } from "../kit/command.ts";
import { fault, seed, whole } from "../kit/options.ts";
import { reportRuns, runSeeds, sumOf } from "../kit/seeded-runs.ts";
import { type Fault, faults, seedFault } from "./faults.ts";
import { type Run, run } from "./run.ts";
import type { RunOptions } from "./use.ts";

/** Runs of consecutive seeds, each a conversation in a profile of its own. Stops early at a violation. */
export const useTabs = async (
  runs: number,
  seed: number,
  options: RunOptions & { readonly fault: Fault | null },
): Promise<readonly Run[]> => {
  const plugins = options.fault === null ? [] : [seedFault(options.fault)];
  const page = await bundleForBrowser(new URL(import.meta.resolve("./page.ts")), {}, plugins);
  const browser = await startBrowser(neededBrowser());
  try {
    return await runSeeds(runs, seed, (each) => run(browser, page, each, options));
  } finally {
    await browser.close();
  }
};

const totalsOf = (runs: readonly Run[]): string => {
  const took = runs.flatMap(({ tookOver }) => tookOver).sort((one, other) => one - other);
  const ms = (share: number): string => (took[Math.floor(took.length * share)] ?? took.at(-1) ?? 0).toFixed(0);
  return [
    `${sumOf(runs, ({ entries }) => entries)} entries, ${sumOf(runs, ({ calls }) => calls)} calls of models and tools, ` +
      `${sumOf(runs, ({ again }) => again)} of them made again after a tab that was gone or stood still.`,
    `Tabs closed ${sumOf(runs, ({ went }) => went.close)}, crashed ${sumOf(runs, ({ went }) => went.crash)}, ` +
      `loaded again ${sumOf(runs, ({ went }) => went.reload)}, stood still ${sumOf(runs, ({ went }) => went.stall)}.`,
    ...(took.length === 0
      ? []
      : [
          `After a tab was gone in mid-turn another went on in ${ms(0.5)} ms (median of ${took.length}; at most ${ms(1)}); ` +
            `the lease would have lasted ${(runs[0]?.leaseTtlMs ?? 0).toLocaleString("en")}.`,
        ]),
  ].join("\n");
};

const some = { least: 0 };

if (import.meta.main)
  await runCommand({
    name: "tabs",
    options: {
      runs: whole(1, "how many conversations, one after the other"),
      asks: whole(60, "how much is asked in each"),
      tabs: whole(3, "how many tabs are open at a time", { least: 2 }),
      closes: whole(12, "how often a tab is closed, crashed or loaded again", some),
      stalls: whole(0, "how often a tab stands still past its lease, which is short then", some),
      seed: seed("what is done when follows from; run i has the seed S + i"),
      fault: fault(faults),
    },
    run: ({ runs, seed, ...options }, again) => reportRuns(useTabs(runs, seed, options), totalsOf, seed, again),
  });
