import type { LlmDelta } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import { isObject, parseJson, textOf } from "../json/loose-json.ts";

/**
 * Joins the pieces of a streamed reply's tool calls. A piece belongs to the call with its id, else to the one with its
 * position in a list of several, else to the one with its `index`, else to the one that grew last. Servers may leave out
 * the index, write it as a text, or give 0 to all calls. A piece with a name begins another call if its id is new, or if
 * it cannot continue the call (`beginsAnother`).
 */
export class ToolCallPieces {
  readonly #calls: GrowingCall[] = [];
  readonly #known = new Map<string, GrowingCall>();
  #last: GrowingCall | undefined;

  /**
   * Adds one entry of a delta's `tool_calls`. Returns its call with the new part of the arguments; null if there is
   * nothing to show yet. Skips an empty entry.
   *
   * @param choice the index of the choice, since each numbers its calls from 0
   * @param entry its position, if it is in a list of several with the same index
   */
  add(wire: JsonObject, choice = 0, entry: number | null = null): CallDelta | null {
    const piece = pieceOf(wire, choice, entry);
    if (`${piece.id}${piece.name}${piece.arguments}` === "" && wire["extra_content"] === undefined) return null;
    const call = this.#callOf(piece);
    this.#last = call;
    for (const key of piece.keys) this.#known.set(key, call);
    if (!call.id && typeof wire["id"] === "string") call.id = wire["id"];
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
    const call = {
      index,
      id: null,
      name: "",
      isNamedAgain: false,
      custom: null,
      arguments: new CallArguments(),
      rest: {},
    };
    this.#calls.push(call);
    return call;
  }

  #currentOf({ id, name, keys, isIndexed, mayBegin }: Piece): GrowingCall | undefined {
    const [first] = keys;
    const known = this.#known.get(`id ${id}`) ?? (first === undefined ? this.#last : this.#known.get(first));
    if (known !== undefined) return known;
    // Without a name, an id begins a call only if it comes with an index.
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
  /** Whether the server repeats the name with later pieces. */
  isNamedAgain: boolean;
  /** The input of a custom tool, which is any text; null for other tools. */
  custom: string | null;
  readonly arguments: CallArguments;
  rest: JsonObject;
}

type Piece = ReturnType<typeof pieceOf>;

/** Some gateways leave out `function`, and write name and arguments beside the id. */
const pieceOf = (wire: JsonObject, choice: number, entry: number | null) => {
  const { function: ordinary, custom, id } = wire;
  const called = isObject(ordinary) ? ordinary : isObject(custom) ? custom : wire;
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
    /** The keys by which its call is found besides the id, the most specific first. */
    keys: [...(entry === null ? [] : [`${index ?? choice} entry ${entry}`]), ...(index === null ? [] : [index])],
    /** Whether its arguments may be the first of a call. */
    mayBegin: entry === null || given === "" || beginsObject(given),
  };
};

/** Returns the index of an entry, which may be a text; null if it has none. */
export const indexOf = ({ index }: JsonObject): number | null =>
  (typeof index === "number" || (typeof index === "string" && index !== "")) && Number.isFinite(Number(index))
    ? Number(index)
    : null;

/** Returns whether a piece begins another call, although it has the id or the position of this one. */
const beginsAnother = (call: GrowingCall, piece: Piece): boolean => {
  // A server that gives each piece a new id gives the name only once.
  if (piece.name === "" || call.name === "") return false;
  const given = call.arguments;
  const isOther = piece.name !== call.name;
  const isPlaced = piece.index !== null;
  const hasObject = beginsObject(piece.arguments);
  if (piece.id !== "" && piece.id === call.id) {
    // Some servers give one id to all calls.
    const isMoved = isPlaced && call.index !== null && piece.index !== call.index;
    if (given.isWhole()) return isOther || (isMoved && (hasObject || piece.arguments === ""));
    return isMoved && given.isEmpty() && piece.arguments === "";
  }
  const isRest = piece.arguments !== "" && !hasObject && !given.isEmpty() && !given.isWhole();
  if (isRest) return isOther && !isPlaced;
  // Servers that give each piece a new id may repeat the name with the first arguments.
  const isFirst = piece.arguments !== "" && given.isEmpty() && !given.isWhole();
  if (isFirst && !isOther && isPlaced && piece.index === call.index) return false;
  if (piece.id !== "" && call.id) return true;
  if (isOther) return !isPlaced || hasObject || given.isWhole();
  // Without an id, the name after complete arguments begins another call, unless it comes with each piece.
  if (!given.isWhole() || (piece.arguments === "" && call.isNamedAgain)) return false;
  if (!isPlaced && !call.id) return true;
  return !(isPlaced && call.id) && !given.isEmpty() && piece.arguments !== given.text();
};

