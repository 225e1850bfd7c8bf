import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";

import { startBrowser } from "../../../../../proof/kit/browser.ts";

/** The tools of a test in a browser. */
export interface InBrowser {
  /** Opens an address in a window of this size. Its `problems` collect errors and requests to other origins. */
  readonly open: (url: string, size?: { readonly width: number; readonly height: number }) => Promise<Opened>;
}

export interface Opened {
  readonly page: Page;
  /** The errors that the page reported, and its requests to other origins. */
  readonly problems: readonly string[];
}

/** Declares tests that share a browser. Without a browser they are skipped, and their name says why. */
export const withBrowser = (name: string, tests: (browser: InBrowser) => void): void => {
  const path = process.env["COLLOQUY_CHROMIUM"] ?? "";
  const leftOut =
    path === "" ? " (left out: COLLOQUY_CHROMIUM names no browser; `pnpm servers pnpm test` has one)" : "";
  describe.skipIf(path === "")(`${name}${leftOut}`, () => {
    let browser: Browser | null = null;
    beforeAll(async () => {
      browser = await startBrowser(path);
    });
    afterAll(() => browser?.close());
    tests({
      open: async (url, viewport = { width: 1_600, height: 900 }) => {
        if (browser === null) throw new Error("the browser did not start");
        const context = await browser.newContext({ viewport });
        const page = await context.newPage();
        const problems: string[] = [];
        page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
        page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`));
        page.on("console", (message) => {
          if (message.type() === "error" || message.type() === "warning")
            problems.push(`${message.type()}: ${message.text()}`);
        });
        page.on("request", (request) => {
          if (new URL(request.url()).origin !== new URL(url).origin) problems.push(`asks ${request.url()}`);
        });
        await page.goto(url);
        return { page, problems };
      },
    });
  });
};

/** Checks that a page is no wider than its window, so that nobody has to scroll sideways. */
export const fitsAcross = async (page: Page): Promise<void> => {
  const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth] as const);
  expect(inner).toBeLessThanOrEqual(outer);
};
