import fc from "fast-check";
import { expect, test } from "vitest";
import { CheckedTalk } from "../../checked-talk.ts";
import { runs } from "../../runs.ts";

// `CheckedTalk` counts what `thread.updated` says the long way, at every event.

/** Without the usage, which `CheckedTalk` holds against the state. */
const updates = (talk: CheckedTalk): readonly object[] =>
  talk.signals().flatMap((signal) => {
    if (signal.type !== "thread.updated") return [];
    const { usage: _, ...size } = signal;
    return size;
  });

test("observers are notified when what was said is another, and how much that is on the path", () => {
  const talk = new CheckedTalk({}, { seed: [{ role: "user", content: "seed" }], system: "not counted" });
  talk.ask("12345");
  expect(updates(talk)).toEqual([]);
  talk.reply("123");
  expect(updates(talk)).toEqual([{ type: "thread.updated", turns: 1, messages: 3, characters: 12 }]);
  talk.tell({ type: "message.appended", message: { role: "user", content: "1234567" } });
  expect(updates(talk)).toEqual([{ type: "thread.updated", turns: 1, messages: 4, characters: 19 }]);
  talk.tell({ type: "head.moved", to: 1 });
  expect(updates(talk)).toEqual([{ type: "thread.updated", turns: 1, messages: 3, characters: 12 }]);
  talk.tell({ type: "answer.truncated", turn: 1, characters: 1 });
  expect(updates(talk)).toEqual([{ type: "thread.updated", turns: 1, messages: 3, characters: 10 }]);
  talk.tell({ type: "head.moved", to: 0 });
  expect(updates(talk)).toEqual([{ type: "thread.updated", turns: 0, messages: 1, characters: 4 }]);
  talk.tell({ type: "turn.annotated", turn: 1, name: "score", value: 1 });
  expect(updates(talk)).toEqual([]);
});

test("an old turn that is shortened is shorter on every path that goes through it, and on no other", () => {
  const talk = new CheckedTalk();
  talk.say("one", "1234567890");
  talk.say("two", "1234567890");
  talk.tell({ type: "head.moved", to: 1 });
  talk.say("three", "1234567890");
  talk.tell({ type: "answer.truncated", turn: 2, characters: 1 });
  expect(updates(talk)).toEqual([{ type: "thread.updated", turns: 2, messages: 4, characters: 28 }]);
  talk.tell({ type: "answer.truncated", turn: 1, characters: 2 });
  expect(updates(talk)).toEqual([{ type: "thread.updated", turns: 2, messages: 4, characters: 20 }]);
  talk.tell({ type: "answer.truncated", turn: 1, characters: 1 });
  talk.tell({ type: "head.moved", to: 2 });
  expect(updates(talk)).toEqual([{ type: "thread.updated", turns: 2, messages: 4, characters: 3 + 1 + 3 + 1 }]);
  talk.tell({ type: "head.moved", to: 3 });
  expect(updates(talk)).toEqual([{ type: "thread.updated", turns: 2, messages: 4, characters: 3 + 1 + 5 + 10 }]);
});

test("the figures are what the long way gives, whatever is branched, shortened and added", () => {
  type Edit = (talk: CheckedTalk) => void;
  const closed = (talk: CheckedTalk, pick: number): number => pick % (talk.state.context.conversation.turns.length + 1);
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    fc.tuple(fc.string(), fc.string()).map(
      ([ask, answer]): Edit =>
        (talk) =>
          talk.say(ask || "x", answer),
    ),
    fc.nat().map(
      (pick): Edit =>
        (talk) =>
          talk.tell({ type: "head.moved", to: closed(talk, pick) }),
    ),
    fc.tuple(fc.nat(), fc.nat({ max: 8 })).map(([pick, characters]): Edit => (talk) => {
      const turn = closed(talk, pick);
      const answered = talk.state.context.conversation.turns.length > 0 && turn > 0;
      if (answered && isAnswered(talk, turn)) talk.tell({ type: "answer.truncated", turn, characters });
    }),
    fc.string().map((content): Edit => (talk) => {
      talk.tell({
        type: "turn.added",
        messages: [
          { role: "user", content },
          { role: "assistant", content },
        ],
      });
    }),
    fc.string().map((content): Edit => (talk) => {
      talk.tell({ type: "message.appended", message: { role: "user", content } });
    }),
    fc.constant<Edit>((talk) => talk.tell({ type: "checkpoint.named", name: "here" })),
  );
  const isAnswered = (talk: CheckedTalk, turn: number): boolean =>
    talk.refusalOf({ type: "answer.truncated", turn, characters: 0 }) === null;
  const property = fc.property(fc.array(edit, { maxLength: 25 }), (edits) => {
    const talk = new CheckedTalk({}, { seed: [{ role: "user", content: "seed" }] });
    for (const change of edits) change(talk);
  });
  fc.assert(property, { numRuns: runs(100) });
});
