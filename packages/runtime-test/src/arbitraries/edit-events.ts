import type { Event } from "@colloquy/machine";
import fc from "fast-check";
import { atArbitrary, calledTools, only } from "./event-parts.ts";
import { jsonObjectArbitrary } from "./json.ts";
import { appendedResultArbitrary, brokenSeedArbitrary } from "./message.ts";
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

type ByType<Types extends EditEvent> = { readonly [Type in Types]: fc.Arbitrary<Extract<Event, { type: Type }>> };

/** Edits of the thread, most of which name something that may be there. */
export const editEventArbitraries = (): ByType<EditEvent> => ({ ...turnEdits(), ...threadEdits() });

type ThreadEdit = "system.reset" | "metadata.changed" | "thread.forked" | "thread.redacted";

/** Of turns and their messages, and of the way through them. */
const turnEdits = (): ByType<Exclude<EditEvent, ThreadEdit>> => ({
  "round.appended": fc.record(
    {
      type: fc.constant("round.appended" as const),
      at: atArbitrary,
      reply: roundReplyArbitrary(calledTools),
      results: fc.array(appendedResultArbitrary, { maxLength: 3 }),
      metadata: jsonObjectArbitrary,
    },
    only("type", "at", "reply", "results"),
  ),
  "turn.added": fc.record(
    {
      type: fc.constant("turn.added" as const),
      at: atArbitrary,
      messages: brokenSeedArbitrary(calledTools),
      metadata: jsonObjectArbitrary,
    },
    only("type", "at", "messages"),
  ),
  "turn.annotated": fc.record(
    {
      type: fc.constant("turn.annotated" as const),
      at: atArbitrary,
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
      at: atArbitrary,
      turn: fc.nat({ max: 4 }),
      characters: fc.nat({ max: 12 }),
    },
    only("type", "at", "turn", "characters"),
  ),
  "head.moved": fc.record(
    {
      type: fc.constant("head.moved" as const),
      at: atArbitrary,
      to: fc.oneof(fc.nat({ max: 4 }), fc.record({ checkpoint: nameArbitrary }, only("checkpoint"))),
    },
    only("type", "at", "to"),
  ),
  "message.pinned": fc.record(
    {
      type: fc.constant("message.pinned" as const),
      at: atArbitrary,
      message: fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 3 })).map(([turn, message]) => `${turn}.${message}`),
      pinned: fc.boolean(),
    },
    only("type", "at", "message", "pinned"),
  ),
  "checkpoint.named": fc.record(
    { type: fc.constant("checkpoint.named" as const), at: atArbitrary, name: nameArbitrary },
    only("type", "at", "name"),
  ),
});

/** Of the thread as a whole. */
const threadEdits = (): ByType<ThreadEdit> => ({
  "system.reset": fc.record({ type: fc.constant("system.reset" as const), at: atArbitrary }, only("type", "at")),
  "metadata.changed": fc.record(
    { type: fc.constant("metadata.changed" as const), at: atArbitrary, metadata: jsonObjectArbitrary },
    only("type", "at", "metadata"),
  ),
  "thread.forked": fc.record(
    {
      type: fc.constant("thread.forked" as const),
      at: atArbitrary,
      from: fc.record({ threadId: nameArbitrary, turn: fc.nat({ max: 4 }) }, only("threadId", "turn")),
    },
    only("type", "at", "from"),
  ),
  "thread.redacted": fc.record(
    {
      type: fc.constant("thread.redacted" as const),
      at: atArbitrary,
      seqs: fc.array(fc.nat({ max: 9 }), { maxLength: 3 }),
      reason: textArbitrary,
    },
    only("type", "at", "seqs"),
  ),
});
