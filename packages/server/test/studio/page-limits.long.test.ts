import { readdirSync, readFileSync } from "node:fs";
import type { Host } from "@colloquy/host";
import { sqliteStore } from "@colloquy/runtime-node";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fitsAcross, withBrowser } from "./kit/browser.ts";
import { hostileThread } from "./kit/hostile.ts";
import { type ServedStudio, serveStudio } from "./kit/served.ts";
import { trips } from "./kit/trip.ts";

test("no source of the page has anything parsed as HTML, or takes an address from a thread but for links", () => {
  const folder = new URL("../../src/studio/page/", import.meta.url);
  const sources = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  expect(sources.length).toBeGreaterThan(10);
  for (const name of sources) {
    const text = readFileSync(new URL(name, folder), "utf8");
    expect(`${name}\n${text}`).not.toMatch(
      /innerHTML|outerHTML|insertAdjacent|document\.write|createContextualFragment|DOMParser|dangerously|\beval\b|Function\(/,
    );
    expect({ name, found: text.match(/\b(?:href|src|srcdoc|action|formAction): ?[^,}]*/g) ?? [] }).toEqual({
      name,
      found: { "studio.ts": ["href: exportOf(thread)"], "markdown.ts": ["href: target"] }[name] ?? [],
    });
  }
});

