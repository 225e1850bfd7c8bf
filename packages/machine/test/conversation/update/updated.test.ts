import fc from "fast-check";
import { test } from "vitest";
import { CheckedTalk } from "../../checked-talk.ts";
import { runs } from "../../runs.ts";

// `CheckedTalk` counts what `thread.updated` says the long way, at every event.

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
