import fc from "fast-check";
import { expect, test } from "vitest";
import { atView, diffView } from "../../../src/terminal/index.ts";
import { keys, problemAfter, sizes } from "./any-keys.ts";
import { after, screenOf } from "./shown-text.ts";
import { story } from "./story.ts";

const { thread, state } = await story();
const last = state.context.seq;
const usual = { columns: 80, rows: 24 };
const at = await atView(thread, 2);

test("the event of an entry, where it led, and what was said by then", () => {
  expect(screenOf(at, usual)).toBe(
    `
Entry 2 of story                                                            3/3
event    llm.completed at 2026-01-01T00:00:00.000Z
         {"reply":{"content":[{"type":"reasoning","text":"I look it
         up."}],"toolCalls":[{"id":"call_1_1","name":"weather","arguments":"{\\"
         place\\":\\"Oslo\\"}"}]},"finishReason":"tool_calls","effectId":"story/1.
         1#1","promptDigest":"5blyf5u1oq"}
state    awaiting_tool · running
head     the beginning
open     turn 1, step 1, running
usage    1 call, ? tokens

1 you
> What is the weather in Oslo?

· I look it up.
○ weather {"place":"Oslo"}
q close · ←→ entries · / search`.slice(1),
  );
});

test("left and right go from entry to entry, and say where they end", () => {
  const first = after(at, usual, "left", "left");
  expect(screenOf(first, usual)).toMatch(/^Entry 0 of story/);
  expect(screenOf(after(first, usual, "left"), usual)).toMatch(/\nthis is the first entry$/);
  expect(screenOf(after(first, usual, "right", "right"), usual)).toBe(screenOf(at, usual));
});

test("an entry that there is not is refused with those that there are", async () => {
  await expect(atView(thread, 999)).rejects.toThrow(`has the entries 0 to ${last}, and no entry 999`);
  await expect(diffView(thread, 1, -1)).rejects.toThrow("no entry -1");
});

test("shows how the thread differs between two entries, line by line", async () => {
  const view = await diffView(thread, 12, last);
  expect(screenOf(view, { columns: 100, rows: 50 })).toBe(
    `
Entries 12 and 18 of story
what                         behind entry 12  behind entry 18
turns closed only here                        4 to 6
turns on the path only here                   5 to 6
phase                        awaiting_llm     completed
head                         1                6
messages                     4                8
characters                   65               211
open turn                    4                none
its asks                     ask-4            none
its stage                    responding       none
its step                     1                none
its messages                 1                none
model calls                  4                7
input tokens                 3600             6000
output tokens                102              170

  … 7 lines are the same
    rain
  1 assistant:
    It **rains** in Oslo.
- 4 user:
-   there was a knight
+ 5 user:
+   there was a librarian, who had read all the books of the town and wanted more of them than
+ there were
+ 5 assistant:
+   A librarian, then.
+ 6 user:
+   what does she do?
+ 6 assistant:
+   She reads.
q close · ↑↓ scroll · / search`.slice(1),
  );
  expect(screenOf(await diffView(thread, 3, 3), usual)).toBe(
    `
Entries 3 and 3 of story
no difference between entries 3 and 3

the same is said on both paths
q close · ↑↓ scroll · / search`.slice(1),
  );
});

test("of a line in another's place the words stand out that are only in it", async () => {
  const { host, thread: spoken } = await story();
  await spoken.truncate(6, 3);
  const view = await diffView(spoken, last, last + 1);
  const lines = view.show(usual).lines.map((line) => line.filter(({ roles }) => roles.includes("strong")));
  expect(lines.flat().map(({ text }) => text)).toEqual(["reads."]);
  await host.close();
});

test("with any keys on any screen, nothing exceeds the screen", async () => {
  const difference = await diffView(thread, 5, last);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ key: keys, size: sizes }), { minLength: 1 }), async (pressed) => {
      expect(await problemAfter(at, pressed)).toBeNull();
      expect(await problemAfter(difference, pressed)).toBeNull();
    }),
    { numRuns: 6 },
  );
});
