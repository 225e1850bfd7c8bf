// This uses the mini build of zod, which checks the same and has a third of the size for these schemas.
import * as zod from "zod/mini";
import { array as list, looseObject as object, nullable, optional } from "zod/mini";

export { list, nullable, object, optional };

export const text = zod.string();
export const name = text.check(zod.minLength(1));
export const count = zod.int().check(zod.nonnegative());
export const instant = zod.number();
export const json = zod.json();
export const jsonObject = zod.record(text, json);

/** Returns the schemas of messages: parts, replies, drafts. */
export const messageSchemas = () => {
  const textPart = object({ type: zod.literal("text"), text, provider: optional(jsonObject) });
  const contentParts = [
    textPart,
    object({ type: zod.literal("data"), field: text, value: json }),
    object({ type: zod.literal("image"), url: text, detail: optional(text) }),
    object({ type: zod.literal("opaque"), value: jsonObject }),
  ] as const;
  const contentPart = zod.discriminatedUnion("type", contentParts);
  const replyPart = zod.discriminatedUnion("type", [
    ...contentParts,
    object({ type: zod.literal("reasoning"), text, provider: optional(jsonObject) }),
    object({ type: zod.literal("refusal"), text, provider: optional(jsonObject) }),
  ]);
  const content = zod.union([text, list(contentPart)]);
  const said = { name: optional(text), metadata: optional(jsonObject), provider: optional(jsonObject) };
  const messageDraft = object({ role: zod.enum(["system", "developer", "user", "assistant"]), content, ...said });
  const toolCall = object({ id: nullable(text), name: text, arguments: text, provider: optional(jsonObject) });
  const reply = object({
    content: optional(zod.union([text, list(replyPart)])),
    toolCalls: optional(list(toolCall)),
    name: optional(text),
    provider: optional(jsonObject),
  });
  const seedDraft = zod.union([
    object({ role: zod.literal("tool"), toolCallId: nullable(text), content }),
    zod.extend(reply, { role: zod.literal("assistant"), metadata: optional(jsonObject) }),
    // An assistant's draft must match the reply schema. As a plain message its invalid tool calls would be ignored.
    messageDraft.check(zod.refine(({ role }) => role !== "assistant", { abort: true, error: "is a reply" })),
  ]);
  const systemDraft = zod.union([
    text,
    object({ role: zod.enum(["system", "developer"]), content, name: optional(text), provider: optional(jsonObject) }),
  ]);

  return { contentPart, content, messageDraft, toolCall, reply, seedDraft, systemDraft };
};

/** Returns the schemas of usage, failures, limits and configuration. */
export const accountSchemas = () => {
  const usage = object({
    inputTokens: optional(count),
    outputTokens: optional(count),
    totalTokens: optional(count),
    cacheReadTokens: optional(count),
    cacheWriteTokens: optional(count),
    reasoningTokens: optional(count),
    provider: optional(jsonObject),
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
    retryAfterMs: optional(count),
    status: optional(count),
    code: optional(text),
  });
  const limits = object({
    steps: optional(nullable(count)),
    toolCalls: optional(count),
    tokens: optional(count),
    costNano: optional(count),
    deadlineMs: optional(count),
  });
  const configuration = object({
    fingerprint: text,
    model: optional(jsonObject),
    idleTimeoutMs: optional(count),
    summariser: optional(object({ instruction: text, model: optional(jsonObject) })),
    tools: optional(list(object({ name: text, digest: text }))),
  });

  return { usage, failure, limits, configuration };
};
