import { type Event, type EventType, journalFormat } from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary } from "./json.ts";
import {
  contentArbitrary,
  contentPartArbitrary,
  messageDraftArbitrary,
  brokenSeedArbitrary,
  systemDraftArbitrary,
} from "./message.ts";
import { failureArbitrary, limitsArbitrary, reportedUsageArbitrary, toolOutcomeArbitrary } from "./outcome.ts";
import { partialArbitrary, replyArbitrary } from "./reply.ts";
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

const at = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_900_000 }) },
  fc.constantFrom(0, -1, 0.5, Number.MAX_SAFE_INTEGER),
);
const tools = ["search", "weather"];

const eventArbitraries = (effectId: fc.Arbitrary<string>, askId: fc.Arbitrary<string>): ByType => ({
  ...outcomeEvents(effectId),
  ...editEvents(),
  "ask.received": fc.record(
    {
      type: fc.constant("ask.received"),
      at,
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
    },
    only("type", "at", "askId", "input"),
  ),
  "timer.fired": fc.record({ type: fc.constant("timer.fired"), at, effectId }, only("type", "at", "effectId")),
  "cancel.requested": fc.record(
    {
      type: fc.constant("cancel.requested"),
      at,
      askId,
      reason: textArbitrary,
      partial: partialArbitrary,
      usage: reportedUsageArbitrary,
    },
    only("type", "at"),
  ),
  "message.appended": fc.record(
    { type: fc.constant("message.appended"), at, message: messageDraftArbitrary },
    only("type", "at", "message"),
  ),
  "system.changed": fc.record(
    { type: fc.constant("system.changed"), at, system: fc.option(systemDraftArbitrary) },
    only("type", "at", "system"),
  ),
  "thread.configured": fc.record(
    {
      type: fc.constant("thread.configured"),
      at,
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

const outcomeEvents = (effectId: fc.Arbitrary<string>) => ({
  "llm.completed": fc.record(
    {
      type: fc.constant("llm.completed" as const),
      at,
      effectId,
      reply: replyArbitrary(tools),
      finishReason: fc.option(nameArbitrary),
      usage: reportedUsageArbitrary,
      promptDigest: nameArbitrary,
      model: fc.constantFrom("model-1", "other"),
      responseId: nameArbitrary,
    },
    only("type", "at", "effectId", "reply", "finishReason"),
  ),
  "llm.failed": fc.record(
    {
      type: fc.constant("llm.failed" as const),
      at,
      effectId,
      failure: failureArbitrary,
      partial: partialArbitrary,
      usage: reportedUsageArbitrary,
      promptDigest: nameArbitrary,
      model: fc.constantFrom("model-1", "other"),
    },
    only("type", "at", "effectId", "failure"),
  ),
  "llm.progressed": fc.record(
    {
      type: fc.constant("llm.progressed" as const),
      at,
      effectId,
      partial: partialArbitrary,
      again: fc.constant(true as const),
    },
    only("type", "at", "effectId", "partial"),
  ),
  "tool.started": fc.record(
    { type: fc.constant("tool.started" as const), at, effectId },
    only("type", "at", "effectId"),
  ),
  "tool.completed": fc.record(
    { type: fc.constant("tool.completed" as const), at, effectId, content: fc.option(contentArbitrary) },
    only("type", "at", "effectId", "content"),
  ),
  "tool.failed": fc.record(
    {
      type: fc.constant("tool.failed" as const),
      at,
      effectId,
      outcome: toolOutcomeArbitrary,
      content: contentArbitrary,
    },
    only("type", "at", "effectId", "outcome", "content"),
  ),
});

const editEvents = () => ({
  "turn.added": fc.record(
    {
      type: fc.constant("turn.added" as const),
      at,
      messages: brokenSeedArbitrary(tools),
      metadata: jsonObjectArbitrary,
    },
    only("type", "at", "messages"),
  ),
  "turn.annotated": fc.record(
    {
      type: fc.constant("turn.annotated" as const),
      at,
      turn: fc.nat({ max: 4 }),
      name: nameArbitrary,
      value: fc.oneof(textArbitrary, fc.integer(), fc.boolean(), fc.constant(null), jsonObjectArbitrary),
      metadata: jsonObjectArbitrary,
    },
    only("type", "at", "turn", "name", "value"),
  ),
  "answer.truncated": fc.record(
    {
      type: fc.constant("answer.truncated" as const),
      at,
      turn: fc.nat({ max: 4 }),
      characters: fc.nat({ max: 12 }),
    },
    only("type", "at", "turn", "characters"),
  ),
  "head.moved": fc.record(
    {
      type: fc.constant("head.moved" as const),
      at,
      to: fc.oneof(fc.nat({ max: 4 }), fc.record({ checkpoint: nameArbitrary }, only("checkpoint"))),
    },
    only("type", "at", "to"),
  ),
  "message.pinned": fc.record(
    {
      type: fc.constant("message.pinned" as const),
      at,
      message: fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 3 })).map(([turn, message]) => `${turn}.${message}`),
      pinned: fc.boolean(),
    },
    only("type", "at", "message", "pinned"),
  ),
  "checkpoint.named": fc.record(
    { type: fc.constant("checkpoint.named" as const), at, name: nameArbitrary },
    only("type", "at", "name"),
  ),
});

/** An id that somebody may wait for, or one that nobody does. */
const oneOf = (known: readonly string[]): fc.Arbitrary<string> => {
  const strange = nameArbitrary.filter((name) => name !== "");
  return known.length === 0 ? strange : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, strange);
};

function only<const Keys extends string[]>(
  ...requiredKeys: Keys
): { requiredKeys: Keys[number][]; noNullPrototype: true } {
  return { requiredKeys, noNullPrototype: true };
}
