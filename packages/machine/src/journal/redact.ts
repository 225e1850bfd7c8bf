import type { MessageDraft } from "../thread/message.ts";
import type { ReportedUsage } from "../thread/usage.ts";
import type { Decided, SynthesisedResult } from "../conversation/decided.ts";
import type { Entry, FirstEntry, LaterEntry } from "../conversation/entry.ts";
import type { AskReceived, Event, LlmCompleted, LlmFailed, ThreadStarted } from "../conversation/event.ts";
import { isDrafts } from "../conversation/ask-drafts.ts";
import { redactedText } from "../conversation/redacted.ts";
import {
  redactContent,
  redactMessage,
  redactMetadata,
  redactReply,
  redactSeed,
  redactSystem,
  redactText,
} from "./redact-words.ts";

/**
 * The entry without its words, at the same place, of the same type and structure: "[redacted]" stands for texts, `{}` for
 * arguments, and metadata, people's names, provider fields and what else could tell of the words are gone. Ids, roles,
 * names of tools and fields, times and usage stay, so what follows folds as before. Doing it again changes nothing.
 */
export const redactEntry = (entry: Entry): Entry => (isFirst(entry) ? redactFirst(entry) : redactLater(entry));

const isFirst = (entry: Entry): entry is FirstEntry => entry.event.type === "thread.started";

const redactFirst = ({ seq, format, event }: FirstEntry): FirstEntry => ({
  seq,
  format,
  event: redactStarted(event),
  redacted: true,
});

/** Model parameters and the configuration are nothing that was said, and what is asked next needs them. */
const redactStarted = ({
  type,
  at,
  threadId,
  system,
  seed,
  metadata,
  model,
  configuration,
}: ThreadStarted): ThreadStarted => ({
  type,
  at,
  threadId,
  ...(system === undefined ? {} : { system: redactSystem(system) }),
  ...(seed === undefined ? {} : { seed: seed.map(redactSeed) }),
  ...redactMetadata(metadata),
  ...(model === undefined ? {} : { model }),
  ...(configuration === undefined ? {} : { configuration }),
});

const redactLater = ({ seq, event, decided, recovered }: LaterEntry): LaterEntry => ({
  seq,
  event: redactEvent(event),
  ...(decided === undefined ? {} : { decided: redactDecided(decided) }),
  ...(recovered === undefined ? {} : { recovered }),
  redacted: true,
});

const redactEvent = (event: Event): Event => {
  const { at } = event;
  switch (event.type) {
    case "ask.received":
      return redactAsk(event);
    case "message.appended":
      return { type: event.type, at, message: redactMessage(event.message) };
    case "system.changed":
      return { type: event.type, at, system: event.system === null ? null : redactSystem(event.system) };
    case "llm.completed":
      return redactCompleted(event);
    case "llm.failed":
      return redactFailed(event);
    case "llm.progressed":
      return {
        type: event.type,
        at,
        effectId: event.effectId,
        partial: redactReply(event.partial),
        ...(event.again === undefined ? {} : { again: event.again }),
      };
    case "tool.withheld":
      return {
        type: event.type,
        at,
        effectId: event.effectId,
        because: event.because,
        ...(event.version === undefined ? {} : { version: event.version }),
        arguments: {},
      };
    case "approval.answered":
      return {
        type: event.type,
        at,
        effectId: event.effectId,
        approved: event.approved,
        ...(event.reason === undefined ? {} : { reason: redactText(event.reason) }),
        ...(event.by === undefined ? {} : { by: event.by }),
      };
    case "tool.completed":
      return {
        type: event.type,
        at,
        effectId: event.effectId,
        content: event.content === null ? null : redactContent(event.content),
      };
    case "tool.failed":
      return {
        type: event.type,
        at,
        effectId: event.effectId,
        outcome: event.outcome,
        content: redactContent(event.content),
      };
    case "cancel.requested":
      return {
        type: event.type,
        at,
        ...(event.askId === undefined ? {} : { askId: event.askId }),
        ...(event.reason === undefined ? {} : { reason: redactText(event.reason) }),
        ...(event.partial === undefined ? {} : { partial: redactReply(event.partial) }),
        ...redactUsage(event.usage),
      };
    case "turn.added":
      return { type: event.type, at, messages: event.messages.map(redactSeed), ...redactMetadata(event.metadata) };
    case "turn.annotated":
      return {
        type: event.type,
        at,
        turn: event.turn,
        name: event.name,
        value: redactedText,
        ...redactMetadata(event.metadata),
      };
    case "metadata.changed":
      return { type: event.type, at, metadata: {} };
    case "thread.redacted":
      return {
        type: event.type,
        at,
        seqs: event.seqs,
        ...(event.reason === undefined ? {} : { reason: redactText(event.reason) }),
      };
    case "system.reset":
    case "tool.started":
    case "timer.fired":
    case "answer.truncated":
    case "head.moved":
    case "checkpoint.named":
    case "message.pinned":
    case "thread.forked":
    case "thread.configured":
      return event;
  }
};

const redactAsk = (event: AskReceived): AskReceived => {
  const { type, at, askId, input, limits, overlap, joins, partial } = event;
  return {
    type,
    at,
    askId,
    input: isDrafts(input) ? input.map((draft): MessageDraft => redactMessage(draft)) : redactContent(input),
    ...redactMetadata(event.metadata),
    ...(limits === undefined ? {} : { limits }),
    ...(overlap === undefined ? {} : { overlap }),
    ...(joins === undefined ? {} : { joins }),
    ...(partial === undefined ? {} : { partial: redactReply(partial) }),
  };
};

/** The digest of the prompt, and the id under which a provider may keep the response, could tell of the words. */
const redactCompleted = ({ type, at, effectId, reply, finishReason, usage, model }: LlmCompleted): LlmCompleted => ({
  type,
  at,
  effectId,
  reply: redactReply(reply),
  finishReason,
  ...redactUsage(usage),
  ...(model === undefined ? {} : { model }),
});

const redactFailed = ({ type, at, effectId, failure, partial, usage, model }: LlmFailed): LlmFailed => {
  const { kind, message, retryable, retryAfterMs, status, code } = failure;
  return {
    type,
    at,
    effectId,
    failure: {
      kind,
      message: redactText(message),
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(status === undefined ? {} : { status }),
      ...(code === undefined ? {} : { code }),
    },
    ...(partial === undefined ? {} : { partial: redactReply(partial) }),
    ...redactUsage(usage),
    ...(model === undefined ? {} : { model }),
  };
};

/** Figures stay; the provider's own report may say anything. */
const redactUsage = (usage: ReportedUsage | undefined): { readonly usage?: ReportedUsage } => {
  if (usage === undefined) return {};
  const { inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    usage: {
      ...(inputTokens === undefined ? {} : { inputTokens }),
      ...(outputTokens === undefined ? {} : { outputTokens }),
      ...(totalTokens === undefined ? {} : { totalTokens }),
      ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
      ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
      ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    },
  };
};

/** Decisions are what folding applies: all stay, without the words of those that have some. */
const redactDecided = (decided: Decided): Decided => ({
  ...decided,
  ...(decided.results === undefined ? {} : { results: decided.results.map(redactResult) }),
  ...(decided.summaryFailed === undefined ? {} : { summaryFailed: redactText(decided.summaryFailed) }),
  ...(decided.policyFailed === undefined ? {} : { policyFailed: redactText(decided.policyFailed) }),
});

const redactResult = ({ position, outcome, content }: SynthesisedResult): SynthesisedResult => ({
  position,
  outcome,
  // A list of parts stays one.
  content: content.map(() => ({ type: "text", text: redactedText })),
});
