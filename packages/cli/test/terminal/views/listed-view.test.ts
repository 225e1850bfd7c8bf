import { reply } from "@colloquy/runtime-test/models";
import fc from "fast-check";
import { expect, test } from "vitest";
import { searchView, threadsView, type View } from "../../../src/terminal/index.ts";
import { listedView } from "../../../src/terminal/views/thread-list-views.ts";
import { span } from "../../../src/terminal/text/line.ts";
import { keys, problemAfter, sizes } from "./any-keys.ts";
import { pressing, screenOf } from "./shown-text.ts";
import { hostOf, story } from "./story.ts";

const usual = { columns: 80, rows: 24 };

/** Presses keys, and returns the view after all that they load is there. */
const settled = async (view: View, ...names: readonly string[]): Promise<View> => {
  let shown = view;
  for (const name of names) {
    const step = pressing(shown, usual, name);
    shown = (await step.later)?.view ?? step.view ?? shown;
  }
  return shown;
};

const withThreads = async (count: number) => {
  const host = hostOf(Array.from({ length: count }, (_, index) => reply(`answer ${index}`)));
  for (let index = 0; index < count; index++) await host.thread(`t${index}`).ask(`question ${index}`);
  return host;
};

/** Replaces times, which depend on the local time zone. */
const timeless = (screen: string): string => screen.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "2026-11-22 12:00");

test("threads are listed with title or first question, turns and time, and filtered as one types", async () => {
  const { host, thread } = await story();
  await Promise.allSettled([host.thread("holidays").ask("Where to?")]);
  await host.thread("holidays").setMetadata({ title: "Holidays in the north" });
  const view = await threadsView(host);
  expect(timeless(screenOf(view, usual))).toBe(
    `
Threads:                                                                    1/2
> What is the weather in Oslo?  2026-11-22 12:00  6 turns  story
  Holidays in the north  2026-11-22 12:00  1 turn  holidays
Esc close · Enter open · ↑↓ choose`.slice(1),
  );
  const filtered = await settled(view, "N", "o", "r");
  expect(timeless(screenOf(filtered, usual))).toBe(
    `
Threads: Nor
> Holidays in the north  2026-11-22 12:00  1 turn  holidays
Esc close · Enter open · ↑↓ choose`.slice(1),
  );
  expect(filtered.show(usual).cursor).toEqual({ row: 0, column: 12 });
  const step = pressing(filtered, usual, "enter");
  expect(await step.later).toEqual({ view: null, action: { type: "openThread", threadId: "holidays" } });
  expect(screenOf(await settled(filtered, "x"), usual)).toContain("\nno thread has that\n");
  expect(thread.id).toBe("story");
});

test("a thread is listed with the first question that it still has, be it of its seed", async () => {
  const host = hostOf([reply("a"), reply("b")]);
  await host.thread("seeded").start({ seed: [{ role: "user", content: "About bread" }] });
  const asked = host.thread("asked again");
  await asked.ask("Frist?");
  await asked.undo();
  await asked.ask("First?");
  const screen = timeless(screenOf(await threadsView(host), usual));
  expect(screen).toContain("About bread  2026-11-22 12:00  0 turns  seeded");
  expect(screen).toContain("First?  2026-11-22 12:00  2 turns  asked again");
});

test("more threads come when one nears the end of those that are there", async () => {
  const view = await threadsView(await withThreads(45));
  expect(screenOf(view, usual)).toMatch(/^Threads: +1\/20\+\n/);
  const further = await settled(view, "end", "end");
  expect(screenOf(further, usual)).toMatch(/^Threads: +40\/45\n/);
});

test("words are found while typing, and open at their turn", async () => {
  const { host } = await story();
  const view = await searchView(host);
  expect(screenOf(view, usual)).toBe("Search:\ntype words that were said\nEsc close · Enter open · ↑↓ choose");
  const found = await settled(view, "librarian");
  expect(timeless(screenOf(found, usual))).toBe(
    `
Search: librarian                                                           1/2
> story A librarian, then.  2026-11-22 12:00
  story there was a librarian, who had read all the books of…  2026-11-22 12:00
Esc close · Enter open · ↑↓ choose`.slice(1),
  );
  expect(await pressing(found, usual, "enter").later).toEqual({
    view: null,
    action: { type: "openThread", threadId: "story", turn: 5 },
  });
  expect(screenOf(await settled(found, "q"), usual)).toContain("\nnothing was found\n");
});

test("what comes later is not lost to a key that was pressed meanwhile, and failures are said", async () => {
  const view = await listedView(
    {
      title: "List",
      page: (words) =>
        words === "ab"
          ? Promise.reject(new Error("the store is away"))
          : Promise.resolve({ rows: [words], next: null }),
      none: () => "nothing",
      line: (row) => [span(row)],
      text: (row) => row,
      open: () => Promise.reject(new Error("it is gone")),
    },
    "",
  );
  const typed = pressing(view, usual, "a").view ?? view;
  const moved = pressing(typed, usual, "down");
  expect(screenOf((await moved.later)?.view ?? view, usual)).toContain("\n> a\n");
  expect(screenOf(await settled(view, "a", "b"), usual)).toMatch(/^List: ab\nnothing\nthe store is away$/);
  expect(screenOf(await settled(view, "a", "enter"), usual)).toMatch(/\n> a\nit is gone$/);
});

test("with any keys on any screen, nothing exceeds the screen", async () => {
  const { host } = await story();
  const [search, threads] = await Promise.all([searchView(host, "there"), threadsView(host)]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ key: keys, size: sizes }), { minLength: 1 }), async (pressed) => {
      expect(await problemAfter(search, pressed)).toBeNull();
      expect(await problemAfter(threads, pressed)).toBeNull();
    }),
    { numRuns: 6 },
  );
});
