import * as zod from "zod/mini";
import type { accountSchemas, messageSchemas } from "./message-schema.ts";
import { count, instant, json, jsonObject, list, name, nullable, object, optional, text } from "./message-schema.ts";

/** The building blocks of events. */
type Shapes = ReturnType<typeof messageSchemas> & ReturnType<typeof accountSchemas>;

/** The outcomes of a call that did not complete. */
export const outcomes = ["failed", "refused", "interrupted", "unknown"] as const;

/** Returns the schema of the first event. */
export const startedSchema = ({ systemDraft, seedDraft, configuration }: Shapes) =>
  event("thread.started", {
    threadId: name,
    system: optional(systemDraft),
    seed: optional(list(seedDraft)),
    metadata: optional(jsonObject),
    model: optional(jsonObject),
    configuration: optional(configuration),
  });

/** Returns the schema of any event but the first. */
export const eventSchemaOf = (shapes: Shapes) =>
  zod.discriminatedUnion("type", [...asked(shapes), ...answered(shapes), ...changed(shapes)]);

const event = <const Type extends string, const Shape extends zod.core.$ZodShape>(type: Type, shape: Shape) =>
  object({ type: zod.literal(type), at: instant, ...shape });

const answer = { effectId: text };

const headSchema = () => zod.union([count, object({ checkpoint: text })]);

const asked = ({ messageDraft, contentPart, content, limits, reply, toolCall, systemDraft }: Shapes) =>
  [
    event("ask.received", {
      askId: name,
      input: zod.union([text, list(messageDraft), list(contentPart)]),
      name: optional(text),
      metadata: optional(jsonObject),
      model: optional(jsonObject),
      limits: optional(limits),
      tools: optional(list(object({ name: text, description: optional(text), parameters: optional(jsonObject) }))),
      overlap: optional(zod.enum(["reject", "queue", "merge", "latest", "interrupt", "steer"])),
      joins: optional(object({ askId: optional(text) })),
      from: optional(headSchema()),
      output: optional(
        object({
          name: text,
          schema: jsonObject,
          mode: zod.enum(["native", "tool", "prompted"]),
          repairs: count,
        }),
      ),
      partial: optional(reply),
    }),
    event("message.appended", { message: messageDraft }),
    event("round.appended", {
      reply: zod.extend(reply, { toolCalls: list(toolCall).check(zod.minLength(1)) }),
      results: list(object({ outcome: zod.enum(["completed", ...outcomes]), content: nullable(content) })),
      metadata: optional(jsonObject),
    }),
    event("system.changed", { system: nullable(systemDraft) }),
    event("system.reset", {}),
  ] as const;

const answered = ({ reply, usage, failure, content }: Shapes) =>
  [
    event("llm.completed", {
      ...answer,
      reply,
      finishReason: nullable(text),
      usage: optional(usage),
      promptDigest: optional(text),
      model: optional(text),
      responseId: optional(text),
    }),
    event("llm.failed", {
      ...answer,
      failure,
      partial: optional(reply),
      usage: optional(usage),
      promptDigest: optional(text),
      model: optional(text),
    }),
    event("llm.progressed", { ...answer, partial: reply, again: optional(zod.literal(true)) }),
    event("output.accepted", { ...answer, value: json }),
    event("output.refused", {
      ...answer,
      issues: list(object({ message: text, path: optional(list(zod.union([text, count]))) })),
      checkFailed: optional(zod.literal(true)),
    }),
    event("tool.started", answer),
    event("tool.withheld", {
      ...answer,
      because: zod.enum(["declared", "unknown_outcome"]),
      version: optional(text),
      arguments: json,
    }),
    event("approval.answered", {
      ...answer,
      approved: zod.boolean(),
      digest: optional(text),
      reason: optional(text),
      by: optional(text),
    }),
    event("tool.completed", { ...answer, content: nullable(content) }),
    event("tool.failed", { ...answer, outcome: zod.enum(outcomes), content }),
    event("timer.fired", answer),
    event("cancel.requested", {
      askId: optional(text),
      reason: optional(text),
      partial: optional(reply),
      usage: optional(usage),
    }),
  ] as const;

const changed = ({ seedDraft, configuration }: Shapes) =>
  [
    event("turn.added", { messages: list(seedDraft), metadata: optional(jsonObject) }),
    event("turn.annotated", { turn: count, name: text, value: json, metadata: optional(jsonObject) }),
    event("answer.truncated", { turn: count, characters: count }),
    event("head.moved", { to: headSchema() }),
    event("checkpoint.named", { name: text }),
    event("message.pinned", { message: text, pinned: zod.boolean() }),
    event("metadata.changed", { metadata: jsonObject }),
    event("thread.forked", { from: object({ threadId: text, turn: count }) }),
    event("thread.redacted", { seqs: list(count), reason: optional(text) }),
    event("thread.configured", { configuration, model: optional(jsonObject) }),
  ] as const;
