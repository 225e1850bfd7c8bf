import { storeChecks } from "@colloquy/runtime-test/contracts";
import type { Page } from "playwright-core";
import { beforeAll, describe, it } from "vitest";
import { seedOfRun } from "../../../../test/seed.ts";
import { inChromium } from "./in-chromium.ts";

// A browser may be stricter than fake-indexeddb: the same contract as in indexed-db-store.test.ts.
inChromium("indexedDbStore keeps the store contract in a Chromium", "contract-page.ts", ({ profile, tab }) => {
  describe.concurrent.each([
    ["with Web Locks", true],
    ["without them", false],
  ] as const)("%s: a store", (_, hasLocks) => {
    let page: Page;
    beforeAll(async () => {
      page = await tab(await profile());
    });
    it.for(storeChecks)("$name", async ({ name }) => {
      await page.evaluate(([check, has, seed]) => holdTo(check, has, seed), [name, hasLocks, seedOfRun()] as const);
    });
  });
});
