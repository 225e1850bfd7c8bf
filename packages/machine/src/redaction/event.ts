import type { MessageDraft } from "../thread/message.ts";
import type { ReportedUsage } from "../thread/usage.ts";
import { isDrafts } from "../conversation/update/ask-drafts.ts";
import type {
  ApprovalAnswered,
  AskReceived,
  CancelRequested,
  Event,
  LlmCompleted,
  LlmFailed,
  LlmProgressed,
  ToolCompleted,
  ToolFailed,
  ToolWithheld,
  TurnAdded,
  TurnAnnotated,
} from "../conversation/protocol/event.ts";
import { redactedText } from "../conversation/update/redacted.ts";
import {
  redactContent,
  redactMessage,
  redactMetadata,
  redactReply,
  redactSeed,
  redactSystem,
  redactText,
  redactUnlessName,
} from "./words.ts";

/** An event without its words; see `redactEntry`. What is left is built from what is known of the type, so that all else goes. */
export const redactEvent = (event: Event): Event => {
  switch (event.type) {
    case "ask.received":
      return redactAsk(event);
    case "message.appended":
      return { type: event.type, at: event.at, message: redactMessage(event.message) };
    case "round.appended": {
      const { type, at, reply, results, metadata } = event;
      const without = results.map(({ outcome, content }) => ({
        outcome,
        content: content === null ? null : redactContent(content),
      }));
      return { type, at, reply: redactReply(reply), results: without, ...redactMetadata(metadata) };
    }
    case "system.changed":
      return { type: event.type, at: event.at, system: event.system === null ? null : redactSystem(event.system) };
    case "llm.completed":
      return redactCompleted(event);
    case "llm.failed":
      return redactFailed(event);
    case "llm.progressed":
      return redactProgressed(event);
    case "tool.withheld":
      return redactWithheld(event);
    case "approval.answered":
      return redactApproval(event);
    case "tool.completed":
    case "tool.failed":
      return redactResult(event);
    case "cancel.requested":
      return redactCancel(event);
    case "turn.added":
      return redactAdded(event);
    case "turn.annotated":
      return redactAnnotated(event);
    case "metadata.changed":
      return { type: event.type, at: event.at, metadata: {} };
    case "thread.redacted": {
      const { type, at, seqs, reason } = event;
      return { type, at, seqs, ...(reason === undefined ? {} : { reason: redactText(reason) }) };
    }
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
  finishReason: finishReason === null ? null : redactUnlessName(finishReason),
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
      ...(code === undefined ? {} : { code: redactUnlessName(code) }),
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

const redactProgressed = ({ type, at, effectId, partial, again }: LlmProgressed): LlmProgressed => ({
  type,
  at,
  effectId,
  partial: redactReply(partial),
  ...(again === undefined ? {} : { again }),
});

const redactWithheld = ({ type, at, effectId, because, version }: ToolWithheld): ToolWithheld => ({
  type,
  at,
  effectId,
  because,
  ...(version === undefined ? {} : { version }),
  arguments: {},
});

/** The digest of what was approved could tell of it; who answered is a person. */
const redactApproval = ({ type, at, effectId, approved, reason }: ApprovalAnswered): ApprovalAnswered => ({
  type,
  at,
  effectId,
  approved,
  ...(reason === undefined ? {} : { reason: redactText(reason) }),
});

const redactResult = (event: ToolCompleted | ToolFailed): ToolCompleted | ToolFailed => {
  const { type, at, effectId, content } = event;
  return type === "tool.failed"
    ? { type, at, effectId, outcome: event.outcome, content: redactContent(event.content) }
    : { type, at, effectId, content: content === null ? null : redactContent(content) };
};

const redactCancel = ({ type, at, askId, reason, partial, usage }: CancelRequested): CancelRequested => ({
  type,
  at,
  ...(askId === undefined ? {} : { askId }),
  ...(reason === undefined ? {} : { reason: redactText(reason) }),
  ...(partial === undefined ? {} : { partial: redactReply(partial) }),
  ...redactUsage(usage),
});

const redactAdded = ({ type, at, messages, metadata }: TurnAdded): TurnAdded => ({
  type,
  at,
  messages: messages.map(redactSeed),
  ...redactMetadata(metadata),
});

const redactAnnotated = ({ type, at, turn, name, metadata }: TurnAnnotated): TurnAnnotated => ({
  type,
  at,
  turn,
  name,
  value: redactedText,
  ...redactMetadata(metadata),
});
