// Lets tabs of a Chromium use one thread in IndexedDB: they ask, steer, cancel and approve, and are closed, crashed,
// reloaded or stalled in mid-turn. Nothing may be lost, repeated or doubled.
import type { Browser } from "playwright-core";

import { bundleForBrowser } from "../../kit/browser-bundle.ts";
import { neededBrowser, startBrowser } from "../../kit/browser.ts";
import { withCleanup } from "../../kit/cleanup.ts";
import { withFault } from "../../kit/program.ts";
import { randomOf } from "../../kit/random.ts";
import { runSeeds, type SeededRun, wordsOf } from "../../kit/report.ts";
import { commandOf } from "../../kit/target.ts";
import { Conversation, type RunOptions, tabOptions } from "./conversation.ts";
import { type Fault, faults, mistakes } from "./faults.ts";
import { type Had, judgeTabs } from "./judge.ts";
import { TabServer } from "./server.ts";
import { type Report, reporter } from "./talk.ts";

export const useTabs = async (
  runs: number,
  seed: number,
  options: RunOptions & { readonly fault: Fault | null },
): Promise<readonly SeededRun[]> => {
  const plugins = withFault(mistakes, options.fault);
  const page = await bundleForBrowser(new URL(import.meta.resolve("./page.ts")), {}, plugins);
  const browser = await startBrowser(neededBrowser());
  try {
    return await runSeeds(runs, seed, (each) => run(browser, page, each, options));
  } finally {
    await browser.close();
  }
};

const run = (browser: Browser, page: string, seed: number, options: RunOptions): Promise<SeededRun> =>
  withCleanup(async (later) => {
    const server = new TabServer(seed, page, (call) => conversation.called(call));
    const url = await server.start();
    later(() => server.stop());
    const context = await browser.newContext();
    later(() => context.close());
    const random = randomOf(seed);
    const leaseTtlMs = options.stalls > 0 ? leaseTtlMsShort : leaseTtlMsLong;
    const snapshotEvery = random.pick([0, 4]) ?? 0;
    const use = { ...options, options: { database: `tabs-${seed}`, leaseTtlMs, snapshotEvery } };
    const conversation = new Conversation({ context, server, url, random, use });
    await context.exposeFunction(reporter, (report: Report) => conversation.heard(report));
    const had = await held(conversation);
    const { performedBy: calls, went, tookOver } = conversation;
    return {
      seed,
      violations:
        typeof had === "string" ? [had, ...conversation.troubles] : [...judgeTabs(had), ...conversation.troubles],
      counts: {
        entries: typeof had === "string" ? 0 : had.journal.length,
        "calls of models and tools": calls.length,
        "of these repeated after a tab was gone or stalled": calls.length - new Set(calls.map(({ id }) => id)).size,
        ...Object.fromEntries(Object.entries(went).map(([how, times]) => [`tabs by ${how}`, times])),
      },
      seconds: {
        [`until another tab continued for one that was gone in mid-turn; its lease lasts ${leaseTtlMs / 1000} s`]:
          tookOver.map((ms) => ms / 1000),
      },
    };
  });

/** Holds a conversation. Returns a text if it did not end. */
const held = async (conversation: Conversation): Promise<Had | string> => {
  try {
    return await conversation.hold();
  } catch (error) {
    return wordsOf(error);
  }
};

const leaseTtlMsLong = 600_000;
const leaseTtlMsShort = 1_500;

export const command = commandOf({
  name: "tabs",
  stores: ["indexeddb"],
  faults,
  runs: [1, "the number of conversations, one after the other"],
  options: tabOptions,
  run: ({ runs, seed, fault }, options) => useTabs(runs, seed, { ...options, fault }),
});
