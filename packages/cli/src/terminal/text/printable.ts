import { closestMatch } from "leven";

/**
 * Makes text from outside (a model, a tool, a server, a journal) safe to print, so that it cannot control a terminal or
 * hide its content. Control and format characters except tab and newline become visible, as `␛` or as `<U+202E>`.
 * Joiners stay, since scripts and emoji need them; so does a carriage return before a newline, as part of the line end.
 */
export const printable = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(unprintable, pictureOf);

/** Makes a text safe in one line: a newline becomes visible, and a tab becomes spaces. */
export const printableInLine = (text: string): string =>
  plainAscii.test(text)
    ? text
    : text
        .replaceAll("\t", tab)
        .replaceAll(/[\r\n]/g, pictureOf)
        .replaceAll(unprintable, pictureOf);

/** Returns text from outside on one line, with single spaces for its white space. */
export const oneLine = (text: string): string => printable(text.replaceAll(/\s+/g, " ")).trim();

/** Returns a text as a part of one line, without the end of a long one. */
export const shortened = (text: string): string => {
  const line = oneLine(text);
  return line.length <= lengthMax ? line : `${beginning(line, lengthMax - 1)}…`;
};

/** Returns the first UTF-16 units of a text, without half of a surrogate pair. */
const beginning = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");

const lengthMax = 100;

/**
 * Returns an id or another name so that different names look different: unchanged, or as a JSON string if a part would
 * be invisible.
 */
export const named = (name: string): string =>
  name === "" || name.startsWith('"') || unseen.test(name) ? visible(name) : name;

/** Returns ` (did you mean /undo?)` if one of the names is close to what was typed; otherwise an empty text. */
export const didYouMean = (typed: string, names: readonly string[]): string => {
  // Two letters may be exchanged; of a short word too little would be left.
  const maxDistance = Math.min(2, Math.floor(typed.replace(/^[/-]+/, "").length / 2));
  const close = maxDistance === 0 ? undefined : closestMatch(typed, names, { maxDistance });
  return close === undefined ? "" : ` (did you mean ${close}?)`;
};

/** Writes JSON with invisible and control characters escaped; it parses to the same value. */
export const printableJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? "null").replaceAll(unprintable, escaped);

/**
 * Writes JSON for approval: also escapes characters that draw nothing, or look like a space but are another character.
 */
export const approvableJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? "null").replaceAll(hidden, (character) =>
    character === "\n" ? character : escaped(character),
  );

/** Escapes a text that is not JSON for approval; only the escaped characters read as `\u` and four digits. */
export const approvable = (text: string): string => text.replaceAll(hiddenInText, escaped);

// Joiners and variation selectors are ignorable, but have a meaning in a text.
const unprintable =
  /(?![\t\n])\p{Cc}|(?![\u200C\u200D])(?=\p{Cf})\p{Default_Ignorable_Code_Point}|[\uFFF9-\uFFFB\p{Cs}\p{Zl}\p{Zp}]/gu;

// Terminals may or may not draw characters of private use, or of a later Unicode version.
const hiddenSet = String.raw`[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Z}`;
const hidden = new RegExp(hiddenSet, "gu");
const hiddenInText = new RegExp(String.raw`(?!\t)(?:${hiddenSet})|\\(?=u[\da-fA-F]{4})`, "gu");

const plainAscii = /^[ -~]*$/;
const tab = "    ";

/** Returns a visible form; Unicode has pictures only for the ASCII control characters. */
const pictureOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? "␡" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
};

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^\s|\s$|\s\s/u;

const visible = (name: string): string =>
  JSON.stringify(name).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, escaped);

/** Escapes by UTF-16 units, as JSON requires. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => String.raw`\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
