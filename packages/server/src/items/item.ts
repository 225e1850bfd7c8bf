import type { JsonObject } from "@colloquy/machine";

/** What an item of the Responses API is about; its id begins with it. */
export type ItemKind = "msg" | "rs" | "fc" | "fco" | "mcp" | `mcpr${number}`;

/** Where an item stands: which turn of which thread, which of its steps (0: what was asked), which item of its kind there. */
export interface ItemPlace {
  readonly threadId: string;
  readonly turn: number;
  readonly step: number;
  readonly index: number;
}

/** An item as the server gives it. Its members are those of the Open Responses schema. */
export interface Item extends JsonObject {
  readonly type: string;
  readonly id: string;
}

/** How far an item is. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** The id of an item. It is derived, so it is the same in the stream, in the final response and in the list of a conversation. */
export const itemId = (kind: ItemKind, { threadId, turn, step, index }: ItemPlace): string =>
  `${kind}_${turn}_${step}_${index}_${threadId}`;

/** What callers know a tool call by. Providers repeat their ids, so it is derived as well: `turn.step.position` and the thread. */
export const wireCallId = (threadId: string, callId: string): string =>
  `call_${callId.replaceAll(".", "_")}_${threadId}`;

/** Where the item of an id stands; null for an id that this server did not make. */
export const placeOfItem = (id: string): (ItemPlace & { readonly kind: string }) | null => {
  const [, kind, turn, step, index, threadId] =
    /^(msg|rs|fc|fco|mcp|mcpr\d+|call)_(\d+)_(\d+)_(\d+)_(.+)$/su.exec(id) ?? [];
  if (kind === undefined || threadId === undefined) return null;
  return { kind, threadId, turn: Number(turn), step: Number(step), index: Number(index) };
};

/** The machine's own id of the call at a place. */
export const callIdOf = ({ turn, step, index }: ItemPlace): string => `${turn}.${step}.${index}`;

/** Where the call of an id stands in its thread. */
export const placeOfCall = (threadId: string, callId: string): ItemPlace => {
  const [turn = 0, step = 0, index = 0] = callId.split(".").map(Number);
  return { threadId, turn, step, index };
};

/** A text that a model wrote, as a part of a message. */
export const outputText = (text: string): JsonObject => ({ type: "output_text", text, annotations: [], logprobs: [] });

/** What a model said. */
export const messageItem = (place: ItemPlace, content: readonly JsonObject[], status: ItemStatus): Item => ({
  type: "message",
  id: itemId("msg", place),
  status,
  role: "assistant",
  content,
});

/** What a model thought, as far as it was shown. */
export const reasoningItem = (place: ItemPlace, text: string, status: ItemStatus): Item => ({
  type: "reasoning",
  id: itemId("rs", place),
  status,
  summary: text === "" ? [] : [{ type: "summary_text", text }],
});

/** A call of a tool of the caller, who runs it. */
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

/** What a call of a tool that runs here came to. A `function_call` would have the client run it. */
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

/** Asks a person whether a call of a tool that runs here may run. A call that is asked about anew has the next `number`, so an answer to the first request is none to the second. */
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

/** Whether a value is an object of JSON. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Under which name the tools of the host stand on the wire. */
const serverLabel = "colloquy";
