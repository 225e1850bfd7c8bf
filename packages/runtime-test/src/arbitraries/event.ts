import type { Event, EventType } from "@colloquy/machine";
import fc from "fast-check";
import { callerToolsArbitrary } from "./caller-tool.ts";
import { type ByType, eventOf, calledTools } from "./event-parts.ts";
import { jsonObjectArbitrary } from "./json.ts";
import {
  contentPartArbitrary,
  messageDraftArbitrary,
  systemDraftArbitrary,
  appendedResultArbitrary,
  brokenSeedArbitrary,
} from "./message.ts";
import { outcomeEventArbitraries } from "./outcome-events.ts";
import { limitsArbitrary, reportedUsageArbitrary } from "./outcome.ts";
import { expectedOutputArbitrary } from "./output.ts";
import { overlapTypes } from "./overlap.ts";
import { recordOf } from "./record.ts";
import { partialArbitrary, roundReplyArbitrary } from "./reply.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";

/**
 * Returns an arbitrary of decodable events, expected or not. Its ids are sometimes among `effectIds` and `askIds`, so
 * that some events match by accident.
 */
export const eventArbitrary = (among: {
  readonly effectIds?: readonly string[];
  readonly askIds?: readonly string[];
}): fc.Arbitrary<Event> =>
  fc.oneof(...Object.values(eventArbitraries(oneOf(among.effectIds ?? []), oneOf(among.askIds ?? []))));

const eventArbitraries = (effectId: fc.Arbitrary<string>, askId: fc.Arbitrary<string>): ByType<EventType> => {
  const [metadata, model] = [jsonObjectArbitrary, jsonObjectArbitrary];
  const input = fc.oneof(
    textArbitrary,
    fc.array(contentPartArbitrary, { maxLength: 2 }),
    fc.array(messageDraftArbitrary, { maxLength: 3 }),
  );
  const configuration = recordOf(
    { fingerprint: nameArbitrary },
    {
      model,
      idleTimeoutMs: fc.integer({ min: 1, max: 60_000 }),
      summariser: recordOf({ instruction: textArbitrary }, { model }),
    },
  );
  return {
    ...outcomeEventArbitraries(effectId),
    ...editEventArbitraries(),
    "ask.received": eventOf(
      "ask.received",
      { askId, input },
      {
        name: nameArbitrary,
        metadata,
        model,
        limits: limitsArbitrary,
        tools: callerToolsArbitrary,
        overlap: fc.constantFrom(...overlapTypes),
        joins: recordOf({}, { askId }),
        from: fc.oneof(fc.nat({ max: 4 }), recordOf({ checkpoint: nameArbitrary })),
        output: expectedOutputArbitrary,
      },
    ),
    "timer.fired": eventOf("timer.fired", { effectId }),
    "cancel.requested": eventOf(
      "cancel.requested",
      {},
      { askId, reason: textArbitrary, partial: partialArbitrary, usage: reportedUsageArbitrary },
    ),
    "message.appended": eventOf("message.appended", { message: messageDraftArbitrary }),
    "system.changed": eventOf("system.changed", { system: fc.option(systemDraftArbitrary) }),
    "thread.configured": eventOf("thread.configured", { configuration }, { model }),
  };
};

/** Returns an arbitrary of ids: one of the known ids, or another one. */
const oneOf = (known: readonly string[]): fc.Arbitrary<string> => {
  const strange = nameArbitrary.filter((name) => name !== "");
  return known.length === 0 ? strange : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, strange);
};

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
const editEventArbitraries = (): ByType<EditEvent> => {
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
