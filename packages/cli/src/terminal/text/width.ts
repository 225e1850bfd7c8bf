import stringWidth from "string-width";

/** Returns the number of terminal cells of a text. Control characters take none; replace them by visible ones first. */
export const widthOf = (text: string): number => (narrow.test(text) ? text.length : stringWidth(text));

/** Splits a text into graphemes: an emoji with all its parts is one, and so is a letter with its accents. */
export const graphemesOf = (text: string): readonly string[] =>
  narrow.test(text) ? text.split("") : Array.from(graphemes.segment(text), ({ segment }) => segment);

/** Most text: it needs no width tables. */
const narrow = /^[ -~]*$/;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
