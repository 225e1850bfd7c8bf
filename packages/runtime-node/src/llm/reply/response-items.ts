import type { LlmDelta } from "@colloquy/host";
import type { replyFromResponseItems } from "@colloquy/interchange";
import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { isList, isObject, isText, parseJson, textOf } from "../json/loose-json.ts";
import { deltasOf } from "./answer-reader.ts";
import { oneObject } from "./tool-call-pieces.ts";

/** Puts the items of a streamed output together, and shows the pieces of the reply as they come. */
export class ResponseItems {
  readonly #readReply: typeof replyFromResponseItems;
  readonly #onDelta: (delta: LlmDelta) => void;
  /** By their place in the output. */
  readonly #growing = new Map<number, GrowingItem>();
  /** The place of the item of an id or a call id. */
  readonly #places = new Map<Json | undefined, number>();
  /** The place after the last item. */
  #end = 0;
  #calls = 0;

  constructor(readReply: typeof replyFromResponseItems, onDelta: (delta: LlmDelta) => void) {
    this.#readReply = readReply;
    this.#onDelta = onDelta;
  }

  /** An item was begun (`response.output_item.added`). Its encrypted part may be incomplete. */
  begin(event: JsonObject): void {
    const { item } = event;
    if (!isObject(item)) return;
    const growth = this.#itemAt(this.#placeOf(event, item, true) ?? this.#end, item);
    if (isCall(item)) this.#showCall(growth, "");
  }

  /**
   * Takes a piece of an item (`.delta`), or the whole of which pieces may have come before (`.done`). Skips events of other types,
   * and pieces of an item that is whole.
   */
  grow(event: JsonObject, type: string): void {
    const { part } = event;
    if (type === "response.content_part.done" && isObject(part))
      return this.grow({ ...event, ...part, part: null }, `response.${textOf(part["type"])}.done`);
    const [, name = "", end] = /^response\.(\w+)\.(delta|done)$/.exec(type) ?? [];
    const piece = pieces.get(name);
    if (piece === undefined) return;
    const { item_id: id } = event;
    const place = this.#places.get(id) ?? this.#placeOf(event, { type: piece.item }) ?? Math.max(0, this.#end - 1);
    const named = isText(event["name"]) ? { name: event["name"], call_id: event["call_id"] } : {};
    const growth = this.#itemAt(place, { type: piece.item, ...named });
    if (isText(id)) this.#places.set(id, place);
    if (growth.whole) return;
    const newOf = (before: string): string => {
      if (end === "delta") return textOf(event["delta"]);
      const said = textOf(event["text"] ?? event[piece.member]);
      return said.startsWith(before) ? said.slice(before.length) : "";
    };
    if (piece.kind === "toolCall" || piece.list === undefined) {
      const text = newOf(growth.input);
      growth.input += text;
      this.#showCall(growth, text);
      return;
    }
    const list = (growth.lists[piece.list] ??= []);
    const index = indexOf(event[`${piece.list}_index`], list);
    const before = textOf(list[index]?.["text"] ?? list[index]?.["refusal"]);
    const text = newOf(before);
    if (text === "") return;
    // The texts of reasoning are lines of one.
    const isNextLine = piece.kind === "reasoning" && list[index] === undefined && growth.shown;
    list[index] = { type: piece.part, [piece.member]: before + text };
    growth.shown = true;
    this.#onDelta({ type: piece.kind, text: isNextLine ? `\n${text}` : text });
  }

  /** An item is whole (`response.output_item.done`). */
  finish(event: JsonObject): void {
    const { item } = event;
    if (isObject(item)) this.#finishAt(this.#placeOf(event, item) ?? this.#openOf(item) ?? this.#end, item);
  }

