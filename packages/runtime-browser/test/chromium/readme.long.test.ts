import { expect, test } from "vitest";
import { inChromium } from "./in-chromium.ts";

inChromium("in a Chromium", "../../../../examples/readme/runtime-browser.ts", ({ profile, tab }) => {
  test("the README's example remembers what was said before the page was loaded again", async () => {
    const context = await profile();
    const said: string[] = [];
    context.on("console", (message) => said.push(message.text()));
    const page = await tab(context);
    await expect.poll(() => said).toEqual(["I have read 1 messages."]);
    await page.reload();
    await expect.poll(() => said).toEqual(["I have read 1 messages.", "I have read 3 messages."]);
    await context.close();
  });
});
