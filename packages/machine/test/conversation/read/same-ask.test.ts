import { expect, test } from "vitest";
import { type Event } from "../../../src/index.ts";
import { redactEntry } from "../../../src/storage.ts";
import { CheckedTalk } from "../../checked-talk.ts";
import { foldOf } from "../../reading.ts";

type Input = Extract<Event, { type: "ask.received" }>["input"];

const data = (value: string | number) => [{ type: "data", field: "question", value }] as const;

const differs = /^ask "a" was made before, and its input differs from this one/;

/** Returns the refusal of an ask that repeats the id of a first ask, which is redacted or not. */
const repeated = (first: Input, second: Input, isRedacted: boolean) => {
  const talk = new CheckedTalk();
  talk.tell({ type: "ask.received", askId: "a", input: first });
  talk.reply("So.");
  const entries = talk.entries.map((entry) => (isRedacted && entry.seq === 1 ? redactEntry(entry) : entry));
  talk.state = foldOf(entries);
  return talk.refused({ type: "ask.received", askId: "a", input: second });
};

test.each<readonly [string, Input, Input]>([
  ["another text", "One?", "Two?"],
  ["another value of a data field", data(1), data(2)],
  ["another text beside the same data", [...data("same"), { type: "text", text: "One?" }], data("same")],
  ["a text in the place of data", data("One?"), "One?"],
])("an ask that repeats an id with %s is refused as another ask", (_, first, second) => {
  expect(repeated(first, second, false)).toEqual({ kind: "invalid", reason: expect.stringMatching(differs) });
});

test.each<readonly [string, Input, boolean]>([
  ["a text", "One?", false],
  ["data", data(1), false],
  ["a text that was redacted", "One?", true],
  ["data that was redacted", data(1), true],
])("an ask that repeats an id with the same input is answered already: %s", (_, input, isRedacted) => {
  expect(repeated(input, input, isRedacted)).toMatchObject({ kind: "stale" });
});
