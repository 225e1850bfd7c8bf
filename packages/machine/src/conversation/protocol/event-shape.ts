import * as Either from "fp-ts/lib/Either.js";
import { isObject } from "../../thread/json.ts";
import { describeValueProblem, type ValueProblem } from "../../thread/value-problem.ts";
import { mostNestedInEvent, NotPlain, plainCopy } from "../../thread/plain-copy.ts";
import type { ThreadInput, Event } from "./event.ts";
import type { Shape } from "./shape.ts";
import {
  bool,
  byTag,
  count,
  glimpse,
  json,
  jsonObject,
  list,
  mustBe,
  nullable,
  number,
  object,
  oneOf,
  optional,
  text,
  textOr,
} from "./shape.ts";

/**
 * Reads a value as an event. Returns a copy as plain data, or an error that names the invalid field. It checks each
 * field of the event's type, as `decodeEvent` does at a higher cost; a test compares the two. It does not check what
 * the values mean, such as whether an id is known. Never throws.
 */
export const readEvent = (given: unknown): Either.Either<string, Event> => {
  const copy = copyOf(given, "the event");
  if (Either.isLeft(copy)) return copy;
  const problem = problemOfEvent(copy.right);
  // Its shape was checked above.
  return problem === null ? Either.right(copy.right as Event) : Either.left(problem);
};

/** Reads the input of a new thread in the same way. */
export const readThreadInput = (given: unknown): Either.Either<string, ThreadInput> => {
  const copy = copyOf(given, "what a thread begins with");
  if (Either.isLeft(copy)) return copy;
  const problem = problemOfBeginning(copy.right);
  return problem === null
    ? Either.right(copy.right as ThreadInput) // Its shape was checked above.
    : Either.left(describeValueProblem(problem, "what a thread begins with"));
};

const copyOf = (given: unknown, whole: string): Either.Either<string, unknown> => {
  try {
    const copy = plainCopy(given, mostNestedInEvent);
    return copy instanceof NotPlain ? Either.left(describeProblemIn(given, copy.problem, whole)) : Either.right(copy);
  } catch (thrown) {
    // Reading a value may run foreign code, such as a getter.
    return Either.left(`${whole} can't be read: ${thrown instanceof Error ? thrown.message : glimpse(thrown)}`);
  }
};

/** Describes the problem, with the event's type if it has one. */
const describeProblemIn = (given: unknown, problem: ValueProblem, whole: string): string => {
  const type = isObject(given) ? given["type"] : undefined;
  const where = describeValueProblem(problem, problem.path.length === 0 ? whole : "it");
  return typeof type === "string" && problem.path.length > 0 ? `${glimpse(type)}: ${where}` : where;
};

/** Returns why a plain value does not have the shape of an event for a running thread, or null if it does. */
export const problemOfEvent = (value: unknown): string | null => {
  if (!isObject(value)) return `an event is an object with a type; this is ${glimpse(value)}`;
  const { type } = value;
  const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape === undefined)
    return type === "thread.started"
      ? '"thread.started" begins a thread, once: `start` does that'
      : `${glimpse(type)} is no type of event; there are: ${Object.keys(shapes).join(", ")}`;
  const problem = shape(value);
  return problem === null ? null : `"${String(type)}": ${describeValueProblem(problem, "it")}`;
};

const provider = optional(jsonObject);
const metadata = optional(jsonObject);
const name = optional(text);

const contentParts = {
  text: object({ text, provider }),
  data: object({ field: text, value: json }),
  image: object({ url: text, detail: optional(text) }),
  opaque: object({ value: jsonObject }),
};
const contentPart = byTag("type", contentParts);
const replyPart = byTag("type", {
  ...contentParts,
  reasoning: object({ text, provider }),
  refusal: object({ text, provider }),
});
const content = textOr(list(contentPart));

const role = oneOf("system", "developer", "user", "assistant");
const messageDraft = object({ role, content, name, metadata, provider });
const toolCalls = optional(list(object({ id: nullable(text), name: text, arguments: text, provider })));
const replyFields = { content: optional(textOr(list(replyPart))), toolCalls, name, provider };
const reply = object(replyFields);
const seedDraft = byTag("role", {
  tool: object({ toolCallId: nullable(text), content }),
  assistant: object({ ...replyFields, metadata }),
  system: messageDraft,
  developer: messageDraft,
  user: messageDraft,
});
const systemDraft = textOr(object({ role: oneOf("system", "developer"), content, name, provider }));

const messages = list(messageDraft);
const parts = list(contentPart);
/** Checks a list of whole messages or of parts, never a mixture. */
const askInput: Shape = (value) => {
  if (typeof value === "string") return null;
  if (!Array.isArray(value)) return mustBe("a text, a list of parts or a list of messages", value);
  return value.every((item) => isObject(item) && "role" in item && !("type" in item)) ? messages(value) : parts(value);
};

