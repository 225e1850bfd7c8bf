/**
 * A text as a server can keep it: UTF-8 has no place for half of a surrogate pair, and PostgreSQL none for NUL. What
 * can be kept stays as it is; the rest becomes JSON, behind a character that says so.
 */
export const toStorable = (text: string): string =>
  text.isWellFormed() && !text.includes("\0") && !text.startsWith(mark) ? text : mark + JSON.stringify(text);

/** The text that was made storable. */
export const fromStorable = (stored: string): string =>
  // Only `toStorable` writes the mark, before the JSON of a string.
  stored.startsWith(mark) ? (JSON.parse(stored.slice(mark.length)) as string) : stored;

const mark = "\u0001";
