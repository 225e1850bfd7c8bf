/**
 * Text from outside (a model, a tool, a server, a journal) without the characters that control a terminal or
 * hide what it says: control characters but tab and newline, and format characters, such as those that turn the
 * direction of writing. Joiners stay, since scripts and emoji need them.
 */
export const printable = (text: string): string => text.replaceAll(unprintable, "");

/** The same, on one line. */
export const oneLine = (text: string): string => printable(text.replaceAll(/\s+/g, " ")).trim();

/** A text as a part of one line, with its end left out where it is long. */
export const shortened = (text: string): string => {
  const line = oneLine(text);
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1)}…`;
};

const lengthMax = 100;

/** An id or another name, such that no two look the same: as it is, or as a JSON string where not all of it would show. */
export const named = (name: string): string =>
  name === "" || name.startsWith('"') || unseen.test(name) ? visible(name) : name;

/** JSON in which what would not show, or would steer a terminal, is escaped: it parses to the same value. */
export const printableJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? "null")
    .replaceAll(unprintable, escaped)
    .replaceAll(/[\u2028\u2029]/g, escaped);

// Of the ignorable characters the joiners, and what chooses the look of the character before, mean something in a text.
const unprintable = /(?![\t\n])\p{Cc}|(?![\u200C\u200D])(?=\p{Cf})\p{Default_Ignorable_Code_Point}|[\uFFF9-\uFFFB]/gu;

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^\s|\s$|\s\s/u;

const visible = (name: string): string =>
  JSON.stringify(name).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, escaped);

/** By UTF-16 units, as JSON wants it. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => String.raw`\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
