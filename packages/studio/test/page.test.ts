import { sqliteStore } from "@colloquy/runtime-node";
import { afterAll, beforeAll, expect, test } from "vitest";
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

  test("threads are listed, and one that any process begins or goes on with is shown at once", async () => {
    const { page, problems } = await open(at(""));
    await page.getByText("trip", { exact: true }).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    await planned.host.ask("Anybody there?", { threadId: "begun later" });
    await page.getByText("begun later").click();
    await page.locator(".entry.user").filter({ hasText: "Anybody there?" }).waitFor();
    await planned.host.ask("And now?", { threadId: "begun later" });
    await page.locator(".entry.user").filter({ hasText: "And now?" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("the timeline leads to the state behind an entry, with the present state lit and the way there", async () => {
    const { page, problems } = await open(at("thread=trip&pane=journal&seq=0"));
    await page.getByRole("option").filter({ hasText: "What is the weather like" }).click();
    await page.locator('.chart .lit[data-state="responding"]').waitFor();
    expect(await page.locator('.chart .lit[data-state="awaiting_llm"]').count()).toBe(1);
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
    await page.getByText("No hotels").waitFor();
    expect(page.url()).toMatch(/seq=18\b/);
    expect(problems).toEqual([]);
  });

  test("the prompt of a call says what is kept and dropped and why, and what it takes of the budget", async () => {
    const { page, problems } = await open(at("thread=trip&seq=31&pane=detail&tab=prompt"));
    await page.locator(".figures").waitFor();
    expect(await page.locator(".figures").textContent()).toBe(
      "683 of 700 tokens (98 %), all would take 1,096; the provider reported 683",
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

  test.each([400, 1_000, 1_600])(
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
      await page.locator(".branch").first().click();
      for (const tab of ["state", "prompt", "said", "compare"]) {
        await page.getByRole("tab", { name: tab }).click();
        await fitsAcross(page);
      }
      expect(problems).toEqual([]);
    },
  );
});
