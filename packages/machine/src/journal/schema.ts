import * as zod from "zod";
import { firstFormat } from "../conversation/protocol/entry.ts";
import { shortestShrink } from "../prompt/shrink.ts";

// The shapes of all formats. Objects are loose: fields that this version does not know survive decoding. An event
// of a type that it does not know is refused, since folding could not apply it.

const text = zod.string();
const count = zod.int().nonnegative();
const instant = zod.number();
const json = zod.json();
const jsonObject = zod.record(text, json);
const object = zod.looseObject;
const list = zod.array;

const textPart = object({ type: zod.literal("text"), text, provider: jsonObject.optional() });
const contentPart = zod.discriminatedUnion("type", [
  textPart,
  object({ type: zod.literal("data"), field: text, value: json }),
  object({ type: zod.literal("image"), url: text, detail: text.optional() }),
  object({ type: zod.literal("opaque"), value: jsonObject }),
]);
const replyPart = zod.discriminatedUnion("type", [
  ...contentPart.options,
  object({ type: zod.literal("reasoning"), text, provider: jsonObject.optional() }),
  object({ type: zod.literal("refusal"), text, provider: jsonObject.optional() }),
]);
const content = zod.union([text, list(contentPart)]);
const said = { name: text.optional(), metadata: jsonObject.optional(), provider: jsonObject.optional() };
const messageDraft = object({ role: zod.enum(["system", "developer", "user", "assistant"]), content, ...said });
const toolCall = object({ id: text.nullable(), name: text, arguments: text, provider: jsonObject.optional() });
const reply = object({
  content: zod.union([text, list(replyPart)]).optional(),
  toolCalls: list(toolCall).optional(),
  name: text.optional(),
  provider: jsonObject.optional(),
});
const seedDraft = zod.union([
  object({ role: zod.literal("tool"), toolCallId: text.nullable(), content }),
  reply.extend({ role: zod.literal("assistant"), metadata: jsonObject.optional() }),
  messageDraft,
]);
const systemDraft = zod.union([
  text,
  object({ role: zod.enum(["system", "developer"]), content, name: text.optional(), provider: jsonObject.optional() }),
]);
const usage = object({
  inputTokens: count.optional(),
  outputTokens: count.optional(),
  totalTokens: count.optional(),
  cacheReadTokens: count.optional(),
  cacheWriteTokens: count.optional(),
  reasoningTokens: count.optional(),
  provider: jsonObject.optional(),
});
const failure = object({
  kind: zod.enum([
    "rate_limit",
    "overloaded",
    "auth",
    "bad_request",
    "context_length",
    "content_filter",
    "timeout",
    "network",
    "truncated",
    "unknown",
  ]),
  message: text,
  retryable: zod.boolean(),
  retryAfterMs: count.optional(),
  status: count.optional(),
  code: text.optional(),
});
const limits = object({
  steps: count.optional(),
  toolCalls: count.optional(),
  tokens: count.optional(),
  costNano: count.optional(),
  deadlineMs: count.optional(),
});
const configuration = object({
  fingerprint: text,
  model: jsonObject.optional(),
  idleTimeoutMs: count.optional(),
  summariser: object({ instruction: text, model: jsonObject.optional() }).optional(),
  tools: list(object({ name: text, digest: text })).optional(),
});
const position = zod.strictObject({ turn: count, unit: count });
const turnRange = zod.strictObject({ from: count, to: count });
const inOrder = ({ from, to }: { readonly from: number; readonly to: number }): boolean => from <= to;
const turns = turnRange.refine(inOrder, "a range of turns begins behind its end");
const fields = zod.strictObject({ omit: list(text).optional(), inputs: list(text).optional() });
const head = zod.union([count, object({ checkpoint: text })]);
const outcome = zod.enum(["failed", "refused", "interrupted", "unknown"]);

const event = <const Type extends string, Shape extends zod.ZodRawShape>(type: Type, shape: Shape) =>
  object({ type: zod.literal(type), at: instant, ...shape });
const answer = { effectId: text };

const threadStarted = event("thread.started", {
  threadId: text.min(1),
  system: systemDraft.optional(),
  seed: list(seedDraft).optional(),
  metadata: jsonObject.optional(),
  model: jsonObject.optional(),
  configuration: configuration.optional(),
});

