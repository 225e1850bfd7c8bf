import { createHost, type Host, type LlmHandler } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { pricesPerMillion } from "@colloquy/machine/policies";
import { sqliteStore, systemClock } from "@colloquy/runtime-node";
import { sequentialIds } from "@colloquy/runtime-test";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spread } from "../../../../test/runs.ts";
import { fitsAcross, withBrowser } from "./kit/browser.ts";
import { type ServedStudio, serveStudio } from "./kit/served.ts";
import { planTrip, trips } from "./kit/trip.ts";

const markdown = [
  "# Trains",
  "",
  "The **morning** train, see [the table](https://example.com/trains?day=12) or [this](javascript:alert(1)):",
  "",
  "| from | to |",
  "|---|--:|",
  "| 5:12 | 19:00 |",
  "",
  "1. Book it\n2. Pack",
  "",
  "- [x] asked",
  "",
  "```ts",
  "const seats = 2;",
  "```",
  "",
  '<img src="https://example.com/x.png" onerror="window.pwned=1"> ![a map](https://example.com/map.png)',
].join("\n");

const ofWindows = markdown.replaceAll("\n", "\r\n");

/** The lexer looks for an underline below each line of a list's item, to the end of the text. */
const manyLines = `- a\n${"b\n".repeat(9_000)}`;

/** Answers in Markdown, fails, or writes the beginning of an answer and never ends. */
const writer: LlmHandler = async ({ messages }, { onDelta }) => {
  const asked = JSON.stringify(messages.at(-1)?.parts);
  if (asked.includes("fail"))
    return { type: "failed", failure: { kind: "auth", message: "the key is wrong", retryable: false } };
  if (asked.includes("wait")) {
    onDelta({ type: "text", text: "The **first** half" });
    return new Promise(() => {});
  }
  return {
    type: "completed",
    reply: { content: asked.includes("lines") ? manyLines : asked.includes("Windows") ? ofWindows : markdown },
    finishReason: "stop",
    usage: { inputTokens: 3_000, outputTokens: 1_000 },
  };
};

