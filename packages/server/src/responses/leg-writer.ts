import type { JsonObject } from "@colloquy/machine";
import {
  approvalRequestItem,
  functionCallItem,
  type Item,
  type ItemPlace,
  mcpCallItem,
  messageItem,
  outputText,
  reasoningItem,
} from "../items/item.ts";
import type { Piece } from "../items/pieces.ts";

/** An event of a response's stream, without its number. */
export type LegEvent = JsonObject & { readonly type: string };

interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

/** Writes the output of one leg: its items, and their events in the order of the Responses API. */
export class LegWriter {
  /** The valid items in order, each with its step. */
  readonly #items: { readonly step: number; readonly item: Item }[] = [];
  readonly #emit: (event: LegEvent) => void;
  #index = 0;
  #open: OpenPiece | null = null;
  /** Calls of the caller's tools that the model is still writing, by call id. */
  readonly #calls = new Map<string, OpenCall>();

  constructor(emit: (event: LegEvent) => void) {
    this.#emit = emit;
  }

  get items(): readonly Item[] {
    return this.#items.map(({ item }) => item);
  }

  /** Adds text that a model wrote. Consecutive text of one kind belongs to one item. */
  write(kind: Piece["kind"], text: string, place: () => ItemPlace): void {
    if (this.#open !== null && this.#open.kind !== kind) this.closePiece("completed");
    this.#open ??= this.#begin(kind, place());
    this.#open.text += text;
    const { texts, more } = forms[kind];
    this.#emit({ type: `${texts}.delta`, ...this.#open.where, delta: text, ...more });
  }

  closePiece(status: "completed" | "incomplete"): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    const { kind, text, where, place } = open;
    const { texts, parts, member, more, part } = forms[kind];
    this.#emit({ type: `${texts}.done`, ...where, [member]: text, ...more });
    this.#emit({ type: `${parts}.done`, ...where, part: part(text) });
    this.#done(open.index, pieceItem(kind, place, text, status), place.step);
  }

  /** Adds arguments that a model wrote for a call of a caller's tool. */
  writeCall(place: ItemPlace, call: ToolCall): void {
    this.closePiece("completed");
    const begun = this.#calls.get(call.callId) ?? this.#beginCall(place, call);
    begun.written += call.arguments;
    this.#emitArguments(begun, call.arguments);
  }

  /** Ends a call that the caller has to run. */
  closeCall(place: ItemPlace, call: ToolCall): void {
    this.closePiece("completed");
    const begun = this.#calls.get(call.callId) ?? this.#beginCall(place, call);
    this.#calls.delete(call.callId);
    const { index, item } = begun;
    if (call.arguments.startsWith(begun.written))
      this.#emitArguments(begun, call.arguments.slice(begun.written.length));
    const where = { item_id: item.id, output_index: index };
    this.#emit({ type: "response.function_call_arguments.done", ...where, name: call.name, arguments: call.arguments });
    this.#done(index, functionCallItem(place, call, "completed"), place.step);
  }

  /** Adds a call of a host's tool with its result. */
  addResult(place: ItemPlace, call: ToolCall, result: { readonly text: string; readonly failed: boolean }): void {
    this.closePiece("completed");
    const begun = mcpCallItem(place, call, null);
    const index = this.#added({ ...begun, arguments: "" });
    const where = { item_id: begun.id, output_index: index };
    this.#emit({ type: "response.mcp_call.in_progress", ...where });
    this.#emit({ type: "response.mcp_call_arguments.delta", ...where, delta: call.arguments });
    this.#emit({ type: "response.mcp_call_arguments.done", ...where, arguments: call.arguments });
    this.#emit({ type: result.failed ? "response.mcp_call.failed" : "response.mcp_call.completed", ...where });
    this.#done(index, mcpCallItem(place, call, result), place.step);
  }

  /** Adds a call that waits for a person's approval. */
  addApproval(
    place: ItemPlace,
    call: { readonly name: string; readonly arguments: string; readonly number: number },
  ): void {
    this.closePiece("completed");
    const item = approvalRequestItem(place, call);
    this.#done(this.#added(item), item, place.step);
  }

  /** Voids the items from a step on. The wire cannot retract one: a text ends as incomplete, and is no final output. */
  voidFrom(step: number): void {
    this.closePiece("incomplete");
    this.#calls.clear();
    const standing = this.#items.filter((each) => each.step < step);
    this.#items.splice(0, this.#items.length, ...standing);
  }

  #begin(kind: Piece["kind"], place: ItemPlace): OpenPiece {
    const { parts, part, place: inItem } = forms[kind];
    const item = { ...pieceItem(kind, place, "", "in_progress"), ...(kind === "reasoning" ? {} : { content: [] }) };
    const index = this.#added(item);
    const where = { item_id: item.id, output_index: index, ...inItem };
    this.#emit({ type: `${parts}.added`, ...where, part: part("") });
    return { kind, index, where, place, text: "" };
  }

  #beginCall(place: ItemPlace, call: ToolCall): OpenCall {
    const item = functionCallItem(place, { ...call, arguments: "" }, "in_progress");
    const begun: OpenCall = { index: this.#added(item), item, place, written: "" };
    this.#calls.set(call.callId, begun);
    return begun;
  }

  #emitArguments({ index, item }: OpenCall, delta: string): void {
    if (delta === "") return;
    const where = { item_id: item.id, output_index: index };
    this.#emit({ type: "response.function_call_arguments.delta", ...where, delta });
  }

  #added(item: Item): number {
    const index = this.#index++;
    this.#emit({ type: "response.output_item.added", output_index: index, item });
    return index;
  }

  #done(index: number, item: Item, step: number): void {
    this.#items.push({ step, item });
    this.#emitDone(index, item);
  }

  #emitDone(index: number, item: Item): void {
    this.#emit({ type: "response.output_item.done", output_index: index, item });
  }
}

interface OpenPiece {
  readonly kind: Piece["kind"];
  readonly index: number;
  /** The members by which its events name it. */
  readonly where: JsonObject;
  readonly place: ItemPlace;
  text: string;
}

interface OpenCall {
  readonly index: number;
  readonly item: Item;
  readonly place: ItemPlace;
  written: string;
}

const contentPart = { parts: "response.content_part", place: { content_index: 0 } };

/** The kinds of pieces: the names of their events, what has their text, and further members. */
const forms = {
  text: { ...contentPart, texts: "response.output_text", member: "text", part: outputText, more: { logprobs: [] } },
  refusal: {
    ...contentPart,
    texts: "response.refusal",
    member: "refusal",
    part: (refusal: string): JsonObject => ({ type: "refusal", refusal }),
    more: {},
  },
  reasoning: {
    parts: "response.reasoning_summary_part",
    place: { summary_index: 0 },
    texts: "response.reasoning_summary_text",
    member: "text",
    part: (text: string): JsonObject => ({ type: "summary_text", text }),
    more: {},
  },
};

const pieceItem = (
  kind: Piece["kind"],
  place: ItemPlace,
  text: string,
  status: "in_progress" | "completed" | "incomplete",
): Item =>
  kind === "reasoning" ? reasoningItem(place, text, status) : messageItem(place, [forms[kind].part(text)], status);