withBrowser("a page of what strangers wrote", ({ open }) => {
  const store = sqliteStore({ path: ":memory:" });
  let served: ServedStudio;
  let host: Host;
  let place = "";
  beforeAll(async () => {
    const made = await hostileThread(store);
    host = made.host;
    place = `thread=${encodeURIComponent(made.threadId)}`;
    served = await serveStudio(store, {
      host,
      configurations: [
        { name: "own", host },
        { name: "other", host },
      ],
    });
  });
  afterAll(async () => {
    await served.close();
    await host.close();
    await store.close();
  });

  /** Checks that everything on the page is text, and that no character hides or reorders it. */
  const isText = async (page: Page): Promise<void> => {
    const found = await page.evaluate(() => ({
      pwned: "pwned" in window,
      elements: document.querySelectorAll(
        "script, img, iframe, object, embed, style, link, base, form[action], [onerror], [onload]",
      ).length,
      links: [...document.querySelectorAll("a[target]")].filter(
        (each) =>
          !/^(https?|mailto):/.test(each.getAttribute("href") ?? "") ||
          each.getAttribute("rel") !== "noopener noreferrer",
      ).length,
      addresses: [...document.querySelectorAll("[href]:not(a[target]), [src]")].map(
        (each) => new URL(each.getAttribute("href") ?? each.getAttribute("src") ?? "", location.href).origin,
      ),
      hidden: (document.body.textContent ?? "").match(/(?![\t\n])[\p{Cc}\p{Cf}]/gu),
      origin: location.origin,
    }));
    // The page's own script, style and icon.
    expect(found).toEqual({
      ...found,
      pwned: false,
      elements: 3,
      links: 0,
      addresses: found.addresses.map(() => found.origin),
      hidden: null,
    });
  };

  test.each(["conversation", "turn", "prompt", "state", "compare"])(
    "is text in every place where it is shown, of the tab %s too",
    async (tab) => {
      const { page, problems } = await open(`${served.url}/studio#${place}&pane=journal`);
      await page.locator("form.approval").waitFor();
      const entries = (await host.thread(decodeURIComponent(place.slice(7))).exportJournal()).length;
      expect(entries).toBeGreaterThan(8);
      await isText(page);
      await page.goto(`${served.url}/studio#${place}&pane=detail&seq=0&tab=${tab}&other=${place.slice(7)}&otherSeq=1`);
      await page.locator(".detail .tabs").waitFor();
      for (let seq = 0; seq < entries; seq += 1) {
        await page.getByText(`entry ${seq} of`).waitFor();
        if (tab === "prompt" && seq > 0) await page.locator(".unit").first().waitFor();
        await isText(page);
        await page.keyboard.press("j");
      }
      expect(problems).toEqual([]);
    },
  );

  test("is text in the tree, in dialogs, in what was found, and in errors", async () => {
    const { page, problems } = await open(`${served.url}/studio#${place}&pane=journal&view=tree`);
    await page.locator(".branch").nth(2).waitFor();
    await isText(page);
    await page.goto(`${served.url}/studio#${place}&pane=detail&tab=prompt`);
    for (const unit of [0, 1, 2, 3]) {
      await page.locator(".unit").nth(unit).click();
      await page.getByRole("dialog").locator(".message").first().waitFor();
      await isText(page);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await page.getByLabel("Search").fill("script");
    await page.locator(".hit").first().waitFor();
    await isText(page);
    await page.goto(`${served.url}/studio#thread=${encodeURIComponent("<img src=x onerror=window.pwned=1>")}`);
    await page.getByText("there is no such thread").first().waitFor();
    await isText(page);
    expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
  });

  test.each([400, 1_600])("does not make the page wider than a window of %i pixels", async (width) => {
    const { page } = await open(`${served.url}/studio#${place}&pane=detail&seq=1&tab=conversation`, {
      width,
      height: 800,
    });
    await page.locator(".message").first().waitFor();
    await fitsAcross(page);
  });

  test("the browser itself refuses to make HTML of a text, and to load anything from elsewhere", async () => {
    const { page } = await open(`${served.url}/studio`);
    const refused = await page.evaluate(async () => {
      const parsed = await Promise.resolve()
        .then(() => void (document.createElement("div").innerHTML = "<b>"))
        .then(
          () => "parsed",
          (error: unknown) => (error instanceof TypeError ? "refused" : "otherwise"),
        );
      const loaded = await fetch("https://elsewhere.example/").then(
        () => "loaded",
        () => "refused",
      );
      return [parsed, loaded];
    });
    expect(refused).toEqual(["refused", "refused"]);
  });
});

withBrowser("a thread of 10,000 turns", ({ open }) => {
  const store = sqliteStore({ path: ":memory:" });
  const { host, configurations, close } = trips(store, Date.now());
  let served: ServedStudio;
  beforeAll(async () => {
    const turns = Array.from({ length: 10_000 }, (_, turn) => [
      { role: "user" as const, content: `question ${turn}: ${"words and more words. ".repeat(1 + (turn % 7))}` },
      { role: "assistant" as const, content: `answer ${turn}` },
    ]);
    await host.importMessages({ system: "Be brief.", turns }, { threadId: "long" });
    await host.ask("How long is this by now?", { threadId: "long" });
    served = await serveStudio(store, { host, configurations });
  });
  afterAll(async () => {
    await served.close();
    await close();
    await store.close();
  });

  describe("is shown", () => {
    test("within a second of the processor, and with few elements", async () => {
      const { page, problems } = await open(`${served.url}/studio#thread=long&pane=journal`);
      await page.locator(".selected .entry").filter({ hasText: "How long is this" }).waitFor();
      await page.locator(".message").last().waitFor();
      const session = await page.context().newCDPSession(page);
      // Thread time, without waits.
      await session.send("Performance.enable", { timeDomain: "threadTicks" });
      await page.reload();
      await page.locator(".selected .entry").filter({ hasText: "How long is this" }).waitFor();
      await page.locator(".message").last().waitFor();
      const { metrics } = await session.send("Performance.getMetrics");
      const seconds = metrics.find(({ name }) => name === "TaskDuration")?.value ?? Infinity;
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThan(1);
      expect(await page.locator("*").count()).toBeLessThan(1_500);
      expect(problems).toEqual([]);
    });

    test("from its beginning to its end, in the timeline, in the tree and in the prompt", async () => {
      const { page, problems } = await open(`${served.url}/studio#thread=long&pane=journal&seq=0`);
      const scrolled = async (list: string, row: string, share: number, shows: string): Promise<void> => {
        await page
          .getByRole("listbox", { name: list })
          .evaluate(
            (element, to) => void (element.scrollTop = (element.scrollHeight - element.clientHeight) * to),
            share,
          );
        const shown = page.locator(row);
        await expect
          .poll(
            async () =>
              (await shown.count()) > 10 &&
              (await page.getByRole("listbox", { name: list }).evaluate((element) => {
                const { top, bottom } = element.getBoundingClientRect();
                return (
                  document
                    .elementFromPoint(element.getBoundingClientRect().left + 60, (top + bottom) / 2)
                    ?.closest(".row") !== null
                );
              })),
          )
          .toBe(true);
        await expect.poll(async () => (await shown.allTextContents()).join("\n")).toContain(shows);
        expect(await page.locator(".row").count()).toBeLessThan(200);
      };
      await page.locator(".entry").first().waitFor();
      await scrolled("Timeline", ".entry", 0.5, "question 5000:");
      await scrolled("Timeline", ".entry", 1, "How long is this by now?");
      await page.getByRole("tab", { name: "tree" }).click();
      await page.locator(".branch").first().waitFor();
      await scrolled("Tree of turns", ".branch", 0.5, "question 5000:");
      await page.keyboard.press("G");
      await page.locator(".branch.present").filter({ hasText: "How long is this by now?" }).waitFor();
      await page.getByRole("tab", { name: "prompt" }).click();
      await page.locator(".unit").first().waitFor();
      expect(await page.locator(".legend").textContent()).toMatch(/19,9\d\d left out/);
      await scrolled("Units of the thread", ".unit", 1, "How long is this by now?");
      expect(problems).toEqual([]);
    });
  });
});
