import {
  describeValueProblem,
  isObject,
  type JsonObject,
  mostNestedInEvent,
  NotPlain,
  plainCopy,
  type ValueProblem,
} from "../../thread/plain-data.ts";
import type { MessageDraft } from "../../thread/message.ts";
import type { ExpectedOutput, Failure, OutputIssue } from "../../thread/turn.ts";
import type { ReportedUsage } from "../../thread/usage.ts";
import type {
  AppendedResult,
  AskReceived,
  CallerTool,
  Configuration,
  Event,
  EventType,
  ForkOrigin,
  HeadMoved,
  OfferedTool,
  ThreadInput,
  ThreadStarted,
} from "./event.ts";
import {
  bool,
  byTag,
  count,
  either,
  glimpse,
  json,
  jsonObject,
  keep,
  type Lasting,
  list,
  mark,
  type Members,
  mustBe,
  nameOrWords,
  nullable,
  number,
  object,
  oneOf,
  optional,
  redactedText,
  replaced,
  ruled,
  tag,
  text,
  words,
} from "./form.ts";
import type { Limits } from "./limits.ts";
import { content, contentPart, messageDraft, reply, seedDraft, systemDraft } from "./message-forms.ts";
import * as Either from "fp-ts/lib/Either.js";

const id = keep(text);
export const filled = ruled(id, (value) => value !== "", "a text that is not empty");
/** Model parameters are not content, and the next call needs them. */
const model = optional(keep(jsonObject));
const metadata = optional(replaced(jsonObject, {}));

/** A list of whole messages or of parts, never a mixture. */
const lists = either(
  (value) => Array.isArray(value) && value.every((item) => isObject(item) && "role" in item && !("type" in item)),
  list<MessageDraft>(messageDraft),
  list(contentPart),
);
const input: Lasting<AskReceived["input"]> = either((value) => typeof value === "string", words, {
  shape: (value) =>
    Array.isArray(value) ? lists.shape(value) : mustBe("a text, a list of parts or a list of messages", value),
  redact: lists.redact,
});

const usage = optional(
  object<ReportedUsage>({
    inputTokens: optional(count),
    outputTokens: optional(count),
    totalTokens: optional(count),
    cacheReadTokens: optional(count),
    cacheWriteTokens: optional(count),
    reasoningTokens: optional(count),
    // The provider's own report may contain anything.
    provider: optional(jsonObject),
  }),
);
const failure = object<Failure>({
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
  message: words,
  retryable: bool,
  retryAfterMs: optional(count),
  status: optional(count),
  code: optional(nameOrWords),
});

/** Limits with these figures: in an event they are numbers, which the machine checks; in a journal they are counts. */
export const limitsOf = (figure: Lasting<number>): Lasting<Limits> =>
  object<Limits>({
    steps: optional(nullable(figure)),
    toolCalls: optional(figure),
    tokens: optional(figure),
    costNano: optional(figure),
    deadlineMs: optional(figure),
  });

const configuration = keep(
  object<Configuration>({
    fingerprint: id,
    model,
    idleTimeoutMs: optional(count),
    summariser: optional(object<NonNullable<Configuration["summariser"]>>({ instruction: id, model })),
    tools: optional(list(object<OfferedTool>({ name: id, digest: id }))),
  }),
);

const head: Lasting<HeadMoved["to"]> = either(
  (value) => typeof value === "number",
  count,
  object<Exclude<HeadMoved["to"], number>>({ checkpoint: id }),
);
const issue = object<OutputIssue>({
  message: words,
  // The path of an issue may contain content.
  path: optional({ shape: list(either((step) => typeof step === "number", count, id)).shape, redact: undefined }),
});

/** The outcomes of a call that did not complete. */
export const failedOutcome = oneOf("failed", "refused", "interrupted", "unknown");
const answer = { effectId: id };
/** The digest of the prompt, and the provider's id of a stored response, could reveal the content. */
const call = { usage, promptDigest: optional(text), model: optional(id) };
const reason = optional(words);
const partial = optional(reply);

