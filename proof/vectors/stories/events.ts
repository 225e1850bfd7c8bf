import type {
  AskReceived,
  CancelRequested,
  Event,
  Failure,
  LlmCompleted,
  LlmFailed,
  MessageDraft,
  OutputIssue,
  SeedDraft,
  SeedReply,
  ToolWithheld,
} from "@colloquy/machine";

/** An event as a script is written down: it has the time of its place in it, where it has none of its own. */
export type Untimed = Event extends infer One
  ? One extends Event
    ? Omit<One, "at"> & { readonly at?: number }
    : never
  : never;

/** Events one millisecond after the other, the first at 1. */
export const timed = (events: readonly Untimed[]): readonly Event[] => {
  let last = 0;
  return events.map((event): Event => {
    last = event.at ?? last + 1;
    return { ...event, at: last };
  });
};

export const ask = (
  askId: string,
  input: AskReceived["input"] = "Go on.",
  more: Omit<Partial<AskReceived>, "at"> = {},
): Untimed => ({ type: "ask.received", askId, input, ...more });

export const answered = (
  effectId: string,
  content: LlmCompleted["reply"]["content"] & {} = "Yes.",
  more: Omit<Partial<LlmCompleted>, "at"> = {},
): Untimed => ({ type: "llm.completed", effectId, reply: { content }, finishReason: "stop", ...more });

/** A model calls tools. */
export const calling = (effectId: string, ...names: readonly string[]): Untimed => ({
  type: "llm.completed",
  effectId,
  reply: { toolCalls: callsOf(names) },
  finishReason: "tool_calls",
});

export const failed = (
  effectId: string,
  failure: Partial<Failure> = {},
  more: Omit<Partial<LlmFailed>, "at"> = {},
): Untimed => ({
  type: "llm.failed",
  effectId,
  failure: { kind: "overloaded", message: "too busy", retryable: true, ...failure },
  ...more,
});

export const progressed = (effectId: string, partial: LlmCompleted["reply"]): Untimed => ({
  type: "llm.progressed",
  effectId,
  partial,
});

export const started = (effectId: string): Untimed => ({ type: "tool.started", effectId });

export const found = (effectId: string): Untimed => ({ type: "tool.completed", effectId, content: "Found." });

export const withheld = (effectId: string, because: ToolWithheld["because"] = "declared"): Untimed => ({
  type: "tool.withheld",
  effectId,
  because,
  arguments: {},
});

export const approved = (effectId: string, by?: string): Untimed => ({
  type: "approval.answered",
  effectId,
  approved: true,
  ...(by === undefined ? {} : { by }),
});

export const accepted = (effectId: string): Untimed => ({ type: "output.accepted", effectId, value: {} });

export const refused = (effectId: string, ...issues: readonly OutputIssue[]): Untimed => ({
  type: "output.refused",
  effectId,
  issues,
});

export const fired = (effectId: string): Untimed => ({ type: "timer.fired", effectId });

export const cancelled = (askId?: string, more: Omit<Partial<CancelRequested>, "at"> = {}): Untimed => ({
  type: "cancel.requested",
  ...(askId === undefined ? {} : { askId }),
  ...more,
});

export const appended = (content: MessageDraft["content"], role: MessageDraft["role"] = "user"): Untimed => ({
  type: "message.appended",
  message: { role, content },
});

/** A round of one call that was had elsewhere. */
export const round = (name: string): Untimed => ({
  type: "round.appended",
  reply: { content: "Look.", toolCalls: callsOf([name]) },
  results: [{ outcome: "completed", content: "Found." }],
});

export const added = (...messages: readonly SeedDraft[]): Untimed => ({ type: "turn.added", messages });

export const movedTo = (to: number): Untimed => ({ type: "head.moved", to });

export const pinned = (message: string, is = true): Untimed => ({ type: "message.pinned", message, pinned: is });

/** A message of somebody. */
export const user = (content: MessageDraft["content"]): MessageDraft => ({ role: "user", content });

/** Returns the messages of a model in an earlier conversation, with calls and a result for each. */
export const roundBefore = (content: string, ...names: readonly string[]): readonly SeedDraft[] => [
  { role: "assistant", content, toolCalls: callsOf(names) },
  ...names.map((_, position): SeedDraft => ({ role: "tool", toolCallId: `call_${position}`, content: "Found." })),
];

const callsOf = (names: readonly string[]): NonNullable<SeedReply["toolCalls"]> =>
  names.map((name, position) => ({ id: `call_${position}`, name, arguments: "{}" }));
