import type { Message, Part, ToolResultPart } from "../thread/message.ts";
import { withParts } from "../thread/draft.ts";
import type { UnitPosition } from "./position.ts";
import type { Unit } from "./unit.ts";

/**
 * A rule by which messages are made shorter. Calls, their arguments and reasoning are never touched, nor what is
 * pinned; what is short enough stays as it is, and shrinking twice is shrinking once.
 *
 * - `clear`: a mark stands for the whole content.
 * - `headAndTail`: the beginning and the end stay, with a mark between them.
 * - `reference`: the beginning stays, with a mark that says how a tool can read the whole.
 *
 * A result that is shortened becomes one text, in which a word stands for each image. One that is short enough keeps
 * its images, but for a `clear`, which counts an image as long.
 *
 * The wording of the marks is part of journal format 1, since digests are made of it.
 */
export interface Shrink {
  readonly rule: "clear" | "headAndTail" | "reference";
  /** `toolResults`, or `messages`: those too, and every text and data field that was given. */
  readonly of: "toolResults" | "messages";
  /** What is longer is shrunk, to at most this, the mark included. Unit: UTF-16 units. At least `shortestShrink`. */
  readonly characters: number;
  /** Only units before this one; a `clear` always has it, and never covers the newest round of the open turn, which the model has not seen. */
  readonly before?: UnitPosition;
  /** The tool that reads a whole result back, given the id of the call that the mark names; of a `reference`. */
  readonly tool?: string;
}

/** The shortest that a rule may shrink to, in UTF-16 units: every mark fits into it. */
export const shortestShrink = 200;

/** The message as the rules leave it, one after the other: the same one where they change nothing. */
export const shrinkMessage = (message: Message, rules: readonly Shrink[]): Message =>
  rules.reduce((shrunk, rule) => shrinkBy(shrunk, rule), message);

/** A tool result as one text: what rules measure and cut, and what a tool that reads it back should give. */
export const textOfResult = ({ content }: Pick<ToolResultPart, "content">): string => content.map(inText).join("\n");

/** Whether a rule applies to units at a position. */
export const appliesAt = ({ before }: Shrink, { turn, unit }: UnitPosition): boolean =>
  before === undefined || turn < before.turn || (turn === before.turn && unit < before.unit);

/**
 * Where a `clear` ends that is to reach to a position. The model has not seen the results of the open turn's newest
 * round: clearing them would make it ask again.
 *
 * @param turn the number of the open turn.
 * @param open its units, asked for when the position is in it or behind it.
 */
export const clearedUntil = (before: UnitPosition, turn: number, open: () => readonly Unit[]): UnitPosition => {
  if (before.turn < turn) return before;
  const newest = open().findLast(({ kind }) => kind === "round")?.position ?? 0;
  return before.turn > turn || before.unit > newest ? { turn, unit: newest } : before;
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

/** An image takes much room, and hardly any text. */
const holdsImageToClear = (part: ToolResultPart, { rule }: Shrink): boolean =>
  rule === "clear" && part.content.some(({ type }) => type === "image");

/** At most as long as the rule says, and the same text where it is that short already. */
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

/** Ids and names of tools can be of any length; a mark that grows with them could be shrunk again. */
const fitting = (mark: string, short: string): string => (mark.length < shortestShrink ? mark : short);

/** Not as `contentText` says it: a tool that reads a result back should give its values as JSON. */
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

/** Never half of a surrogate pair: it would be no text. */
const headOf = (text: string, length: number): string => {
  const cut = text.slice(0, length);
  return isHigh(cut.charCodeAt(cut.length - 1)) && isLow(text.charCodeAt(length)) ? cut.slice(0, -1) : cut;
};

const tailOf = (text: string, length: number): string => {
  const from = text.length - length;
  return text.slice(isLow(text.charCodeAt(from)) && isHigh(text.charCodeAt(from - 1)) ? from + 1 : from);
};

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