const tokens = optional(count);
const usage = optional(
  object({
    inputTokens: tokens,
    outputTokens: tokens,
    totalTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
    reasoningTokens: tokens,
    provider,
  }),
);
const failure = object({
  kind: oneOf(
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
  ),
  message: text,
  retryable: bool,
  retryAfterMs: optional(count),
  status: optional(count),
  code: optional(text),
});
const most = optional(number);
const limits = object({
  steps: optional(nullable(number)),
  toolCalls: most,
  tokens: most,
  costNano: most,
  deadlineMs: most,
});
const configuration = object({
  fingerprint: text,
  model: optional(jsonObject),
  idleTimeoutMs: optional(count),
  summariser: optional(object({ instruction: text, model: optional(jsonObject) })),
  tools: optional(list(object({ name: text, digest: text }))),
});
const checkpoint = object({ checkpoint: text });
const head: Shape = (value) => (typeof value === "number" ? count(value) : checkpoint(value));
const failed = ["failed", "refused", "interrupted", "unknown"] as const;
const answer = { effectId: text };
const outcomeOfCall = { ...answer, usage, promptDigest: optional(text), model: optional(text) };

const trueOrAbsent: Shape = (value) =>
  value === undefined || value === true ? null : mustBe("true, or absent", value);
const textOrCount: Shape = (value) => (typeof value === "number" ? count(value) : text(value));

type Members = { readonly [name: string]: Shape };

/** The type makes this list complete. */
const members: { readonly [Type in Event["type"]]: Members } = {
  "ask.received": {
    askId: text,
    input: askInput,
    name,
    metadata,
    model: optional(jsonObject),
    limits: optional(limits),
    tools: optional(list(object({ name: text, description: optional(text), parameters: optional(jsonObject) }))),
    overlap: optional(oneOf("reject", "queue", "merge", "latest", "interrupt", "steer")),
    joins: optional(object({ askId: optional(text) })),
    from: optional(head),
    output: optional(
      object({ name: text, schema: jsonObject, mode: oneOf("native", "tool", "prompted"), repairs: count }),
    ),
    partial: optional(reply),
  },
  "message.appended": { message: messageDraft },
  "round.appended": {
    reply,
    results: list(object({ outcome: oneOf("completed", ...failed), content: nullable(content) })),
    metadata,
  },
  "system.changed": { system: nullable(systemDraft) },
  "system.reset": {},
  "llm.completed": { ...outcomeOfCall, reply, finishReason: nullable(text), responseId: optional(text) },
  "llm.failed": { ...outcomeOfCall, failure, partial: optional(reply) },
  "llm.progressed": {
    ...answer,
    partial: reply,
    again: trueOrAbsent,
  },
  "output.accepted": { ...answer, value: json },
  "output.refused": {
    ...answer,
    issues: list(object({ message: text, path: optional(list(textOrCount)) })),
    checkFailed: trueOrAbsent,
  },
  "tool.started": answer,
  "tool.withheld": {
    ...answer,
    because: oneOf("declared", "unknown_outcome"),
    version: optional(text),
    arguments: json,
  },
  "approval.answered": {
    ...answer,
    approved: bool,
    digest: optional(text),
    reason: optional(text),
    by: optional(text),
  },
  "tool.completed": { ...answer, content: nullable(content) },
  "tool.failed": { ...answer, outcome: oneOf(...failed), content },
  "timer.fired": answer,
  "cancel.requested": { askId: optional(text), reason: optional(text), partial: optional(reply), usage },
  "turn.added": { messages: list(seedDraft), metadata },
  "turn.annotated": { turn: count, name: text, value: json, metadata },
  "answer.truncated": { turn: count, characters: count },
  "head.moved": { to: head },
  "checkpoint.named": { name: text },
  "message.pinned": { message: text, pinned: bool },
  "metadata.changed": { metadata: jsonObject },
  "thread.forked": { from: object({ threadId: text, turn: count }) },
  "thread.redacted": { seqs: list(count), reason: optional(text) },
  "thread.configured": { configuration, model: optional(jsonObject) },
};

/** Returns what is wrong with the plain data that begins a thread, or null if nothing is. */
export const problemOfBeginning = object({
  threadId: (value) => (value === "" ? mustBe("a text that is not empty", value) : text(value)),
  at: number,
  seed: optional(list(seedDraft)),
  system: optional(systemDraft),
  metadata,
  model: optional(jsonObject),
  configuration: optional(configuration),
});

const shapes: Members = Object.freeze(
  Object.fromEntries(Object.entries(members).map(([type, fields]) => [type, object({ at: number, ...fields })])),
);
