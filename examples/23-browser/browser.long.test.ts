import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "../../proof/kit/browser.ts";
import { serveSite, type Site } from "./main.ts";

const path = process.env["COLLOQUY_CHROMIUM"] ?? "";
const leftOut = path === "" ? " (left out: COLLOQUY_CHROMIUM names no browser; `pnpm servers pnpm test` has one)" : "";

// Tests examples/23-browser/page.ts in a browser.
describe.skipIf(path === "")(`the conversation in a browser${leftOut}`, () => {
  let browser: Browser;
  let context: BrowserContext;
  let site: Site;

  beforeAll(async () => {
    [browser, site] = await Promise.all([startBrowser(path), serveSite(40)]);
    context = await browser.newContext({ viewport: { width: 800, height: 600 } });
  });

  afterAll(async () => {
    await browser.close();
    site.close();
  });

  const opened = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(site.url);
    return page;
  };

  const ask = async (page: Page, question: string): Promise<void> => {
    await page.getByRole("textbox").fill(question);
    await page.getByRole("button").click();
  };

  const first = "You asked one thing so far, the last of them: Is it raining?";
  const second = "You asked 2 things so far, the last of them: And in Oslo?";

  test("is the same in two tabs, outlives a reload, and continues if a tab is closed during an answer", async () => {
    const [one, other] = [await opened(), await opened()];
    await ask(one, "Is it raining?");
    await other.getByText(first).waitFor();
    await other.getByText("Is it raining?", { exact: true }).waitFor();
    await ask(one, "And in Oslo?");
    await other.getByText("You asked 2").waitFor();
    await one.close();
    await other.getByText(second).waitFor();
    await other.reload();
    await other.getByText(second).waitFor();
    expect(await other.locator("p").allTextContents()).toEqual(["Is it raining?", first, "And in Oslo?", second]);
  });
});