/** Any event but the first. */
export const eventSchema = zod.discriminatedUnion("type", [
  event("ask.received", {
    askId: text.min(1),
    input: zod.union([text, list(messageDraft), list(contentPart)]),
    name: text.optional(),
    metadata: jsonObject.optional(),
    model: jsonObject.optional(),
    limits: limits.optional(),
    tools: list(object({ name: text, description: text.optional(), parameters: jsonObject.optional() })).optional(),
    overlap: zod.enum(["reject", "queue", "merge", "latest", "interrupt", "steer"]).optional(),
    joins: object({ askId: text.optional() }).optional(),
    from: head.optional(),
    output: object({
      name: text,
      schema: jsonObject,
      mode: zod.enum(["native", "tool", "prompted"]),
      repairs: count,
    }).optional(),
    partial: reply.optional(),
  }),
  event("message.appended", { message: messageDraft }),
  event("round.appended", {
    reply: reply.extend({ toolCalls: list(toolCall).min(1) }),
    results: list(object({ outcome: zod.enum(["completed", ...outcome.options]), content: content.nullable() })),
    metadata: jsonObject.optional(),
  }),
  event("system.changed", { system: systemDraft.nullable() }),
  event("system.reset", {}),
  event("llm.completed", {
    ...answer,
    reply,
    finishReason: text.nullable(),
    usage: usage.optional(),
    promptDigest: text.optional(),
    model: text.optional(),
    responseId: text.optional(),
  }),
  event("llm.failed", {
    ...answer,
    failure,
    partial: reply.optional(),
    usage: usage.optional(),
    promptDigest: text.optional(),
    model: text.optional(),
  }),
  event("llm.progressed", { ...answer, partial: reply, again: zod.literal(true).optional() }),
  event("output.accepted", { ...answer, value: json }),
  event("output.refused", {
    ...answer,
    issues: list(object({ message: text, path: list(zod.union([text, count])).optional() })),
    checkFailed: zod.literal(true).optional(),
  }),
  event("tool.started", answer),
  event("tool.withheld", {
    ...answer,
    because: zod.enum(["declared", "unknown_outcome"]),
    version: text.optional(),
    arguments: json,
  }),
  event("approval.answered", {
    ...answer,
    approved: zod.boolean(),
    digest: text.optional(),
    reason: text.optional(),
    by: text.optional(),
  }),
  event("tool.completed", { ...answer, content: content.nullable() }),
  event("tool.failed", { ...answer, outcome, content }),
  event("timer.fired", answer),
  event("cancel.requested", {
    askId: text.optional(),
    reason: text.optional(),
    partial: reply.optional(),
    usage: usage.optional(),
  }),
  event("turn.added", { messages: list(seedDraft), metadata: jsonObject.optional() }),
  event("turn.annotated", { turn: count, name: text, value: json, metadata: jsonObject.optional() }),
  event("answer.truncated", { turn: count, characters: count }),
  event("head.moved", { to: head }),
  event("checkpoint.named", { name: text }),
  event("message.pinned", { message: text, pinned: zod.boolean() }),
  event("metadata.changed", { metadata: jsonObject }),
  event("thread.forked", { from: object({ threadId: text, turn: count }) }),
  event("thread.redacted", { seqs: list(count), reason: text.optional() }),
  event("thread.configured", { format: count.optional(), configuration, model: jsonObject.optional() }),
]);

// Decisions are what folding applies, so one that this version does not know must stop it.
const decided = zod.strictObject({
  queued: count.optional(),
  supersedes: zod.literal(true).optional(),
  interrupts: zod.literal(true).optional(),
  joins: zod.literal(true).optional(),
  goesOn: zod.literal(true).optional(),
  opens: zod.int().positive().optional(),
  approvals: list(count).optional(),
  deadlineAt: instant.optional(),
  cut: zod
    .strictObject({
      policy: text,
      from: position.nullable(),
      dropped: list(text).optional(),
      summarised: turnRange
        .extend({ upTo: count })
        .refine(inOrder, "a range of turns begins behind its end")
        .optional(),
      shrink: list(
        zod.strictObject({
          rule: zod.enum(["clear", "headAndTail", "reference"]),
          of: zod.enum(["toolResults", "messages"]),
          characters: count.min(shortestShrink),
          before: position.optional(),
          tool: text.optional(),
        }),
      ).optional(),
      fields: fields.optional(),
      system: zod.literal("omit").optional(),
      interrupted: zod.enum(["keep", "omit"]),
      calibration: zod.number().positive().optional(),
    })
    .optional(),
  retry: zod.strictObject({ attempt: count, dueAt: instant }).optional(),
  unchecked: zod.enum(["refused", "cut"]).optional(),
  results: list(zod.strictObject({ position: count, outcome, content: list(contentPart) })).optional(),
  limit: zod
    .strictObject({
      limit: zod.enum(["steps", "toolCalls", "tokens", "costNano", "deadlineMs"]),
      allowed: zod.number(),
      reached: zod.number(),
    })
    .optional(),
  unfit: zod
    .strictObject({
      tokens: zod.number(),
      available: zod.number(),
      budget: count,
      reserve: count,
      fixed: zod.number(),
      largest: zod.strictObject({ message: text, tokens: zod.number() }).nullable(),
    })
    .optional(),
  compacting: zod.strictObject({ dueAt: instant }).optional(),
  summary: zod
    .strictObject({
      covers: turns,
      earlier: turns.nullable(),
      interrupted: zod.literal("omit").optional(),
      fields: fields.optional(),
      characters: count.optional(),
      unfit: zod.strictObject({ tokens: zod.number(), available: zod.number() }).optional(),
    })
    .optional(),
  summaryFailed: text.optional(),
  summaryStale: zod.literal(true).optional(),
  fullness: zod
    .strictObject({
      is: zod.enum(["within", "approaching_limit", "at_limit"]),
      tokens: zod.number(),
      available: zod.number(),
    })
    .optional(),
  counted: zod.number().nonnegative().optional(),
  cost: zod.strictObject({ nano: zod.int(), currency: text }).optional(),
  policyFailed: text.optional(),
  kept: count.optional(),
});

/** The entry that begins a journal. */
export const firstEntrySchema = object({
  seq: zod.literal(0),
  format: zod.literal(firstFormat),
  event: threadStarted,
  redacted: zod.literal(true).optional(),
});

/** Any other entry. */
export const laterEntrySchema = object({
  seq: zod.int().positive(),
  event: eventSchema,
  decided: decided.optional(),
  recovered: zod.literal(true).optional(),
  redacted: zod.literal(true).optional(),
});
