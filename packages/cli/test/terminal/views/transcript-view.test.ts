import { reply } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { transcriptView } from "../../../src/terminal/index.ts";
import { hugeState } from "./huge-state.ts";
import { after, pressing, screenOf } from "./shown-text.ts";
import { hostOf, story } from "./story.ts";

const { state } = await story();
const transcript = transcriptView(state);
const usual = { columns: 80, rows: 24 };
const small = { columns: 20, rows: 10 };

test("thinking, calls, results and figures are unfolded", () => {
  expect(screenOf(transcript, usual)).toBe(
    `
Transcript of story                                                         7/7
> What is the weather in Oslo?

· I look it up.
● weather {"place":"Oslo"}
  └ 12 degrees,
    rain

It rains in Oslo.
(0 ms, 2 steps, ≥ 1.2k tokens)

5 you
> there was a librarian, who had read all the books of the town and wanted more
  of them than there were

A librarian, then.
(0 ms, 1 step, 1.2k tokens: 1.2k in, 34 out)

6 you
> what does she do?

She reads.
(0 ms, 1 step, 1.2k tokens: 1.2k in, 34 out)
q close · c copy answer · / search`.slice(1),
  );
});

test("a small screen shows its end, and scrolls line by line to the beginning", () => {
  expect(screenOf(transcript, small)).toBe(
    `
Transcript of sto…

6 you
> what does she do?

She reads.
(0 ms, 1 step, 1.2k
tokens: 1.2k in, 34
out)
q close · / search`.slice(1),
  );
  const top = after(transcript, small, "g");
  expect(screenOf(top, small)).toContain("\n1 you\n> What is the\n  weather in Oslo?\n");
  expect(screenOf(after(top, small, "j", "down", "k"), small)).toBe(screenOf(after(top, small, "j"), small));
  expect(screenOf(after(top, small, "G"), small)).toBe(screenOf(transcript, small));
});

test("it can begin at a turn, which stays at the top after a resize", () => {
  const view = transcriptView(state, 5);
  expect(screenOf(view, small).split("\n").slice(1, 4)).toEqual(["", "5 you", "> there was a"]);
  expect(screenOf(view, { columns: 30, rows: 6 }).split("\n").slice(1, 3)).toEqual(["", "5 you"]);
});

test("c copies the newest answer in sight as it was written, and says whose", () => {
  const last = pressing(transcript, usual, "c");
  expect(last.action).toEqual({ type: "copy", text: "She reads." });
  const first = pressing(transcript, small, "g", "pagedown", "c");
  expect(first.action).toEqual({ type: "copy", text: "It **rains** in Oslo." });
  expect(screenOf(first.view ?? transcript, small)).toMatch(/\ncopied the answer …$/);
  expect(pressing(transcript, small, "g", "c").action).toBeUndefined();
});

test("an answer is laid out as in the conversation, and found as it is written and as it is shown", async () => {
  const markdown =
    "# Weather\n\nIt **rains** in Oslo:\n\n- a\n  - b\n\n| City | Rain |\n|-|-|\n| Oslo | 12 |\n\n```ts\nlet a = 1;\n```\n";
  const thread = hostOf([reply(markdown)]).thread("laid");
  await thread.changeSystem("Be *short*.");
  await thread.ask("show me");
  const laid = await thread.state();
  if (laid === null) throw new Error("nothing was asked");
  const view = transcriptView(laid);
  expect(screenOf(view, { columns: 40, rows: 30 })).toBe(
    `
Transcript of laid                  3/3

system
> Be *short*.

1 you
> show me

# Weather

It rains in Oslo:

- a
  - b

City │ Rain
─────┼─────
Oslo │ 12

ts
let a = 1;
(0 ms, 1 step, ? tokens)
q close · c copy answer · / search`.slice(1),
  );
  for (const words of ["**rains**", "rains in Oslo"])
    expect(screenOf(after(view, small, "g", "/", words, "enter"), small)).not.toContain("not found");
});

test("a search goes from line to line", () => {
  const found = after(transcript, small, "g", "/", "there w", "enter");
  expect(screenOf(found, small).split("\n")[1]).toBe("> there was a");
  expect(screenOf(after(found, small, "n"), small)).toContain("\n  there were\n");
});

test("of 100,000 turns those in sight are laid out", () => {
  const { state: huge, looks } = hugeState(state, 100_000);
  const view = transcriptView(huge);
  const before = looks();
  expect(screenOf(view, usual)).toContain("It rains in Oslo.");
  expect(screenOf(after(view, usual, "pageup", "k", "g", "pagedown"), usual)).toContain("3 you");
  expect(looks() - before).toBeLessThan(20 * usual.rows);
});