const members: { readonly [Type in EventType]: Members<Omit<Extract<Event, { readonly type: Type }>, "type" | "at">> } =
  {
    "ask.received": {
      askId: id,
      input,
      name: optional(text),
      metadata,
      model: optional(jsonObject),
      limits: optional(limitsOf(number)),
      tools: optional(
        list(object<CallerTool>({ name: id, description: optional(text), parameters: optional(jsonObject) })),
      ),
      overlap: optional(oneOf("reject", "queue", "merge", "latest", "interrupt", "steer")),
      joins: optional(object<NonNullable<AskReceived["joins"]>>({ askId: optional(id) })),
      from: optional(head),
      // Decisions that depend on a requested output fold as before.
      output: optional(
        object<ExpectedOutput>({
          name: id,
          schema: replaced(jsonObject, {}),
          mode: oneOf("native", "tool", "prompted"),
          repairs: count,
        }),
      ),
      partial,
    },
    "message.appended": { message: messageDraft },
    "round.appended": {
      reply,
      results: list(
        object<AppendedResult>({
          outcome: oneOf("completed", "failed", "refused", "interrupted", "unknown"),
          content: nullable(content),
        }),
      ),
      metadata,
    },
    "system.changed": { system: nullable(systemDraft) },
    "system.reset": {},
    "llm.completed": { ...answer, reply, finishReason: nullable(nameOrWords), ...call, responseId: optional(text) },
    "llm.failed": { ...answer, failure, partial, ...call },
    "llm.progressed": { ...answer, partial: reply, again: optional(mark) },
    "output.accepted": { ...answer, value: replaced(json, redactedText) },
    "output.refused": { ...answer, issues: list(issue), checkFailed: optional(mark) },
    "tool.started": answer,
    "tool.withheld": {
      ...answer,
      because: oneOf("declared", "unknown_outcome"),
      version: optional(id),
      arguments: replaced(json, {}),
    },
    // The digest of the approved call could reveal it, and `by` names a person.
    "approval.answered": { ...answer, approved: bool, digest: optional(text), reason, by: optional(text) },
    "tool.completed": { ...answer, content: nullable(content) },
    "tool.failed": { ...answer, outcome: failedOutcome, content },
    "timer.fired": answer,
    "cancel.requested": { askId: optional(id), reason, partial, usage },
    "turn.added": { messages: list(seedDraft), metadata },
    "turn.annotated": { turn: count, name: id, value: replaced(json, redactedText), metadata },
    "answer.truncated": { turn: count, characters: count },
    "head.moved": { to: head },
    "checkpoint.named": { name: id },
    "message.pinned": { message: id, pinned: bool },
    "metadata.changed": { metadata: replaced<JsonObject>(jsonObject, {}) },
    "thread.forked": { from: object<ForkOrigin>({ threadId: id, turn: count }) },
    "thread.redacted": { seqs: list(count), reason },
    "thread.configured": { configuration, model },
  };

export const eventTypes: readonly string[] = Object.keys(members);

export const isEventType = (type: unknown): type is EventType =>
  typeof type === "string" && Object.hasOwn(members, type);

/** Any event of a running thread. */
export const event = byTag<Event, "type">(
  "type",
  // Each type has its own members, as the type of `members` says.
  Object.fromEntries(
    Object.entries(members).map(([type, fields]) => [type, object({ type: tag(type), at: number, ...fields })]),
  ) as never,
);

export const beginning: Members<Omit<ThreadStarted, "type">> = {
  at: number,
  threadId: filled,
  system: optional(systemDraft),
  seed: optional(list(seedDraft)),
  metadata,
  model,
  configuration: optional(configuration),
};

/**
 * Reads a value as an event. Returns a copy as plain data, or an error that names the invalid field. It checks each
 * field of the event's type. It does not check what the values mean, such as whether an id is known. Never throws.
 */
export const readEvent = (given: unknown): Either.Either<string, Event> =>
  read<Event>(given, "the event", problemOfEvent);

/** Reads the input of a new thread in the same way. */
export const readThreadInput = (given: unknown): Either.Either<string, ThreadInput> =>
  read<ThreadInput>(given, "what a thread begins with", (copy, whole) => {
    const problem = problemOfBeginning(copy);
    return problem === null ? null : describeValueProblem(problem, whole);
  });

const read = <Value>(
  given: unknown,
  whole: string,
  problemOf: (copy: unknown, whole: string) => string | null,
): Either.Either<string, Value> => {
  try {
    const copy = plainCopy(given, mostNestedInEvent);
    if (copy instanceof NotPlain) return Either.left(describeProblemIn(given, copy.problem, whole));
    const problem = problemOf(copy, whole);
    // Its shape was checked.
    return problem === null ? Either.right(copy as Value) : Either.left(problem);
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
  const problem = event.shape(value);
  if (problem === null) return null;
  if (!isObject(value)) return `an event is an object with a type; this is ${glimpse(value)}`;
  const { type } = value;
  if (type === "thread.started") return '"thread.started" begins a thread, once: `start` does that';
  return isEventType(type)
    ? `"${type}": ${describeValueProblem(problem, "it")}`
    : `${glimpse(type)} is no type of event; there are: ${eventTypes.join(", ")}`;
};

/** Returns what is wrong with the plain data that begins a thread, or null if nothing is. */
const problemOfBeginning = object<ThreadInput>(beginning).shape;
