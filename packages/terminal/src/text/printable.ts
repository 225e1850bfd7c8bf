/**
 * Text from outside (a model, a tool, a server, a journal) such that nothing in it steers a terminal or hides what it
 * says: control and format characters but tab and newline are shown, as `␛` or as `<U+202E>`. Joiners stay, since
 * scripts and emoji need them; a carriage return before a newline belongs to it.
 */
export const printable = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(unprintable, pictureOf);

/** The same in one line as it stands: a newline is shown, and a tab is spaces. */
export const printableInLine = (text: string): string =>
  plainAscii.test(text)
    ? text
    : text
        .replaceAll("\t", tab)
        .replaceAll(/[\r\n]/g, pictureOf)
        .replaceAll(unprintable, pictureOf);

/** Text from outside on one line, its white space made single spaces. */
export const oneLine = (text: string): string => printable(text.replaceAll(/\s+/g, " ")).trim();

/** A text as a part of one line, with its end left out where it is long. */
export const shortened = (text: string): string => {
  const line = oneLine(text);
  return line.length <= lengthMax ? line : `${beginning(line, lengthMax - 1)}…`;
};

/** As many UTF-16 units of a text, and none of a character that would be cut in two. */
const beginning = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");

const lengthMax = 100;

/** An id or another name, such that no two look the same: as it is, or as a JSON string where not all of it would show. */
export const named = (name: string): string =>
  name === "" || name.startsWith('"') || unseen.test(name) ? visible(name) : name;

/** JSON in which what would not show, or would steer a terminal, is escaped: it parses to the same value. */
export const printableJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? "null").replaceAll(unprintable, escaped);

/** The same of what a person approves: whatever draws nothing, or looks like a space and is none, is escaped too. */
export const approvableJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? "null").replaceAll(hidden, (character) =>
    character === "\n" ? character : escaped(character),
  );

/** The same of a text that is not JSON: what is escaped in it, and nothing else, reads as `\u` and four digits. */
export const approvable = (text: string): string => text.replaceAll(hiddenInText, escaped);

// Of the ignorable characters the joiners, and what chooses the look of the character before, mean something in a text.
const unprintable =
  /(?![\t\n])\p{Cc}|(?![\u200C\u200D])(?=\p{Cf})\p{Default_Ignorable_Code_Point}|[\uFFF9-\uFFFB\p{Cs}\p{Zl}\p{Zp}]/gu;

// Whether a terminal draws what is of private use, or of a later Unicode, nobody knows.
const hiddenSet = String.raw`[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Z}`;
const hidden = new RegExp(hiddenSet, "gu");
const hiddenInText = new RegExp(String.raw`(?!\t)(?:${hiddenSet})|\\(?=u[\da-fA-F]{4})`, "gu");

const plainAscii = /^[ -~]*$/;
const tab = "    ";

/** Unicode has pictures of the control characters of ASCII alone. */
const pictureOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? "␡" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
};

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^\s|\s$|\s\s/u;

const visible = (name: string): string =>
  JSON.stringify(name).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, escaped);

/** By UTF-16 units, as JSON wants it. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => String.raw`\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
