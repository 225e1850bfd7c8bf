/**
 * Converts a text for a server: UTF-8 cannot hold half of a surrogate pair, and PostgreSQL cannot hold NUL. Other texts
 * stay unchanged. Such a text becomes JSON after a mark.
 */
export const toStorable = (text: string): string =>
  text.isWellFormed() && !text.includes("\0") && !text.startsWith(mark) ? text : mark + JSON.stringify(text);

/** Restores the original text. */
export const fromStorable = (stored: string): string =>
  // Only `toStorable` writes the mark, before the JSON of a string.
  stored.startsWith(mark) ? (JSON.parse(stored.slice(mark.length)) as string) : stored;

const mark = "\u0001";
