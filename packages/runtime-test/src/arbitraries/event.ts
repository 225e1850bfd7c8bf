import type { Event, EventType } from "@colloquy/machine";
import { journalFormat } from "@colloquy/machine/journal";
import fc from "fast-check";
import { editEventArbitraries } from "./edit-events.ts";
import { atArbitrary, only } from "./event-parts.ts";
import { jsonObjectArbitrary } from "./json.ts";
import { contentPartArbitrary, messageDraftArbitrary, systemDraftArbitrary } from "./message.ts";
import { outcomeEventArbitraries } from "./outcome-events.ts";
import { limitsArbitrary, reportedUsageArbitrary } from "./outcome.ts";
import { overlapTypes } from "./overlap.ts";
import { partialArbitrary } from "./reply.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";

/**
 * Any event that can be decoded, whether or not anybody waits for it. Its ids are among `effectIds` and
 * `askIds` now and then, so that some fit where they were not meant.
 */
export const eventArbitrary = (among: {
  readonly effectIds?: readonly string[];
  readonly askIds?: readonly string[];
}): fc.Arbitrary<Event> =>
  fc.oneof(...Object.values(eventArbitraries(oneOf(among.effectIds ?? []), oneOf(among.askIds ?? []))));

type ByType = { readonly [Type in EventType]: fc.Arbitrary<Extract<Event, { type: Type }>> };

const eventArbitraries = (effectId: fc.Arbitrary<string>, askId: fc.Arbitrary<string>): ByType => ({
  ...outcomeEventArbitraries(effectId),
  ...editEventArbitraries(),
  "ask.received": fc.record(
    {
      type: fc.constant("ask.received"),
      at: atArbitrary,
      askId,
      input: fc.oneof(
        textArbitrary,
        fc.array(contentPartArbitrary, { maxLength: 2 }),
        fc.array(messageDraftArbitrary, { maxLength: 3 }),
      ),
      name: nameArbitrary,
      metadata: jsonObjectArbitrary,
      model: jsonObjectArbitrary,
      limits: limitsArbitrary,
      overlap: fc.constantFrom(...overlapTypes),
      joins: fc.record({ askId }, only()),
    },
    only("type", "at", "askId", "input"),
  ),
  "timer.fired": fc.record(
    { type: fc.constant("timer.fired"), at: atArbitrary, effectId },
    only("type", "at", "effectId"),
  ),
  "cancel.requested": fc.record(
    {
      type: fc.constant("cancel.requested"),
      at: atArbitrary,
      askId,
      reason: textArbitrary,
      partial: partialArbitrary,
      usage: reportedUsageArbitrary,
    },
    only("type", "at"),
  ),
  "message.appended": fc.record(
    { type: fc.constant("message.appended"), at: atArbitrary, message: messageDraftArbitrary },
    only("type", "at", "message"),
  ),
  "system.changed": fc.record(
    { type: fc.constant("system.changed"), at: atArbitrary, system: fc.option(systemDraftArbitrary) },
    only("type", "at", "system"),
  ),
  "thread.configured": fc.record(
    {
      type: fc.constant("thread.configured"),
      at: atArbitrary,
      format: fc.constant(journalFormat),
      configuration: fc.record(
        {
          fingerprint: nameArbitrary,
          model: jsonObjectArbitrary,
          idleTimeoutMs: fc.integer({ min: 1, max: 60_000 }),
          summariser: fc.record({ instruction: textArbitrary, model: jsonObjectArbitrary }, only("instruction")),
        },
        only("fingerprint"),
      ),
      model: jsonObjectArbitrary,
    },
    only("type", "at", "configuration"),
  ),
});

/** An id that somebody may wait for, or one that nobody does. */
const oneOf = (known: readonly string[]): fc.Arbitrary<string> => {
  const strange = nameArbitrary.filter((name) => name !== "");
  return known.length === 0 ? strange : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, strange);
};
