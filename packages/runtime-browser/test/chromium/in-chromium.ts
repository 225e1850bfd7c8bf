import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { startBrowser, startBrowserIn } from "../../../../proof/kit/browser.ts";
import { serveSite, type Site } from "./site.ts";

/** A Chromium, and a site for its pages. */
export interface InChromium {
  readonly site: () => Site;
  /** Opens a browser context whose storage is in memory. */
  readonly profile: () => Promise<BrowserContext>;
  /** Opens a context with storage in a folder, in a separate Chromium, which the test ends. */
  readonly profileIn: (folder: string) => Promise<BrowserContext>;
  /** Opens a page of the site, and awaits its script. */
  readonly tab: (profile: BrowserContext, url?: string) => Promise<Page>;
}

/** Registers tests in a Chromium, on pages with a script from this folder. Without one they are skipped. */
export const inChromium = (name: string, script: string, tests: (chromium: InChromium) => void): void => {
  const path = process.env["COLLOQUY_CHROMIUM"] ?? "";
  const leftOut =
    path === "" ? " (left out: COLLOQUY_CHROMIUM names no browser; `pnpm servers pnpm test` has one)" : "";
  describe.skipIf(path === "")(`${name}${leftOut}`, () => {
    let browser: Browser;
    let site: Site;

    beforeAll(async () => {
      [browser, site] = await Promise.all([startBrowser(path, [insecureIsHere]), serveSite(script)]);
    });
    afterAll(async () => {
      await browser.close();
      site.close();
    });

    tests({
      site: () => site,
      profile: () => browser.newContext(),
      profileIn: (folder) => startBrowserIn(path, folder),
      tab: async (profile, url = site.url) => {
        const page = await profile.newPage();
        await page.goto(url);
        return page;
      },
    });
  });
};

/**
 * A host on this machine whose pages are not secure contexts, since they use plain HTTP and its name is not the
 * machine's.
 */
export const insecureHost = "chat.example";

const insecureIsHere = `--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`;
