import type { Message, Part, ToolResultPart } from "../thread/message.ts";
import { withParts } from "../thread/make-message.ts";
import type { Unit, UnitPosition } from "./unit.ts";

/**
 * A rule that shortens messages. It never touches calls, their arguments, reasoning or pinned messages. Short content
 * stays unchanged, and shrinking twice gives the same as shrinking once.
 *
 * - `clear`: a mark replaces the whole content.
 * - `headAndTail`: the beginning and the end stay, with a mark between them.
 * - `reference`: the beginning stays, with a mark that says how a tool can read the whole.
 *
 * A shortened result becomes one text, in which a word replaces each image. A result that is short enough keeps its
 * images, except with `clear`, which counts an image as long.
 *
 * The wording of the marks is part of the journal format, since digests depend on it.
 */
export interface Shrink {
  readonly rule: "clear" | "headAndTail" | "reference";
  /** `toolResults`, or `messages`: tool results and every given text and data field. */
  readonly of: "toolResults" | "messages";
  /**
   * Longer content is shrunk to at most this size, including the mark. Unit: UTF-16 units. At least `shortestShrink`.
   */
  readonly characters: number;
  /**
   * Applies only to units before this one. A `clear` always has it, and never covers the newest round of the open
   * turn, which the model has not seen.
   */
  readonly before?: UnitPosition;
  /** The tool that reads a whole result, given the call id in the mark; only for a `reference`. */
  readonly tool?: string;
}

/** The smallest size for a rule, in UTF-16 units: every mark fits into it. */
export const shortestShrink = 200;

/** Applies rules to a message in order. Returns the same object if they change nothing. */
export const shrinkMessage = (message: Message, rules: readonly Shrink[]): Message =>
  rules.reduce((shrunk, rule) => shrinkBy(shrunk, rule), message);

/**
 * Returns a tool result as one text. Rules measure and cut this text, and a tool that reads the result should return
 * it.
 */
export const textOfResult = ({ content }: Pick<ToolResultPart, "content">): string => content.map(inText).join("\n");

/** Returns whether a rule applies to units at a position. */
export const appliesAt = ({ before }: Shrink, { turn, unit }: UnitPosition): boolean =>
  before === undefined || turn < before.turn || (turn === before.turn && unit < before.unit);

/**
 * Returns where a `clear` ends that should reach a position. The model has not seen the results of the open turn's
 * newest round, so clearing them would make it ask again.
 *
 * @param turn the number of the open turn.
 * @param open its units, read if the position is in it or after it.
 */
export const clearedUntil = (before: UnitPosition, turn: number, open: () => readonly Unit[]): UnitPosition => {
  if (before.turn < turn) return before;
  const newest = open().findLast(({ kind }) => kind === "round")?.position ?? 0;
  return { turn, unit: before.turn > turn ? newest : Math.min(before.unit, newest) };
};

const shrinkBy = (message: Message, rule: Shrink): Message => {
  let changed = false;
  const parts = message.parts.map((part): Part => {
    const shrunk = shrinkPart(part, message.id, rule);
    changed ||= shrunk !== part;
    return shrunk;
  });
  return changed ? withParts(message, parts) : message;
};

const shrinkPart = (part: Part, id: string, rule: Shrink): Part => {
  if (part.type === "toolResult") return shrinkResult(part, rule);
  if (rule.of !== "messages") return part;
  if (part.type === "text") {
    const text = shrinkText(part.text, rule, `message ${id}`);
    return text === part.text ? part : { ...part, text };
  }
  if (part.type !== "data") return part;
  const whole = typeof part.value === "string" ? part.value : JSON.stringify(part.value);
  const value = shrinkText(whole, rule, `message ${id}`);
  return value === whole ? part : { ...part, value };
};

const shrinkResult = (part: ToolResultPart, rule: Shrink): Part => {
  const name = `the result of call ${part.callId}`;
  const whole = textOfResult(part);
  const text = holdsImageToClear(part, rule) ? clearMark(whole, name) : shrinkText(whole, rule, name, rule.tool);
  return text === whole ? part : { ...part, content: [{ type: "text", text }] };
};

/** Returns whether a result holds an image to clear. An image takes much room, and hardly any text. */
const holdsImageToClear = (part: ToolResultPart, { rule }: Shrink): boolean =>
  rule === "clear" && part.content.some(({ type }) => type === "image");

/** Returns a text of at most the rule's length; the same text if it is short enough. */
const shrinkText = (text: string, { rule, characters }: Shrink, name: string, tool?: string): string => {
  if (text.length <= characters) return text;
  switch (rule) {
    case "clear":
      return clearMark(text, name);
    case "headAndTail": {
      const mark = fitting(`\n[… the middle of ${name}, ${text.length} characters, is left out …]\n`, "\n[…]\n");
      const room = characters - mark.length;
      const head = Math.ceil(room / 2);
      return `${headOf(text, head)}${mark}${tailOf(text, room - head)}`;
    }
    case "reference": {
      const how = tool === undefined ? "" : ` Read it with ${tool}.`;
      const mark = fitting(`\n[… the rest of ${name}, ${text.length} characters, is left out.${how} …]`, "\n[…]");
      return `${headOf(text, characters - mark.length)}${mark}`;
    }
  }
};

const clearMark = (text: string, name: string): string =>
  fitting(`[Left out to save room: ${name}, ${text.length} characters.]`, "[Left out to save room.]");

/** Ids can have any length, and a mark that grows with them could be shrunk again. */
const fitting = (mark: string, short: string): string => (mark.length < shortestShrink ? mark : short);

/** Differs from `contentText`: a tool that reads a result should return its values as JSON. */
const inText = (part: ToolResultPart["content"][number]): string => {
  switch (part.type) {
    case "text":
      return part.text;
    case "data":
      return `${part.field}: ${JSON.stringify(part.value)}`;
    case "image":
      return "[image]";
    case "opaque":
      return JSON.stringify(part.value);
  }
};

/** Never cuts a surrogate pair in half, which would make the text invalid. Messages have no half ones. */
const headOf = (text: string, length: number): string =>
  text.slice(0, isHigh(text.charCodeAt(length - 1)) ? length - 1 : length);

const tailOf = (text: string, length: number): string => {
  const from = text.length - length;
  return text.slice(isLow(text.charCodeAt(from)) ? from + 1 : from);
};

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
