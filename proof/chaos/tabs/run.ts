import type { Browser } from "playwright-core";

import { withCleanup } from "../../kit/cleanup.ts";
import { randomOf } from "../../kit/random.ts";
import { wordsOf } from "../../kit/report.ts";
import type { SeededRun } from "../../kit/seeded-runs.ts";
import { Conversation, type RunOptions } from "./conversation.ts";
import { type Had, judgeTabs } from "./judge.ts";
import { TabServer } from "./server.ts";
import { type Report, reporter } from "./talk.ts";

/** The outcome of one conversation. */
export interface Run extends SeededRun {
  readonly entries: number;
  readonly calls: number;
  readonly again: number;
  readonly went: Conversation["went"];
  readonly tookOver: readonly number[];
  readonly leaseTtlMs: number;
}

/** Holds one conversation in tabs of a browser, with a page that was bundled, and judges it. */
export const run = (browser: Browser, page: string, seed: number, options: RunOptions): Promise<Run> =>
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
      entries: typeof had === "string" ? 0 : had.journal.length,
      calls: calls.length,
      again: calls.length - new Set(calls.map(({ id }) => id)).size,
      went,
      tookOver,
      leaseTtlMs,
    };
  });

/** Holds a conversation. A text says why it did not end. */
const held = async (conversation: Conversation): Promise<Had | string> => {
  try {
    return await conversation.hold();
  } catch (error) {
    return wordsOf(error);
  }
};

const leaseTtlMsLong = 600_000;
const leaseTtlMsShort = 1_500;
