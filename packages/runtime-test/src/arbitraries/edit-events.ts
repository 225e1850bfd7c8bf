import fc from "fast-check";
import { type ByType, calledTools, eventOf } from "./event-parts.ts";
import { jsonObjectArbitrary } from "./json.ts";
import { appendedResultArbitrary, brokenSeedArbitrary } from "./message.ts";
import { recordOf } from "./record.ts";
import { roundReplyArbitrary } from "./reply.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";

type EditEvent =
  | "round.appended"
  | "turn.added"
  | "turn.annotated"
  | "answer.truncated"
  | "head.moved"
  | "message.pinned"
  | "checkpoint.named"
  | "system.reset"
  | "metadata.changed"
  | "thread.forked"
  | "thread.redacted";

/** Returns arbitraries of edits of the thread; most edits name something that may exist. */
export const editEventArbitraries = (): ByType<EditEvent> => {
  const [turn, metadata] = [fc.nat({ max: 4 }), jsonObjectArbitrary];
  const value = fc.oneof(textArbitrary, fc.integer(), fc.boolean(), fc.constant(null), jsonObjectArbitrary);
  const message = fc.tuple(turn, fc.nat({ max: 3 })).map(([number, place]) => `${number}.${place}`);
  const results = fc.array(appendedResultArbitrary, { maxLength: 3 });
  return {
    "round.appended": eventOf("round.appended", { reply: roundReplyArbitrary(calledTools), results }, { metadata }),
    "turn.added": eventOf("turn.added", { messages: brokenSeedArbitrary(calledTools) }, { metadata }),
    "turn.annotated": eventOf("turn.annotated", { turn, name: nameArbitrary, value }, { metadata }),
    "answer.truncated": eventOf("answer.truncated", { turn, characters: fc.nat({ max: 12 }) }),
    "head.moved": eventOf("head.moved", { to: fc.oneof(turn, recordOf({ checkpoint: nameArbitrary })) }),
    "message.pinned": eventOf("message.pinned", { message, pinned: fc.boolean() }),
    "checkpoint.named": eventOf("checkpoint.named", { name: nameArbitrary }),
    "system.reset": eventOf("system.reset", {}),
    "metadata.changed": eventOf("metadata.changed", { metadata }),
    "thread.forked": eventOf("thread.forked", { from: recordOf({ threadId: nameArbitrary, turn }) }),
    "thread.redacted": eventOf(
      "thread.redacted",
      { seqs: fc.array(fc.nat({ max: 9 }), { maxLength: 3 }) },
      { reason: textArbitrary },
    ),
  };
};
