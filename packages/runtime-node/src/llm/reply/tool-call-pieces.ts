import type { LlmDelta } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import { isObject, textOf } from "../json/loose-json.ts";
import { argumentsOf, beginsObject, CallArguments } from "./growing-text.ts";

/**
 * Puts the tool calls of a streamed reply together. The call of a piece is decided by a known id, then by the place in a list of
 * several, then by the `index`, which servers may leave out, write as a text, or give as 0 to all calls; else it is the call that
 * grew last. A piece with a name begins another call if its id is new, or if it cannot be the rest (`beginsAnother`).
 */
export class ToolCallPieces {
  readonly #calls: GrowingCall[] = [];
  readonly #known = new Map<string, GrowingCall>();
  #last: GrowingCall | undefined;

  /**
   * Takes one entry of a delta's `tool_calls`. Returns its call with the new part of the arguments; null if there is nothing to
   * show yet. Skips an empty entry.
   *
   * @param choice each numbers its calls from 0
   * @param entry its place in a list of several that have the same index
   */
  add(wire: JsonObject, choice = 0, entry: number | null = null): CallDelta | null {
    const piece = pieceOf(wire, choice, entry);
    if (`${piece.id}${piece.name}${piece.arguments}` === "" && wire["extra_content"] === undefined) return null;
    const call = this.#callOf(piece);
    this.#last = call;
    for (const key of piece.keys) this.#known.set(key, call);
    if (!call.id) call.id = typeof wire["id"] === "string" ? wire["id"] : call.id;
    if (call.id === piece.id && piece.id !== "") this.#known.set(`id ${piece.id}`, call);
    call.isNamedAgain ||= piece.name !== "" && piece.name === call.name && piece.arguments !== "";
    call.name = joinedName(call, piece.name);
    if (piece.isCustom) call.custom = (call.custom ?? "") + piece.arguments;
    const added = piece.isCustom ? piece.arguments : call.arguments.add(piece.arguments);
    if (wire["extra_content"] !== undefined) call.rest = { extra_content: wire["extra_content"] };
    const isHeld = added === "" && piece.arguments !== "" && piece.name === "" && typeof wire["id"] !== "string";
    return isHeld ? null : this.#deltaOf(call, added);
  }

  /** Returns the arguments that were held back, after the end of the reply. */
  rest(): readonly CallDelta[] {
    return this.#calls
      .map((call) => this.#deltaOf(call, call.arguments.rest()))
      .filter((each) => each.arguments !== "");
  }

  /** Returns the calls so far in the form of a message, in the order in which they began. */
  calls(): readonly JsonObject[] {
    return this.#calls.map(wireOf);
  }

  #callOf(piece: Piece): GrowingCall {
    const current = this.#currentOf(piece);
    if (current !== undefined && !beginsAnother(current, piece)) return current;
    const begun = new GrowingCall(piece.index);
    this.#calls.push(begun);
    return begun;
  }

  #currentOf({ id, name, keys, isIndexed, mayBegin }: Piece): GrowingCall | undefined {
    const [first] = keys;
    const there = this.#known.get(`id ${id}`) ?? (first === undefined ? this.#last : this.#known.get(first));
    if (there !== undefined) return there;
    // Without a name, an id begins a call only with an index of its own.
    if (mayBegin && (name !== "" || (id !== "" && isIndexed))) return undefined;
    return keys.map((key) => this.#known.get(key)).find((call) => call !== undefined) ?? this.#last;
  }

  #deltaOf(call: GrowingCall, added: string): CallDelta {
    const { id, name } = call;
    return { type: "toolCall", index: this.#calls.indexOf(call), id, name, arguments: added };
  }
}

type CallDelta = Extract<LlmDelta, { type: "toolCall" }>;

class GrowingCall {
  /** The index with which it began. */
  readonly index: string | null;
  id: string | null = null;
  name = "";
  /** The server repeats the name with further pieces. */
  isNamedAgain = false;
  /** The input of a custom tool, which is any text. */
  custom: string | null = null;
  readonly arguments = new CallArguments();
  rest: JsonObject = {};

  constructor(index: string | null) {
    this.index = index;
  }
}

type Piece = ReturnType<typeof pieceOf>;

/** Some gateways leave out `function`, and write name and arguments beside the id. */
const pieceOf = (wire: JsonObject, choice: number, entry: number | null) => {
  const { function: wanted, custom, id } = wire;
  const called = isObject(wanted) ? wanted : isObject(custom) ? custom : wire;
  const given = argumentsOf(called["arguments"] ?? called["input"] ?? called["parameters"]);
  const number = indexOf(wire);
  const index = number === null ? null : `${choice} ${number}`;
  return {
    id: textOf(id),
    name: textOf(called["name"]),
    arguments: given,
    isCustom: called === custom,
    index,
    isIndexed: entry === null && index !== null,
    /** The keys of its call beside the id, the strongest first. */
    keys: [...(entry === null ? [] : [`${index ?? choice} entry ${entry}`]), ...(index === null ? [] : [index])],
    /** It is not the rest of an object. */
    mayBegin: entry === null || given === "" || beginsObject(given),
  };
};

/** Returns the index of an entry, which may be a text; null for none. */
export const indexOf = ({ index }: JsonObject): number | null =>
  (typeof index === "number" || (typeof index === "string" && index !== "")) && Number.isFinite(Number(index))
    ? Number(index)
    : null;

/** Whether a piece begins another call, although it has the id or the place of one. */
const beginsAnother = (call: GrowingCall, piece: Piece): boolean => {
  // A server that gives each piece a new id gives the name only once.
  if (piece.name === "" || call.name === "") return false;
  const begun = call.arguments;
  const isOther = piece.name !== call.name;
  const isPlaced = piece.index !== null;
  const hasObject = beginsObject(piece.arguments);
  if (piece.id !== "" && piece.id === call.id) {
    // Some servers give one id to all calls.
    const isMoved = isPlaced && call.index !== null && piece.index !== call.index;
    if (begun.isWhole()) return isOther || (isMoved && (hasObject || piece.arguments === ""));
    return isMoved && begun.isEmpty() && piece.arguments === "";
  }
  const isRest = piece.arguments !== "" && !hasObject && !begun.isEmpty() && !begun.isWhole();
  if (isRest) return isOther && !isPlaced;
  // Servers that give each piece a new id may repeat the name with the first arguments.
  const isFirst = piece.arguments !== "" && begun.isEmpty() && !begun.isWhole();
  if (isFirst && !isOther && isPlaced && piece.index === call.index) return false;
  if (piece.id !== "" && call.id) return true;
  if (isOther) return !isPlaced || hasObject || begun.isWhole();
  // Without an id, the name after complete arguments begins another call, unless it comes with each piece.
  if (!begun.isWhole() || (piece.arguments === "" && call.isNamedAgain)) return false;
  if (!isPlaced && !call.id) return true;
  return !(isPlaced && call.id) && !begun.isEmpty() && piece.arguments !== begun.text();
};

/** A name comes whole, whole with each piece, or in pieces before any arguments. */
const joinedName = (call: GrowingCall, name: string): string =>
  name === call.name || (call.name !== "" && !call.arguments.isEmpty()) ? call.name : call.name + name;

const wireOf = (call: GrowingCall): JsonObject =>
  call.custom === null
    ? { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments.text() }, ...call.rest }
    : { id: call.id, type: "custom", custom: { name: call.name, input: call.custom }, ...call.rest };
