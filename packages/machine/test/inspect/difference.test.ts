import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { expect, test } from "vitest";
import { type State } from "../../src/index.ts";
import { differenceBetween, differenceTable } from "../../src/inspect.ts";
import { stateAt } from "../../src/journal.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { runs } from "../runs.ts";
import { calling } from "../talk.ts";

const at = (talk: CheckedTalk, seq: number): State => {
  const state = stateAt(talk.entries, seq);
  if (Either.isLeft(state)) throw new Error(state.left.reason);
  return state.right;
};

const eventful = (): CheckedTalk => {
  const talk = new CheckedTalk(
    { tools: [{ name: "lookup" }], overlap: { type: "queue", max: 3 } },
    { system: "Be brief.", metadata: { user: "u" } },
  );
  talk.say("one", "first answer");
  talk.say("two", "second");
  talk.say("three", "third");
  talk.tell({ type: "checkpoint.named", name: "here" });
  talk.tell({ type: "turn.annotated", turn: 1, name: "score", value: 1 });
  talk.tell({ type: "answer.truncated", turn: 3, characters: 2 });
  talk.tell({ type: "head.moved", to: 1 });
  talk.tell({ type: "system.changed", system: "Be very brief.\nAnd polite." });
  talk.ask("four", "d");
  talk.reply(calling("lookup"), { usage: { inputTokens: 10, outputTokens: 2 } });
  talk.ask("five", "e");
  return talk;
};

test("two states of a thread differ in what happened between them", () => {
  const talk = eventful();
  const newest = talk.entries.length - 1;
  const difference = differenceBetween(at(talk, 4), at(talk, newest));
  expect(difference).toMatchObject({
    before: 4,
    after: newest,
    added: [3],
    removed: [],
    changed: [1],
    entered: [],
    left: [2],
  });
  const back = differenceBetween(at(talk, newest), at(talk, 4));
  expect(back).toMatchObject({
    before: newest,
    after: 4,
    added: [],
    removed: [3],
    changed: [1],
    entered: [2],
    left: [],
  });
  expect(back.changes).toEqual(
    difference.changes.map(({ what, before, after }) => ({ what, before: after, after: before })),
  );
});

test("as a table it is for a person to read", async () => {
  const talk = eventful();
  const newest = talk.entries.length - 1;
  await expect(`${differenceTable(differenceBetween(at(talk, 4), at(talk, newest)))}\n`).toMatchFileSnapshot(
    "difference-table.txt",
  );
  expect(differenceTable(differenceBetween(at(talk, 4), at(talk, 4)))).toBe("no difference between entries 4 and 4");
});

test("differenceTable shows a text of 30 columns whole, and cuts a longer one to 30 columns", () => {
  const talk = new CheckedTalk({}, { system: "x".repeat(30) });
  talk.tell({ type: "system.changed", system: "y".repeat(31) });
  const table = differenceTable(differenceBetween(at(talk, 0), at(talk, 1)));
  expect(table).toMatch(/ x{30} /);
  expect(table).toMatch(/ y{29}…/);
});

test("turns that follow one another are named as one", () => {
  const talk = new CheckedTalk({}, {});
  for (const text of ["One", "Two", "Three"]) talk.say(text, `${text}!`);
  talk.tell({ type: "head.moved", to: 2 });
  talk.say("Four", "Four!");
  const table = differenceTable(differenceBetween(at(talk, 0), at(talk, talk.entries.length - 1)));
  expect(table).toMatch(/turns closed only here +1 to 4\n/);
  expect(table).toMatch(/turns on the path only here +1 to 2, 4\n/);
});

test("a state differs in nothing from itself, and plainly from one with another turn", () => {
  fc.assert(
    fc.property(journalArbitrary(), fc.nat(), fc.nat(), (entries, one, other) => {
      const first = stateAt(entries, one % entries.length);
      const second = stateAt(entries, other % entries.length);
      if (Either.isLeft(first) || Either.isLeft(second)) throw new Error("it can't be folded");
      const { added, removed, changed, entered, left, changes } = differenceBetween(first.right, second.right);
      const lengths = [first, second].map(({ right }) => right.context.conversation.turns.length);
      expect(added.length - removed.length).toBe((lengths[1] ?? 0) - (lengths[0] ?? 0));
      const all = [added, removed, changed, entered, left, changes].flat();
      expect(all.length === 0 || one % entries.length !== other % entries.length).toBe(true);
    }),
    { numRuns: runs(100) },
  );
});
