import fc from "fast-check";
import { expect, test } from "vitest";
import { conversationMachine, type Event, type State, transition } from "../../../src/index.ts";
import { redactEntry } from "../../../src/storage.ts";
import { CheckedTalk } from "../../checked-talk.ts";
import { foldOf } from "../../reading.ts";
import { runs } from "../../runs.ts";
import { Talk } from "../../talk.ts";

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

test("a machine refuses an ask that the thread answered already, whichever of its branches the machine saw last", () => {
  const machine = conversationMachine();
  const step = fc.record({ from: fc.nat(), turns: fc.integer({ min: 1, max: 12 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), fc.nat(), (steps, pick) => {
      const talk = new Talk(machine);
      const branches: { readonly state: State; readonly askIds: readonly string[] }[] = [
        { state: talk.state, askIds: [] },
      ];
      for (const { from, turns } of steps) {
        const branch = branches[from % branches.length];
        talk.state = branch?.state ?? talk.state;
        const askIds = [...(branch?.askIds ?? [])];
        for (let count = 0; count < turns; count++) {
          askIds.push(`ask ${branches.length}.${count}`);
          talk.ask("And?", askIds.at(-1));
          talk.reply("So.");
        }
        branches.push({ state: talk.state, askIds });
      }
      const all = new Set(branches.flatMap(({ askIds }) => askIds));
      const asked = branches[pick % branches.length];
      const isRefused = (askId: string): boolean =>
        !transition(machine, asked?.state ?? talk.state, { type: "ask.received", at: 0, askId, input: "And?" }).handled;
      expect([...all].filter(isRefused)).toEqual([...all].filter((askId) => asked?.askIds.includes(askId)));
    }),
    { numRuns: runs(1_000) },
  );
});