/** Joins a name, which comes whole once, whole with each piece, or in pieces before any arguments. */
const joinedName = (call: GrowingCall, name: string): string =>
  name === call.name || (call.name !== "" && !call.arguments.isEmpty()) ? call.name : call.name + name;

const wireOf = ({ id, name, custom, rest, arguments: given }: GrowingCall): JsonObject =>
  custom === null
    ? { id, type: "function", function: { name, arguments: given.text() }, ...rest }
    : { id, type: "custom", custom: { name, input: custom }, ...rest };

/**
 * A text that comes in pieces. Some servers send cumulative ones, each with all of the text so far (DashScope:
 * QwenLM/qwen-code pull request 3896). Two pieces do not prove that, since one may begin like the one before by chance
 * ("a", "and"). So a second piece that begins with the first is held back. If the third begins with the second, the
 * pieces are cumulative.
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

  /** Returns the text that was held back, after the end: no third piece decides. */
  rest(): string {
    const held = this.#held;
    const shown = this.text.slice(0, this.text.length - held.length);
    this.#held = "";
    // A second piece that repeats four letters or more is hardly a coincidence.
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
 * `input: {}` of Anthropic's `content_block_start`), repeat the object at the end, or send a new one with each piece: a
 * later object replaces an earlier one, unless it is empty. Some send cumulative pieces, or encode the object twice. Any
 * other text is kept unchanged.
 */
class CallArguments {
  // Engines copy a concatenated string whole when it is first read, so `add` reads it only if it must.
  #text = "";
  /** The last piece, if it is cumulative. */
  #repeat = "";
  #shown = "";
  #isReplaced = false;
  /** The last character that is not white space. */
  #end = "";
  /** Whether there are only empty values so far, and perhaps the beginning of another. */
  #mayBeEmpty = true;
  #isQuoted = false;

  /** Adds a piece. Returns the new text that can be shown: text that may yet be replaced is held back. */
  add(piece: string): string {
    if (beginsObject(piece) && this.isEmpty()) this.#text = this.#shown = "";
    this.#isReplaced ||= beginsObject(piece) && this.isWhole();
    const before = this.#repeat || this.#text;
    this.#repeat = before !== "" && piece.startsWith(before) ? piece : "";
    const isAllShown = this.#shown.length === this.#text.length;
    this.#text += piece;
    this.#end = piece.trimEnd().at(-1) ?? this.#end;
    if (this.#mayBeEmpty) this.#classify();
    if (this.#isReplaced || this.#repeat !== "" || this.#isQuoted || this.#mayBeEmpty) return "";
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

  /** Whether there are only empty values so far. */
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

  #classify(): void {
    this.#mayBeEmpty = /^\s*((\{\s*\}|null|"")\s*)*(\{\s*|n|nu|nul|")?$/.test(this.#text);
    this.#isQuoted = /^\s*"/.test(this.#text);
  }
}

const beginsObject = (text: string): boolean => /^\s*\{/.test(text);

const isEmptyObject = (text: string): boolean => /^\s*\{\s*\}\s*$/.test(text);

/** Returns the last non-empty object of a text of adjacent objects. The last one may be incomplete. */
const lastObject = (text: string): string => {
  let whole = "";
  let from = 0;
  for (const { 0: border, index } of text.matchAll(/\}\s*(?=\{)/g)) {
    const object = text.slice(from, index + border.length);
    // This border may be inside a string.
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
