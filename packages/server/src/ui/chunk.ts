import type { Json, JsonObject, TurnStatus, Usage } from "@colloquy/machine";

/** A part's provider fields. Colloquy's own are under `colloquy`. */
export type UiProviderMetadata = Record<string, JsonObject>;

/** The metadata of a turn's message, as the AI SDK's metadata of a message. */
export interface UiMetadata {
  readonly turn: number;
  /** Whether the thread has older turns that the page did not receive or send. */
  readonly earlier?: true;
  /** The thread of the turn, if it is a fork of the thread that was asked. */
  readonly threadId?: string;
  /** How the turn ended, and its usage; absent while it is open. */
  readonly status?: Exclude<TurnStatus, "open">;
  readonly usage?: Usage;
}

/**
 * A chunk of the AI SDK's UI message stream (`UIMessageChunk` of `ai` 7.0), limited to the kinds that a thread
 * produces. The types are structural, so that `ai` need not be installed.
 */
export type UiMessageChunk =
  | { type: "start"; messageId: string; messageMetadata: UiMetadata }
  | { type: "message-metadata"; messageMetadata: UiMetadata }
  | { type: "start-step" | "finish-step" | "reset-step" }
  | { type: "text-start" | "reasoning-start"; id: string; providerMetadata?: UiProviderMetadata }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | { type: "text-end" | "reasoning-end"; id: string }
  | { type: "tool-input-start"; toolCallId: string; toolName: string }
  | { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
  | { type: "tool-input-available"; toolCallId: string; toolName: string; input: Json }
  | { type: "tool-input-error"; toolCallId: string; toolName: string; input: Json; errorText: string }
  | { type: "tool-approval-request"; approvalId: string; toolCallId: string; signature?: string }
  | { type: "tool-approval-response"; approvalId: string; approved: boolean; reason?: string }
  | { type: "tool-output-available"; toolCallId: string; output: Json }
  | { type: "tool-output-error"; toolCallId: string; errorText: string }
  | { type: "tool-output-denied"; toolCallId: string }
  | { type: "data-differs"; data: { reason: string }; transient: true }
  | { type: "error"; errorText: string }
  | { type: "abort"; reason?: string }
  | { type: "finish"; finishReason: UiFinishReason };

/** The reason why a message ended. `interrupted` stops a client from sending its tool results again by itself. */
export type UiFinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "interrupted" | "other";
