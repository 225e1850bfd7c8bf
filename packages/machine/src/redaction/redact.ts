import type { Decided, Entry, FirstEntry, LaterEntry, SynthesisedResult } from "../conversation/protocol/entry.ts";
import { isLater } from "../conversation/protocol/entry.ts";
import type { AppendedResult, AskReceived, CallerTool, Event, ThreadStarted } from "../conversation/protocol/event.ts";
import { isDrafts } from "../conversation/update/ask-drafts.ts";
import { redactedText } from "../conversation/update/redacted.ts";
import type { ExpectedOutput, OutputIssue } from "../thread/output.ts";
import type { Failure } from "../thread/turn.ts";
import type { ReportedUsage } from "../thread/usage.ts";
import {
  each,
  empty,
  keep,
  orNull,
  redactContent,
  redactedBy,
  redactMessage,
  redactReply,
  redactSeed,
  redactSystem,
  redactText,
  redactUnlessName,
  type Rules,
} from "./words.ts";

/**
 * Removes the content of an entry, and keeps its place, type and structure. "[redacted]" replaces texts, and `{}`
 * replaces arguments. Metadata, names of people (also of those who approved), provider fields and anything else that
 * could reveal the content are removed. Identifiers stay, so that later entries fold as before: ids, roles, tools and
 * their versions, fields, annotations, checkpoints, models. So do single-word finish reasons and failure codes, times
 * and usage. Put nothing private into identifiers. Redacting an entry twice has no further effect.
 */
export const redactEntry = (entry: Entry): Entry => (isLater(entry) ? redactLater(entry) : redactFirst(entry));

const redactFirst = ({ seq, format, event }: FirstEntry): FirstEntry => ({
  seq,
  format,
  event: redactStarted(event),
  redacted: true,
});

const redactLater = ({ seq, event, decided, recovered }: LaterEntry): LaterEntry => ({
  seq,
  event: redactEvent(event),
  ...(decided === undefined ? {} : { decided: redactDecided(decided) }),
  ...(recovered === undefined ? {} : { recovered }),
  redacted: true,
});

/** Redacts decisions. All of them stay, since folding applies them; only their texts are replaced. */
const redactDecided = (decided: Decided): Decided => ({
  ...decided,
  ...(decided.results === undefined ? {} : { results: decided.results.map(redactResult) }),
  ...(decided.summaryFailed === undefined ? {} : { summaryFailed: redactText(decided.summaryFailed) }),
  ...(decided.policyFailed === undefined ? {} : { policyFailed: redactText(decided.policyFailed) }),
});

const redactResult = ({ position, outcome, content }: SynthesisedResult): SynthesisedResult => ({
  position,
  outcome,
  // The number of parts is kept.
  content: content.map(() => ({ type: "text", text: redactedText })),
});

const redactEvent = (event: Event): Event => {
  const rules = rulesOf[event.type];
  return rules === null ? event : redactedBy<Event>({ type: keep, at: keep, ...rules })(event);
};

/** Keeps model parameters and the configuration: they are not content, and the next call needs them. */
const redactStarted = redactedBy<ThreadStarted>({
  type: keep,
  at: keep,
  threadId: keep,
  system: redactSystem,
  seed: each(redactSeed),
  metadata: empty,
  model: keep,
  configuration: keep,
});

const redactInput = (input: AskReceived["input"]): AskReceived["input"] =>
  isDrafts(input) ? input.map(redactMessage) : redactContent(input);

const redactFailure = redactedBy<Failure>({
  kind: keep,
  message: redactText,
  retryable: keep,
  retryAfterMs: keep,
  status: keep,
  code: redactUnlessName,
});

/** Keeps the figures. The provider's own report may contain anything. */
const redactUsage = redactedBy<ReportedUsage>({
  inputTokens: keep,
  outputTokens: keep,
  totalTokens: keep,
  cacheReadTokens: keep,
  cacheWriteTokens: keep,
  reasoningTokens: keep,
  provider: null,
});

const content = orNull(redactContent);
const answer = { effectId: keep };
/** The digest of the prompt, and the provider's id of a stored response, could reveal the content. */
const call = { usage: redactUsage, promptDigest: null, model: keep };

/** The rules of each event. Null: the event has no content, and is kept unchanged. */
const rulesOf: {
  readonly [Type in Event["type"]]: Rules<Omit<Extract<Event, { readonly type: Type }>, "type" | "at">> | null;
} = {
  "ask.received": {
    askId: keep,
    input: redactInput,
    name: null,
    metadata: empty,
    model: null,
    limits: keep,
    tools: each(redactedBy<CallerTool>({ name: keep, description: null, parameters: null })),
    overlap: keep,
    joins: keep,
    from: keep,
    // Decisions that depend on a requested output fold as before.
    output: redactedBy<ExpectedOutput>({ name: keep, schema: empty, mode: keep, repairs: keep }),
    partial: redactReply,
  },
  "message.appended": { message: redactMessage },
  "round.appended": {
    reply: redactReply,
    results: each(redactedBy<AppendedResult>({ outcome: keep, content })),
    metadata: empty,
  },
  "system.changed": { system: orNull(redactSystem) },
  "system.reset": null,
  "llm.completed": {
    ...answer,
    reply: redactReply,
    finishReason: orNull(redactUnlessName),
    ...call,
    responseId: null,
  },
  "llm.failed": { ...answer, failure: redactFailure, partial: redactReply, ...call },
  "llm.progressed": { ...answer, partial: redactReply, again: keep },
  "output.accepted": { ...answer, value: () => redactedText },
  // The path of an issue may contain content.
  "output.refused": {
    ...answer,
    issues: each(redactedBy<OutputIssue>({ message: redactText, path: null })),
    checkFailed: keep,
  },
  "tool.started": null,
  "tool.withheld": { ...answer, because: keep, version: keep, arguments: empty },
  // The digest of the approved call could reveal it, and `by` names a person.
  "approval.answered": { ...answer, approved: keep, digest: null, reason: redactText, by: null },
  "tool.completed": { ...answer, content },
  "tool.failed": { ...answer, outcome: keep, content: redactContent },
  "timer.fired": null,
  "cancel.requested": { askId: keep, reason: redactText, partial: redactReply, usage: redactUsage },
  "turn.added": { messages: each(redactSeed), metadata: empty },
  "turn.annotated": { turn: keep, name: keep, value: () => redactedText, metadata: empty },
  "answer.truncated": null,
  "head.moved": null,
  "checkpoint.named": null,
  "message.pinned": null,
  "metadata.changed": { metadata: empty },
  "thread.forked": null,
  "thread.redacted": { seqs: keep, reason: redactText },
  "thread.configured": null,
};