  /** Whether a call was begun, and neither was it done nor are its arguments an object. */
  isCut(): boolean {
    const begun = [...this.#growing.values()].filter(({ whole, item }) => !whole && item["type"] === "function_call");
    return begun.some((growth) => !isObject(parseJson(textOf(itemOf(growth)["arguments"]))));
  }

  /** Takes all items of an answer, or those that the end of the stream has and that had no event of their own. */
  complete(output: readonly Json[]): void {
    // Each is one, even if ids repeat.
    if (this.#growing.size === 0) return output.forEach((item, index) => this.finish({ item, output_index: index }));
    for (const [index, item] of output.entries()) {
      if (!isObject(item)) continue;
      // Some servers miscount, and some give an item another id in each event.
      const place = this.#known(item) ?? index;
      const there = this.#growing.get(place);
      const isMissing = this.#growing.size < output.length && differsIn("call_id", there, item);
      if (there?.whole !== true) this.#finishAt(place, item);
      else if (isMissing || there.item["type"] !== item["type"]) this.#finishAt(this.#end, item);
    }
  }

  /** Returns the items in the order of the output, as far as they came. */
  items(): readonly JsonObject[] {
    return [...this.#growing].sort(([left], [right]) => left - right).map(([, growth]) => itemOf(growth));
  }

  #itemAt(place: number, item: JsonObject): GrowingItem {
    const begun = this.#growing.get(place) ?? { item, whole: false, lists: {}, input: "", shown: false, call: null };
    this.#growing.set(place, begun);
    this.#end = Math.max(this.#end, place + 1);
    // An id that repeats stays that of the first.
    for (const id of [item["id"], item["call_id"]])
      if (isText(id) && !this.#places.has(id)) this.#places.set(id, place);
    return begun;
  }

  #known({ id, call_id: callId }: JsonObject): number | undefined {
    return this.#places.get(id) ?? this.#places.get(callId);
  }

  /**
   * Returns the place of an item: that of its id, unless the item there is whole and its index is free; else its index, unless
   * another item is there, since some servers leave indexes out or give 0 to all; else that of its call id.
   */
  #placeOf({ output_index: index }: JsonObject, item: JsonObject, isNew = false): number | undefined {
    const given = typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : undefined;
    const known = this.#places.get(item["id"]);
    const there = given === undefined ? undefined : this.#growing.get(given);
    const isFree = given !== undefined && there === undefined;
    if (known !== undefined && !(isFree && this.#growing.get(known)?.whole)) return known;
    if (there === undefined) return given ?? this.#places.get(item["call_id"]);
    const isOther =
      differsIn("call_id", there, item) ||
      ((there.whole || isNew) && (differsIn("id", there, item) || there.item["type"] !== item["type"]));
    if (!isOther) return given;
    return (item["id"] === undefined ? this.#places.get(item["call_id"]) : undefined) ?? this.#end;
  }

  /** Returns the place of an item without an index and an id: the first of its type that is not whole. */
  #openOf(item: JsonObject): number | undefined {
    const isOpen = (open: GrowingItem): boolean =>
      !open.whole && open.item["type"] === item["type"] && !differsIn("call_id", open, item);
    return item["id"] === undefined ? [...this.#growing].find(([, open]) => isOpen(open))?.[0] : undefined;
  }

  #finishAt(place: number, item: JsonObject): void {
    const growth = this.#itemAt(place, item);
    const whole = { ...item, ...missingIn(item, growth) };
    growth.item = item["type"] === "function_call" ? { ...whole, arguments: oneObject(whole["arguments"]) } : whole;
    if (!growth.whole) this.#showRest(growth);
    growth.whole = true;
  }

  #showRest(growth: GrowingItem): void {
    const { item, input, call } = growth;
    const whole = textOf(item["arguments"] ?? item["input"]);
    if (call !== null && whole.length > input.length && whole.startsWith(input))
      this.#showCall(growth, whole.slice(input.length));
    if (growth.shown) return;
    const reply = this.#readReply([item]);
    if (Either.isLeft(reply)) return;
    for (const delta of deltasOf(reply.right))
      this.#onDelta(delta.type === "toolCall" ? { ...delta, index: this.#calls++ } : delta);
  }

  #showCall(growth: GrowingItem, piece: string): void {
    const { call_id, name } = growth.item;
    const id = typeof call_id === "string" ? call_id : null;
    growth.call ??= this.#calls++;
    growth.shown = true;
    this.#onDelta({ type: "toolCall", index: growth.call, id, name: textOf(name), arguments: piece });
  }
}

/** Whether two items have different ids. Some servers leave them out. */
const differsIn = (member: "id" | "call_id", one: GrowingItem | undefined, other: JsonObject): boolean => {
  const [left, right] = [one?.item[member], other[member]];
  return isText(left) && isText(right) && left !== right;
};

/** Returns what came in pieces and is empty in the whole item: gateways end items without their texts and arguments. */
const missingIn = (item: JsonObject, growth: GrowingItem): JsonObject => {
  const grown = Object.entries(itemOf({ ...growth, item, whole: false }));
  return Object.fromEntries(grown.filter(([name]) => growing.includes(name) && isEmpty(item[name])));
};

const growing: readonly string[] = ["content", "summary", "arguments", "input"];

const isEmpty = (value: Json | undefined): boolean =>
  (value ?? "") === "" ||
  (isList(value) && value.every((part) => isObject(part) && textOf(part["text"] ?? part["refusal"]) === ""));

interface GrowingItem {
  item: JsonObject;
  whole: boolean;
  /** The parts of its content and its summary so far. */
  readonly lists: { [list in "content" | "summary"]?: JsonObject[] };
  /** The arguments of a call so far. */
  input: string;
  /** Something of it was shown. */
  shown: boolean;
  /** The index of its call in the reply. */
  call: number | null;
}

interface Piece {
  /** The kind of its delta. */
  readonly kind: "text" | "refusal" | "reasoning" | "toolCall";
  /** The type of its item. */
  readonly item: string;
  /** The list that has its part, and the type of the part; none for the input of a call. */
  readonly list?: "content" | "summary";
  readonly part?: string;
  /** The member of the item, or of its part, that the pieces make. */
  readonly member: string;
}

const message = { item: "message", list: "content" } as const;
const reasoning = { kind: "reasoning", item: "reasoning", member: "text" } as const;
const pieces: ReadonlyMap<string, Piece> = new Map<string, Piece>([
  ["output_text", { ...message, kind: "text", part: "output_text", member: "text" }],
  ["refusal", { ...message, kind: "refusal", part: "refusal", member: "refusal" }],
  ["reasoning_text", { ...reasoning, list: "content", part: "reasoning_text" }],
  ["reasoning_summary_text", { ...reasoning, list: "summary", part: "summary_text" }],
  ["function_call_arguments", { kind: "toolCall", item: "function_call", member: "arguments" }],
  ["custom_tool_call_input", { kind: "toolCall", item: "custom_tool_call", member: "input" }],
]);

const isCall = ({ type }: JsonObject): boolean => type === "function_call" || type === "custom_tool_call";

/** Without a possible index it is the part that came last. */
const indexOf = (given: Json | undefined, list: readonly unknown[]): number => {
  const isPlace = typeof given === "number" && Number.isInteger(given) && given >= 0 && given <= list.length;
  return isPlace ? given : Math.max(0, list.length - 1);
};

/** An item that did not end has no status, and its encrypted part is worthless. */
const itemOf = ({ item, whole, lists, input }: GrowingItem): JsonObject => {
  if (whole) return item;
  const { encrypted_content: _encrypted, status: _status, ...begun } = item;
  if (item["type"] === "custom_tool_call") return { ...begun, input: input || textOf(item["input"]) };
  return { ...begun, ...lists, ...(isCall(item) && { arguments: oneObject(input || item["arguments"]) }) };
};
