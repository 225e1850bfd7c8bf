import type { TraceItem } from "@colloquy/runtime-test";
import type { Event, Failure, MachineOptions, ReplyDraft, ThreadInput, ToolCallDraft } from "../../src/index.ts";

/** A conversation to play and to keep as text, with its machine. */
export interface Story {
  readonly name: string;
  readonly options?: MachineOptions;
  readonly input?: ThreadInput;
  readonly told: readonly TraceItem[];
}

export const ask = (
  at: number,
  askId: string,
  input: string,
  more: Partial<Extract<Event, { type: "ask.received" }>> = {},
): Event => ({
  type: "ask.received",
  at,
  askId,
  input,
  ...more,
});
export const reply = (at: number, effectId: string, content: string): Event => ({
  type: "llm.completed",
  at,
  effectId,
  reply: { content },
  finishReason: "stop",
});
export const calls = (at: number, effectId: string, toolCalls: readonly ToolCallDraft[], content?: string): Event => ({
  type: "llm.completed",
  at,
  effectId,
  reply: { ...(content === undefined ? {} : { content }), toolCalls },
  finishReason: "tool_calls",
});
export const call = (name: string, argument: string, id: string | null = "call_0"): ToolCallDraft => ({
  id,
  name,
  arguments: argument,
});
export const result = (at: number, effectId: string, content: string): Event => ({
  type: "tool.completed",
  at,
  effectId,
  content,
});
export const fired = (at: number, effectId: string): Event => ({ type: "timer.fired", at, effectId });
export const failed = (at: number, effectId: string, failure: Partial<Failure>, partial?: ReplyDraft): Event => ({
  type: "llm.failed",
  at,
  effectId,
  failure: { kind: "overloaded", message: "too busy", retryable: true, ...failure },
  ...(partial === undefined ? {} : { partial }),
});
