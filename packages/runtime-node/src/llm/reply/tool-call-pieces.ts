import type { LlmDelta } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import { isObject, parseJson, textOf } from "../json/loose-json.ts";

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
    const { index } = piece;
    const begun = {
      index,
      id: null,
      name: "",
      isNamedAgain: false,
      custom: null,
      arguments: new CallArguments(),
      rest: {},
    };
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

interface GrowingCall {
  /** The index with which it began. */
  readonly index: string | null;
  id: string | null;
  name: string;
  /** The server repeats the name with further pieces. */
  isNamedAgain: boolean;
  /** The input of a custom tool, which is any text; null for other tools. */
  custom: string | null;
  readonly arguments: CallArguments;
  rest: JsonObject;
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

const wireOf = ({ id, name, custom, rest, arguments: given }: GrowingCall): JsonObject =>
  custom === null
    ? { id, type: "function", function: { name, arguments: given.text() }, ...rest }
    : { id, type: "custom", custom: { name, input: custom }, ...rest };

/**
 * A text that comes in pieces. Some servers send cumulative ones (DashScope: QwenLM/qwen-code pull request 3896): each has all of
 * the text so far. The second piece can't show that alone, since a piece may begin like the one before ("a", "and"). So if it
 * begins with the first, it is held back. If the third begins with the second too, the pieces are cumulative.
 */
export class GrowingText {
  text = "";
  /** The number of pieces that are not empty. */
  pieces = 0;
  /** The second piece, while it may be cumulative. */
  #held = "";
  #isCumulative = false;

  /** Adds a piece. Returns the new text that can be shown. */
  add(piece: string): string {
    if (piece === "") return "";
    this.pieces += 1;
    const held = this.#held;
    const shown = this.text.slice(0, this.text.length - held.length);
    this.#held = "";
    this.#isCumulative ||= held !== "" && continues(held, piece);
    if (this.#isCumulative && piece.startsWith(shown)) {
      this.text = piece;
      return piece.slice(shown.length);
    }
    if (this.pieces === 2 && continues(shown, piece)) this.#held = piece;
    this.text += piece;
    return this.#held === "" ? held + piece : "";
  }

  /** Returns the text that was held back: no third piece decides. */
  rest(): string {
    const held = this.#held;
    const shown = this.text.slice(0, this.text.length - held.length);
    this.#held = "";
    // A second piece that repeats a word of four letters or more hardly does so by chance.
    this.#isCumulative ||= held !== "" && /\p{L}{4}/u.test(shown);
    if (held === "" || !this.#isCumulative) return held;
    this.text = held;
    return held.slice(shown.length);
  }
}

const continues = (text: string, piece: string): boolean => piece.length > text.length && piece.startsWith(text);

const argumentsOf = (value: JsonObject[string]): string => {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
};

/** Returns the arguments of a call that came in one piece. */
export const oneObject = (value: JsonObject[string]): string => {
  const given = new CallArguments();
  given.add(argumentsOf(value));
  return given.text();
};

/**
 * The growing arguments of one tool call: one JSON object. Gateways send `{}`, `null` or `""` before the real object (the
 * `input: {}` of Anthropic's `content_block_start`), repeat the object at the end, or send a new one with each piece: a later
 * object replaces an earlier one, unless it is empty. Some repeat with each piece all that came before, or encode the object
 * twice. Any other text stays as it came.
 */
class CallArguments {
  // A text that pieces were added to is copied whole when it is looked at, so each piece looks at as little as it can.
  #text = "";
  /** The last piece, if it repeats all that came before. */
  #repeat = "";
  #shown = "";
  #isReplaced = false;
  /** The last character that is not white space. */
  #end = "";
  /** Nothing came but empty values, and perhaps the beginning of another. */
  #mayBeEmpty = true;
  #isQuoted = false;

  /** Takes the next piece. Returns the new text that can be shown: text that may yet be replaced is held back. */
  add(piece: string): string {
    if (beginsObject(piece) && this.isEmpty()) this.#clear();
    this.#isReplaced ||= beginsObject(piece) && this.isWhole();
    const before = this.#repeat || this.#text;
    this.#repeat = before !== "" && piece.startsWith(before) ? piece : "";
    const isAllShown = this.#shown.length === this.#text.length;
    this.#text += piece;
    this.#end = piece.trimEnd().at(-1) ?? this.#end;
    if (this.#mayBeEmpty) this.#look();
    if (this.#isReplaced || this.#repeat !== "" || this.#isQuoted || this.isEmpty() || this.#isBrace()) return "";
    const rest = isAllShown ? piece : this.#text.slice(this.#shown.length);
    this.#shown = this.#text;
    return rest;
  }

  /** Returns the text that was held back. */
  rest(): string {
    const text = this.text();
    const rest = text.startsWith(this.#shown) ? text.slice(this.#shown.length) : "";
    this.#shown += rest;
    return rest;
  }

  /** Whether nothing came but empty values. */
  isEmpty(): boolean {
    return this.#mayBeEmpty && /^\s*((\{\s*\}|null|"")\s*)*$/.test(this.#text);
  }

  isWhole(): boolean {
    return this.#end === "}" && parseJson(lastObject(this.#text)) !== undefined;
  }

  text(): string {
    const text = lastObject(this.#text);
    const value = parseJson(text);
    if (typeof value === "string" && isObject(parseJson(value))) return value;
    return value === undefined && parseJson(this.#repeat) !== undefined ? this.#repeat : text;
  }

  #clear(): void {
    this.#text = this.#shown = this.#end = "";
    this.#mayBeEmpty = true;
    this.#isQuoted = false;
  }

  #look(): void {
    this.#mayBeEmpty = /^\s*((\{\s*\}|null|"")\s*)*(\{\s*|n|nu|nul|")?$/.test(this.#text);
    this.#isQuoted = /^\s*"/.test(this.#text);
  }

  /** Whether there is nothing but the beginning of an object. */
  #isBrace(): boolean {
    return this.#mayBeEmpty && /^\s*\{\s*$/.test(this.#text);
  }
}

const beginsObject = (text: string): boolean => /^\s*\{/.test(text);

const isEmptyObject = (text: string): boolean => /^\s*\{\s*\}\s*$/.test(text);

/** Returns the last object of a row that is not empty. */
const lastObject = (text: string): string => {
  let whole = "";
  let from = 0;
  for (const { 0: border, index } of text.matchAll(/\}\s*(?=\{)/g)) {
    const object = text.slice(from, index + border.length);
    // The same characters may be part of a string.
    if (parseJson(object) === undefined) continue;
    if (whole === "" || !isEmptyObject(object)) whole = object.trim();
    from += object.length;
  }
  const last = text.slice(from);
  if (whole === "") return text;
  if (isEmptyObject(last)) return whole;
  if (isEmptyObject(whole) || parseJson(last) !== undefined) return last;
  return whole.startsWith(last) ? whole : text;
};