withBrowser("a newcomer", ({ open }) => {
  const store = sqliteStore({ path: ":memory:" });
  const planned = trips(store, Date.now() - 60_000);
  let host: Host;
  let served: ServedStudio;
  beforeAll(async () => {
    host = createHost({
      store,
      clock: systemClock,
      ids: sequentialIds(),
      llm: writer,
      partsMs: 10,
      machine: conversationMachine({
        model: { model: "small" },
        pricing: pricesPerMillion("USD", { small: { input: 1, output: 2 } }),
      }),
    });
    await planTrip(planned.host, "trip");
    await host.ask("Which trains are there?\nSay it in short.", { threadId: "written" });
    await host.ask("Please fail", { threadId: "broken" }).catch(() => null);
    await host.thread("titled").start({ metadata: { title: "A title of its own" } });
    for await (const part of host.thread("open").ask("Please wait")) if (part.type === "text.delta") break;
    served = await serveStudio(store, planned);
  });
  afterAll(async () => {
    await served.close();
    await host.close();
    await planned.close();
    await store.close();
  });

  const at = (place: string): string => `${served.url}/studio#${place}`;

  const titles = (page: Page): Promise<readonly string[]> => page.locator(".thread-id").allTextContents();

  test("sees what each thread is about, how it stands and what it took, and what waits for an approval on top", async () => {
    const { page, problems } = await open(at(""));
    const row = (id: string) => page.locator(".thread").filter({ has: page.getByText(id, { exact: true }) });
    await row("open").waitFor();
    expect(await page.locator(".thread").first().textContent()).toMatch(
      /^Two of us want to go from Hamburg.*approvaltrip[\d:]+12 turns · 6,533 tokens · cost –$/,
    );
    expect(await row("written").textContent()).toMatch(
      /^Which trains are there\?donewritten[\d:]+1 turn · 4,000 tokens · cost 0\.005 USD$/,
    );
    expect(await row("broken").textContent()).toMatch(/^Please failfailedbroken[\d:]+1 turn · – tokens · cost –$/);
    expect(await row("titled").textContent()).toMatch(/^A title of its owndone/);
    expect(await row("open").textContent()).toMatch(/^Please waitrunning/);
    await page.getByLabel("Order").selectOption("highest cost first");
    await expect.poll(() => titles(page)).toEqual(["trip", "written", "titled", "open", "broken"]);
    await page.getByLabel("Show").selectOption("failed");
    await expect.poll(() => titles(page)).toEqual(["broken"]);
    await page.reload();
    await expect.poll(() => titles(page)).toEqual(["broken"]);
    expect(problems).toEqual([]);
  });

  test("finds threads and messages while typing", async () => {
    const { page, problems } = await open(at(""));
    await page.locator(".thread").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("writ");
    await page.locator(".hit").filter({ hasText: "Which trains are there?" }).waitFor();
    await page.getByLabel("Search").fill("night train");
    await page.locator(".hit").filter({ hasText: "No hotels" }).first().waitFor();
    await page.getByLabel("Search").fill("night trainzzz");
    await page.getByText("No message has all of these whole words: night trainzzz.").waitFor();
    expect(await page.locator(".hit").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("is told nothing of words that are still searched", async () => {
    const { page } = await open(at(""));
    const held = Promise.withResolvers<undefined>();
    await page.route("**/studio/api/search?words=night", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByLabel("Search").fill("nightzzz");
    await page.getByText("No message has all of these whole words: nightzzz.").waitFor();
    await page.getByLabel("Search").fill("night");
    await page.getByText("searching …").waitFor();
    held.resolve(undefined);
    await page.locator(".hit").filter({ hasText: "No hotels" }).first().waitFor();
  });

  test("reads answers as Markdown, of which nothing is loaded, and no link is followed but to a page or an address", async () => {
    const { page, problems } = await open(at("thread=written"));
    const answer = page.locator(".message.assistant .markdown");
    await answer.waitFor();
    expect(
      await answer.evaluate((element) =>
        ["strong", "td", "li", "pre", "img", "a", ".heading"].map((each) =>
          [...element.querySelectorAll(each)].map((found) => found.textContent ?? ""),
        ),
      ),
    ).toEqual([
      ["morning"],
      ["5:12", "19:00"],
      ["Book it", "Pack", "☑ asked"],
      ["const seats = 2;"],
      [],
      ["the table"],
      ["Trains"],
    ]);
    expect(
      await answer.locator("a").evaluate((link) => ["href", "rel", "target"].map((name) => link.getAttribute(name))),
    ).toEqual(["https://example.com/trains?day=12", "noopener noreferrer", "_blank"]);
    expect(await answer.textContent()).toContain('<img src="https://example.com/x.png" onerror="window.pwned=1">');
    expect(problems).toEqual([]);
  });

  test("reads a text of other line ends too, and one that is too expensive as Markdown as it is", async () => {
    await host.ask("Are there lines?", { threadId: "lines" });
    await host.ask("And on Windows?", { threadId: "windows" });
    const { page } = await open(at("thread=windows"));
    await page.locator(".message.assistant td").first().waitFor();
    expect(await page.locator(".message.assistant").textContent()).not.toContain(String.raw`\u{d}`);
    await page.goto(at("thread=lines"));
    await page.locator(".message.assistant .text").filter({ hasText: "- a" }).waitFor();
    expect(await page.locator(".message.assistant .markdown").count()).toBe(0);
  });

  test("sees a thread as it changed last, when the page with it comes after its change", async () => {
    const thread = host.thread("twice");
    await thread.ask("Once?");
    const { page } = await open("about:blank");
    const held = Promise.withResolvers<undefined>();
    const read = Promise.withResolvers<undefined>();
    await page.route("**/studio/api/threads?*", async (route) => {
      const response = await route.fetch();
      read.resolve(undefined);
      await held.promise;
      await route.fulfill({ response });
    });
    await page.goto(at(""));
    await read.promise;
    await page.locator(".live.on").waitFor();
    await thread.ask("Twice?");
    const row = page.locator(".thread").filter({ has: page.getByText("twice", { exact: true }) });
    await row.filter({ hasText: "2 turns" }).waitFor();
    held.resolve(undefined);
    await page.locator(".thread").filter({ hasText: "A title of its own" }).waitFor();
    expect(await row.textContent()).toContain("2 turns");
  });

  test("sees how long a turn has been open, and what the model has written by now", async () => {
    const { page, problems } = await open(at("thread=open"));
    await page.locator(".running strong").filter({ hasText: "first" }).waitFor();
    expect(await page.locator(".running .message-head").textContent()).toMatch(/^assistantturn 1, responding for \d/);
    await page.getByText(/· responding for \d/).waitFor();
    await page.getByRole("tab", { name: "Turn" }).click();
    await page.locator(".span .mark").filter({ hasText: "now" }).waitFor();
    await page.goto(at("thread=broken"));
    await page.locator(".said .problem").filter({ hasText: "the key is wrong" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("sees which call waits for an approval, in the journal too", async () => {
    const { page } = await open(at("thread=trip"));
    const row = page.locator(".selected .entry.approval");
    await row.waitFor();
    const shown = await row.locator(".words").evaluate((words) => {
      const [inner, outer] = [words.getBoundingClientRect(), words.closest(".row")?.getBoundingClientRect()];
      return [inner.top >= (outer?.top ?? 0), inner.bottom <= (outer?.bottom ?? 0), words.textContent];
    });
    expect(shown).toEqual([true, true, "book waits for approval"]);
  });

  test("sees where the time and the tokens of a turn went, and goes from there to the prompt", async () => {
    const { page, problems } = await open(at("thread=trip&seq=8&pane=detail&tab=turn"));
    await page.locator(".span").nth(2).waitFor();
    expect(await page.locator(".span-name").allTextContents()).toEqual(["model call 1", "trains", "model call 2"]);
    expect(await page.locator(".took").allTextContents()).toEqual(["860 ms", "860 ms", "860 ms"]);
    expect(await page.locator(".span .small").first().textContent()).toBe("208 in, 12 out");
    await page.locator(".span").last().click();
    await page.locator(".figures").waitFor();
    await page.waitForURL(/seq=9\b/);
    expect(problems).toEqual([]);
  });

  test("sees at a click how the prompt of a call differs from that of the call before, or of another one", async () => {
    const { page, problems } = await open(at("thread=trip&seq=30&pane=detail&tab=prompt"));
    await page.getByRole("button", { name: "Changes since the call before" }).click();
    await page.getByText(/^since call 11\.1#1: \d+ messages are alike, 2 new, \d+ gone, 0 shown otherwise$/).waitFor();
    await page.locator(".change .message.user").filter({ hasText: "Book two seats" }).waitFor();
    await page.goto(at("thread=trip&seq=30&pane=detail&tab=prompt&other=trip&otherSeq=3"));
    await page.reload();
    await page.getByRole("button", { name: "Changes since entry 3" }).click();
    await page.getByText("since call 2.1#1").waitFor();
    expect(problems).toEqual([]);
  });

  test("finds the tree at its head, and what goes by keys in a narrow window", async () => {
    const { page, problems } = await open(at("thread=trip&pane=journal&view=tree"), { width: 400, height: 300 });
    await page.locator(".branch.present").filter({ hasText: "Book two seats" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("search").waitFor();
    await fitsAcross(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.type("night train");
    await page.locator(".hit").filter({ hasText: "trip entry 20" }).click();
    await page.locator(".selected .entry").filter({ hasText: "No hotels" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("finds the search by its key in the moment after a dialog closed", async () => {
    const { page, problems } = await open(at("thread=trip&pane=journal"));
    await page.locator(".entry").first().waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("search").waitFor();
    const focused = await page.evaluate(() => {
      document.querySelector("dialog")?.close();
      const pressed = new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true });
      document.activeElement?.dispatchEvent(pressed);
      return document.activeElement?.id;
    });
    expect(focused).toBe("search");
    expect(problems).toEqual([]);
  });

  test.each(
    spread([
      [1_440, 900, "light"],
      [1_440, 900, "dark"],
      [400, 800, "light"],
      [400, 800, "dark"],
    ] as const),
  )("meets no barrier, and no text wider than its place, at %i × %i in %s colours", async (width, height, colors) => {
    const { page } = await open(at(""), { width, height });
    await page.emulateMedia({ colorScheme: colors });
    const places: readonly (readonly [string, string])[] = [
      ["", ".thread"],
      ["thread=trip&pane=journal", ".entry"],
      ["thread=trip&pane=journal&view=tree", ".branch.present"],
      ["thread=written&pane=detail", ".markdown table"],
      ["thread=trip&pane=detail&tab=turn", ".span"],
      ["thread=trip&pane=detail&tab=prompt", ".unit"],
      ["thread=trip&pane=detail&tab=state", ".chart .lit"],
      ["thread=trip&pane=detail&tab=compare&other=trip&otherSeq=9", ".compare .message"],
    ];
    for (const [place, content] of places) {
      await page.goto(at(place));
      await page.locator(content).first().waitFor();
      expect({ place, found: await barriers(page), wide: await tooWide(page) }).toEqual({
        place,
        found: [],
        wide: [],
      });
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog").locator("tr").first().waitFor();
    expect([await barriers(page), await tooWide(page)]).toEqual([[], []]);
  });
});

/** Returns the findings of axe-core. The protocol evaluates it, which the page's own policy does not concern. */
const barriers = async (page: Page): Promise<readonly string[]> => {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    // Cast: the script has defined it.
    const { violations } = await (window as unknown as { readonly axe: typeof axe }).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  });
};

/** Returns the elements that reach beyond the window, or whose text reaches beyond them and is not cut off with dots. */
const tooWide = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll("body *")]
      .filter((element) => {
        const { overflowX, display } = getComputedStyle(element);
        const { width, right } = element.getBoundingClientRect();
        const spills = overflowX === "visible" && display !== "inline" && element.scrollWidth > element.clientWidth + 1;
        return width > 0 && element.clientWidth > 0 && (right > innerWidth + 1 || spills);
      })
      .map((element) => `${element.tagName} ${element.className}`),
  );
