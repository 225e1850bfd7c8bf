import type { Event, EventType } from "@colloquy/machine";
import fc from "fast-check";
import { callerToolsArbitrary } from "./caller-tool.ts";
import { editEventArbitraries } from "./edit-events.ts";
import { type ByType, eventOf } from "./event-parts.ts";
import { jsonObjectArbitrary } from "./json.ts";
import { contentPartArbitrary, messageDraftArbitrary, systemDraftArbitrary } from "./message.ts";
import { outcomeEventArbitraries } from "./outcome-events.ts";
import { limitsArbitrary, reportedUsageArbitrary } from "./outcome.ts";
import { expectedOutputArbitrary } from "./output.ts";
import { overlapTypes } from "./overlap.ts";
import { recordOf } from "./record.ts";
import { partialArbitrary } from "./reply.ts";
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
