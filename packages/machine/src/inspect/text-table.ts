/** A column of a table. With `align: "right"` all cells end in the same column. */
export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
}

/**
 * Formats rows under their titles as lines for a fixed-width font, with two spaces between columns. It does not wrap
 * long lines; the terminal does.
 */
export const textTable = (columns: readonly Column[], rows: readonly (readonly string[])[]): string => {
  const titles = columns.map(({ title }) => title);
  const lines = [titles, ...rows];
  const sized = columns.map((column, index) => ({
    ...column,
    width: Math.max(...lines.map((row) => widthOf(row[index] ?? ""))),
  }));
  return lines.map((row) => lineOf(sized, row)).join("\n");
};

/** Returns the beginning of a text on one line, in at most `columns` columns, without control characters. */
export const firstWords = (text: string, columns: number): string => {
  // A long text is cut first, so that only its beginning is searched.
  const beginning = text.slice(0, columns * 8);
  const line = beginning.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\s]+/gu, " ").trim();
  if (widthOf(line) <= columns && beginning === text) return line;
  let shown = "";
  let width = 0;
  for (const character of line) {
    width += widthOf(character);
    if (width > columns - 1) break;
    shown += character;
  }
  return `${shown.trimEnd()}…`;
};

const lineOf = (columns: readonly (Column & { readonly width: number })[], row: readonly string[]): string =>
  columns
    .map(({ align, width }, index) => {
      const cell = row[index] ?? "";
      const padding = " ".repeat(width - widthOf(cell));
      return align === "right" ? padding + cell : cell + padding;
    })
    .join("  ")
    .trimEnd();

/** Returns the width in terminal columns, for scripts that every terminal shows wide. */
const widthOf = (text: string): number => {
  if (isPlain.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += isWide.test(character) ? 2 : isMark.test(character) ? 0 : 1;
  return width;
};

const isWide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303F\uFF01-\uFF60]/u;
const isPlain = /^[\u0020-\u007E]*$/u;
const isMark = /\p{M}/u;
