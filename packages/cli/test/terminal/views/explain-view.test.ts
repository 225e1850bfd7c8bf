import { type Counter, tokenWindow } from "@colloquy/machine/policies";
import { reply } from "@colloquy/runtime-test/models";
import fc from "fast-check";
import { expect, test } from "vitest";
import { explainView } from "../../../src/terminal/index.ts";
import { summaryOf } from "../../../src/terminal/views/explain-view.ts";
import { keys, problemAfter, sizes } from "./any-keys.ts";
import { after, screenOf } from "./shown-text.ts";
import { hostOf } from "./story.ts";

/** A character is a token. */
const counter: Counter = {
  name: "characters",
  version: 1,
  options: {},
  countPart: (part) => (part.type === "text" ? part.text.length : 0),
  perMessage: 0,
  perPrompt: 0,
};

const explained = async () => {
  const host = hostOf(
    ["once", "a dragon", "a library"].map((text) => reply(text.repeat(8))),
    {
      counter,
      budget: { tokens: 120, reserve: 20 },
      policy: tokenWindow(),
    },
  );
  const thread = host.thread("story");
  for (const question of ["tell me of old", "who came?", "where to?"]) await thread.ask(question);
  const explanation = await thread.explain();
  if (explanation === null) throw new Error("nothing was said");
  return explanation;
};

const explanation = await explained();
const view = explainView(explanation);
const usual = { columns: 80, rows: 24 };

test("what is kept and what is left out, by which rule, in how many tokens", () => {
  expect(screenOf(view, usual)).toBe(
    `
The next prompt                                                             6/6
███████████████░░░░ 81 of 100 tokens (81 %); all would take 200
2 whole, 4 left out
token-window@1: older than what fits into 100 tokens
  ○ 1 user tell me of old  0 of 14  older  older than what fits into 100 tokens
  ○ 1 assistant onceonceonceonceonceonceonceonce  0 of 32  older
  ○ 2 user who came?  0 of 9  older  older than what fits into 100 tokens
  ○ 2 assistant a dragona dragona dragona dragona dragona drag…  0 of 64  older
  ● 3 user where to?  9  kept
> ● 3 assistant a librarya librarya librarya librarya librarya libra…  72  kept
q close · Enter details · / search`.slice(1),
  );
});

test("on small and wide screens", () => {
  expect(screenOf(view, { columns: 20, rows: 10 })).toBe(
    `
The next prompt
███░ 81 of 100 tok…
2 whole, 4 left out
token-window@1: ol…
  ○ 1 assistant on…
  ○ 2 user who cam…
  ○ 2 assistant a …
  ● 3 user wher…  9
> ● 3 assistant a …
q close · / search`.slice(1),
  );
  expect(screenOf(view, { columns: 200, rows: 50 })).toBe(
    `
The next prompt                                                                                                                                                                                     6/6
████████████████████████░░░░░░ 81 of 100 tokens (81 %); all would take 200
2 whole, 4 left out
token-window@1: older than what fits into 100 tokens
  ○ 1 user tell me of old  0 of 14  older  older than what fits into 100 tokens
  ○ 1 assistant onceonceonceonceonceonceonceonce  0 of 32  older  older than what fits into 100 tokens
  ○ 2 user who came?  0 of 9  older  older than what fits into 100 tokens
  ○ 2 assistant a dragona dragona dragona dragona dragona dragona dragona dragon  0 of 64  older  older than what fits into 100 tokens
  ● 3 user where to?  9  kept
> ● 3 assistant a librarya librarya librarya librarya librarya librarya librarya library  72  kept
q close · Enter details · / search`.slice(1),
  );
});

test("Enter shows the selected unit whole, and Esc goes back to it", () => {
  const unit = after(view, usual, "g", "enter");
  expect(screenOf(unit, usual)).toBe(
    `
Unit 1.0
user, left out (older): older than what fits into 100 tokens
0 of 14 tokens

1 you
> tell me of old
q close · ↑↓ scroll · / search`.slice(1),
  );
  expect(screenOf(after(unit, usual, "j", "escape"), usual)).toBe(screenOf(after(view, usual, "g"), usual));
});

test("in short, for the conversation", () => {
  expect(summaryOf(explanation)).toBe("81 of 100 tokens (81 %); all would take 200: 2 whole, 4 left out");
});

test("with any keys on any screen, nothing exceeds the screen", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ key: keys, size: sizes }), { minLength: 1 }), async (pressed) => {
      expect(await problemAfter(view, pressed)).toBeNull();
    }),
    { numRuns: 8 },
  );
});
