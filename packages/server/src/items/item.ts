import type { JsonObject } from "@colloquy/machine";

/** The kind of an item of the Responses API; an id starts with it. */
export type ItemKind = "msg" | "rs" | "fc" | "fco" | "mcp" | `mcpr${number}`;

/** The place of an item: thread, turn, step (0: the input), and index among its kind. */
export interface ItemPlace {
  readonly threadId: string;
  readonly turn: number;
  readonly step: number;
  readonly index: number;
}

/** An item as the server returns it, with the members of the Open Responses schema. */
export interface Item extends JsonObject {
  readonly type: string;
  readonly id: string;
}

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** Derives the id of an item. It is the same in the stream, in the final response and in the list of a conversation. */
export const itemId = (kind: ItemKind, { threadId, turn, step, index }: ItemPlace): string =>
  `${kind}_${turn}_${step}_${index}_${threadId}`;

/** Derives the call id that callers see: `turn.step.position` and the thread. Providers reuse their own ids. */
export const wireCallId = (threadId: string, callId: string): string =>
  `call_${callId.replaceAll(".", "_")}_${threadId}`;

export interface NamedItem extends ItemPlace {
  readonly id: string;
  readonly kind: string;
}

/** Parses an item id; returns null for an id that this server did not make. */
export const placeOfItem = (id: string): NamedItem | null => {
  const [, kind, turn, step, index, threadId] =
    /^(msg|rs|fc|fco|mcp|mcpr\d+|call)_(\d+)_(\d+)_(\d+)_(.+)$/su.exec(id) ?? [];
  if (kind === undefined || threadId === undefined) return null;
  return { id, kind, threadId, turn: Number(turn), step: Number(step), index: Number(index) };
};

/** Returns the machine's own id of the call at a place. */
export const callIdOf = ({ turn, step, index }: ItemPlace): string => `${turn}.${step}.${index}`;

export const placeOfCall = (threadId: string, callId: string): ItemPlace => {
  const [turn = 0, step = 0, index = 0] = callId.split(".").map(Number);
  return { threadId, turn, step, index };
};

export const outputText = (text: string): JsonObject => ({ type: "output_text", text, annotations: [], logprobs: [] });

export const messageItem = (place: ItemPlace, content: readonly JsonObject[], status: ItemStatus): Item => ({
  type: "message",
  id: itemId("msg", place),
  status,
  role: "assistant",
  content,
});

export const reasoningItem = (place: ItemPlace, text: string, status: ItemStatus): Item => ({
  type: "reasoning",
  id: itemId("rs", place),
  status,
  summary: text === "" ? [] : [{ type: "summary_text", text }],
});

/** Makes the item of a call that the caller runs. */
export const functionCallItem = (
  place: ItemPlace,
  call: { readonly callId: string; readonly name: string; readonly arguments: string },
  status: ItemStatus,
): Item => ({
  type: "function_call",
  id: itemId("fc", place),
  call_id: wireCallId(place.threadId, call.callId),
  name: call.name,
  arguments: call.arguments,
  status,
});

/** Makes the item of a call that the host runs. As a `function_call`, the client would run it. */
export const mcpCallItem = (
  place: ItemPlace,
  call: { readonly name: string; readonly arguments: string },
  result: { readonly text: string; readonly failed: boolean } | null,
): Item => ({
  type: "mcp_call",
  id: itemId("mcp", place),
  server_label: serverLabel,
  name: call.name,
  arguments: call.arguments,
  approval_request_id: null,
  output: result === null || result.failed ? null : result.text,
  error: result?.failed === true ? result.text : null,
  status: result === null ? "in_progress" : result.failed ? "failed" : "completed",
});

/** Makes the item that asks for an approval. A later request for the call has the next `number`. */
export const approvalRequestItem = (
  place: ItemPlace,
  call: { readonly name: string; readonly arguments: string; readonly number: number },
): Item => ({
  type: "mcp_approval_request",
  id: itemId(`mcpr${call.number}`, place),
  server_label: serverLabel,
  name: call.name,
  arguments: call.arguments,
});

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const serverLabel = "colloquy";
