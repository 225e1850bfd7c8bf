// Has tabs of a Chromium talk on one thread in IndexedDB: they ask, steer, cancel and approve, and are closed, crashed,
// loaded again or stopped in the middle of turns. Nothing is lost, repeated or there twice.
import { neededBrowser, startBrowser } from "../../kit/browser.ts";
import { bundleForBrowser } from "../../kit/browser-bundle.ts";
import { withMistakes } from "../../kit/mistakes.ts";
import { whole } from "../../kit/options.ts";
import { runSeeds, sumOf } from "../../kit/seeded-runs.ts";
import { commandOf } from "../../kit/target.ts";
import type { RunOptions } from "./conversation.ts";
import { type Fault, faults, mistakes } from "./faults.ts";
import { type Run, run } from "./run.ts";

/** Runs of consecutive seeds, each a conversation in a profile of its own. Stops early at a violation. */
export const useTabs = async (
  runs: number,
  seed: number,
  options: RunOptions & { readonly fault: Fault | null },
): Promise<readonly Run[]> => {
  const plugins = options.fault === null ? [] : [withMistakes(mistakes[options.fault])];
  const page = await bundleForBrowser(new URL(import.meta.resolve("./page.ts")), {}, plugins);
  const browser = await startBrowser(neededBrowser());
  try {
    return await runSeeds(runs, seed, (each) => run(browser, page, each, options));
  } finally {
    await browser.close();
  }
};

const totals = (runs: readonly Run[]): string => {
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

export const command = commandOf({
  name: "tabs",
  stores: ["indexeddb"],
  faults,
  runs: [1, "how many conversations, one after the other"],
  options: {
    asks: whole(60, "how much is asked in each"),
    tabs: whole(3, "how many tabs are open at a time", { least: 2 }),
    closes: whole(12, "how often a tab is closed, crashed or loaded again", some),
    stalls: whole(0, "how often a tab stands still past its lease, which is short then", some),
  },
  run: ({ runs, seed, fault }, options) => useTabs(runs, seed, { ...options, fault }),
  totals,
});
