import stringWidth from "string-width";

/** How many cells of a terminal a text takes. Control characters take none: show them by others first. */
export const widthOf = (text: string): number => (narrow.test(text) ? text.length : stringWidth(text));

/** What a person takes for characters: an emoji with all its parts is one, a letter with its accents too. */
export const graphemesOf = (text: string): readonly string[] =>
  narrow.test(text) ? text.split("") : Array.from(graphemes.segment(text), ({ segment }) => segment);

/** Most text: it needs no tables. */
const narrow = /^[ -~]*$/;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
