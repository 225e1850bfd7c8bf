import { sqliteStore } from "@colloquy/runtime-node";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spread } from "../../../../test/runs.ts";
import { fitsAcross, withBrowser } from "./kit/browser.ts";
import { type ServedStudio, serveStudio } from "./kit/served.ts";
import { planTrip, trips } from "./kit/trip.ts";

withBrowser("the page", ({ open }) => {
  const store = sqliteStore({ path: ":memory:" });
  const planned = trips(store, Date.now());
  let served: ServedStudio;
  beforeAll(async () => {
    await planTrip(planned.host, "trip");
    await planned.host.ask("Trains on the 12th?", { threadId: "support/2291" });
    served = await serveStudio(store, planned);
  });
  afterAll(async () => {
    await served.close();
    await planned.close();
    await store.close();
  });

  const at = (place: string): string => `${served.url}/studio#${place}`;

  /** Waits until the page knows the number of entries, since keys need it. */
  const untilCounted = (page: Page): Promise<void> => page.getByText(/^\d+ entries, \d+ turns?,/).waitFor();

  test("threads are listed, and one that any process begins or goes on with is shown at once", async () => {
    const { page, problems } = await open(at(""));
    await page.locator(".thread-id").getByText("trip", { exact: true }).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    await planned.host.ask("Anybody there?", { threadId: "begun later" });
    await page.locator(".thread").filter({ hasText: "begun later" }).click();
    await page.locator(".entry.user").filter({ hasText: "Anybody there?" }).waitFor();
    await planned.host.ask("And now?", { threadId: "begun later" });
    await page.locator(".entry.user").filter({ hasText: "And now?" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("the timeline leads to the state behind an entry, with the present state lit and the way there", async () => {
    const { page, problems } = await open(at("thread=trip&pane=journal&tab=state&seq=0"));
    await page.getByRole("option").filter({ hasText: "What is the weather like" }).click();
    await page.locator('.chart .lit[data-state="responding"]').waitFor();
    expect(await page.locator('.chart .lit[data-state="awaiting_llm"]').count()).toBe(1);
    await untilCounted(page);
    await page.keyboard.press("j");
    await page.locator('.chart .lit[data-state="running"]').waitFor();
    expect(await page.locator('.chart .was[data-state="responding"]').count()).toBe(1);
    expect(await page.locator(".chart .arrow.lit title").textContent()).toBe(
      "awaiting_llm → awaiting_tool: llm.completed",
    );
    expect(
      await page
        .locator(".chart .state")
        .evaluateAll((states) =>
          states.map((state) => state.getAttribute("data-state") ?? "").sort((one, other) => (one < other ? -1 : 1)),
        ),
    ).toEqual([
      "awaiting_approval",
      "awaiting_llm",
      "awaiting_tool",
      "backing_off",
      "checking",
      "compacting",
      "completed",
      "error",
      "idle",
      "responding",
      "running",
    ]);
    expect(problems).toEqual([]);
  });

  test("the tree shows all branches, those off the path too", async () => {
    const { page, problems } = await open(at("thread=trip&pane=journal&view=tree"));
    const left = page.locator(".branch").filter({ hasText: "Find us hotels" });
    await left.waitFor();
    expect(await page.locator(".branch").count()).toBe(13);
    expect(await left.getAttribute("class")).toBe("branch begins");
    expect(await page.locator(".branch.on-path").count()).toBe(12);
    expect(await page.locator(".branch").filter({ hasText: "head" }).textContent()).toContain("Book two seats");
    await left.click();
    await page.getByText("No hotels").first().waitFor();
    await page.waitForURL(/seq=18\b/);
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.locator(".row").filter({ hasText: "Which platform" }).locator(".asks").click();
    await page.locator(".figures").waitFor();
    await page.waitForURL(/seq=15\b/);
    expect(problems).toEqual([]);
  });

  test("the prompt of a call says what is kept and dropped and why, and what it takes of the budget", async () => {
    const { page, problems } = await open(at("thread=trip&seq=30&pane=detail&tab=prompt"));
    await page.locator(".figures").waitFor();
    expect(await page.locator(".figures").textContent()).toBe(
      "624 of 700 tokens (89 %), all would take 1,096; the provider reported 624",
    );
    const [bar, reserve] = await page.evaluate(() =>
      [".bar", ".segment.reserve"].map((each) => document.querySelector(each)?.getBoundingClientRect().width ?? 0),
    );
    expect(Math.round(((reserve ?? 0) / (bar ?? 1)) * 900)).toBeCloseTo(200, -1);
    const units = page.locator(".unit");
    await units.first().waitFor();
    expect(await units.nth(1).textContent()).toContain("olderolder than what fits into 700 tokens0 / 22");
    const shrunk = page.locator(".unit.shrunk").first();
    expect(await shrunk.textContent()).toContain("results are shown by head and tail, in 200 characters");
    await shrunk.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("as the prompt shows it").waitFor();
    expect(await dialog.locator(".message").count()).toBe(4);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByLabel("Policy").selectOption("the last 2 turns");
    await page.getByText("last-turns@1").waitFor();
    expect(await page.locator(".legend").textContent()).toContain("left out");
    expect(problems).toEqual([]);
  });

  test("an approval is answered as it was shown, and what follows is shown as it comes", async () => {
    const { page, problems } = await open(at("thread=trip&pane=journal"));
    await page.locator(".approval .digest").waitFor();
    expect(await page.locator(".approval-what").textContent()).toMatch(/^book@2 waits for your approval\w{8,}$/);
    expect(await page.locator(".approval .json").textContent()).toContain('"coach": "quiet"');
    await page.getByLabel("Reason of a denial").fill("the quiet coach is full");
    await page.getByRole("heading", { name: "trip" }).click();
    await page.keyboard.press("a");
    await page.waitForFunction(() => document.activeElement?.className === "primary approve");
    await page.keyboard.press("d");
    expect(await page.locator("form.approval").count()).toBe(1);
    await page.keyboard.press("Enter");
    await page.locator("form.approval").waitFor({ state: "detached" });
    await page
      .locator(".entry.approval")
      .filter({ hasText: "book denied by studio: the quiet coach is full" })
      .waitFor();
    await page.locator(".selected .entry.assistant").filter({ hasText: "Here is what I found" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("a turn is tried again in a fork, under another policy and by another model, which is compared with the first", async () => {
    const { page, problems } = await open(at("thread=trip&pane=journal&seq=26"));
    await page.getByRole("button", { name: "Try turn 10 again" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Policy").selectOption("the last 2 turns");
    await dialog.getByLabel("Model").fill("large");
    await dialog.getByRole("button", { name: "Try again" }).click();
    await page.getByText("forked from").waitFor();
    await page.locator(".selected .entry.assistant").waitFor();
    await page.getByRole("tab", { name: "prompt" }).click();
    await page.locator(".reason").filter({ hasText: "last-turns@1" }).waitFor();
    await page.getByRole("tab", { name: "compare" }).click();
    await page.getByText(/^The first \d+ messages are alike\.$/).waitFor();
    await page.getByRole("button", { name: "Fork here" }).click();
    await page
      .getByText("forked from fork")
      .or(page.getByText(/forked from .*thread/))
      .first()
      .waitFor();
    expect(problems).toEqual([]);
  });

  test("search finds what was said and leads there; the journal is exported as a file", async () => {
    const { page, problems } = await open(at("thread=trip"));
    await page.locator(".thread").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("zzz");
    await page.getByText("No message has all of these whole words: zzz.").waitFor();
    await page.getByRole("button", { name: "Show all threads" }).click();
    await page.locator(".thread").first().waitFor();
    await page.getByLabel("Search").pressSequentially("two of us");
    await page.locator(".hit").filter({ hasText: "Two of us want to go" }).first().waitFor();
    await page.getByLabel("Search").fill("night train");
    await page.locator(".hit").filter({ hasText: "trip entry 20" }).click();
    await page.locator(".selected .entry").filter({ hasText: "No hotels" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("trip.jsonl");
    expect(problems).toEqual([]);
  });

  test("all of it goes by keys, which are listed", async () => {
    const { page, problems } = await open(at(""));
    await page.locator(".thread").filter({ hasText: "trip" }).waitFor();
    const press = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    // They lead to no empty pane.
    await press("l", "3");
    while (
      (await page.locator(".thread.open").count()) === 0 ||
      (await page.locator(".thread.open .thread-id").textContent()) !== "trip"
    ) {
      await press("j");
      await page.locator(".thread.open").waitFor();
    }
    await page.locator(".selected .entry").waitFor();
    await untilCounted(page);
    await press("l", "g", "j");
    await page.getByText("entry 1", { exact: false }).first().waitFor();
    await page.waitForURL(/seq=1\b/);
    await press("]");
    await page.waitForURL(/seq=3\b/);
    await press("3");
    await page.locator(".unit").first().waitFor();
    await press("c");
    await page.getByText("No difference.").waitFor();
    await press("j");
    await page.locator(".compare table").waitFor();
    await press("h", "t");
    await page.locator(".branch").first().waitFor();
    await press("?");
    await page.getByRole("dialog").locator("tr").first().waitFor();
    expect(await page.getByRole("dialog").locator("tr").count()).toBeGreaterThan(15);
    const before = await page.evaluate(() => location.hash);
    // An open dialog gets all keys before the page, also the one that closes it.
    await press("j", "Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.evaluate(() => location.hash)).toBe(before);
    expect(problems).toEqual([]);
  });

  test.each(spread([400, 1_000, 1_600]))(
    "all of it is reached in a window of %i pixels, without scrolling aside",
    async (width) => {
      const { page, problems } = await open(at("thread=trip"), { width, height: 800 });
      await page.getByRole("option").filter({ hasText: "trip" }).first().click();
      for (const view of ["timeline", "tree"]) {
        await page.getByRole("tab", { name: view }).click();
        await page
          .locator(view === "tree" ? ".branch" : ".entry")
          .first()
          .waitFor();
        await fitsAcross(page);
      }
      await page.locator(".branch").filter({ hasText: "head" }).click();
      const shown = {
        conversation: ".message",
        turn: ".span",
        prompt: ".unit",
        state: ".chart .state.lit",
        compare: ".detail .note",
      };
      for (const [tab, content] of Object.entries(shown)) {
        await page.getByRole("tab", { name: tab }).click();
        await page.locator(content).first().waitFor();
        await fitsAcross(page);
      }
      expect(problems).toEqual([]);
    },
  );
});
