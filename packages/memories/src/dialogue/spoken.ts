import { ConfigurationError } from "@colloquy/machine";

/**
 * Splits a text into its clauses, in order; joined they give the text. A clause ends after a run of `. , ; : ! ? …`
 * (also of Arabic and Indian marks) with its closing quotes and brackets, if a blank or the end of the text follows.
 * It also ends after Chinese and Japanese marks. So `3.14`, `10:30` and `1,000` are not split, and `Wait...` is one
 * clause. The blank after a clause begins the next one. A period after an abbreviation does not end a clause: after a
 * single letter (`e.g.`, `U.S.`, `J. Smith`), or a title such as `Dr.`. No clause ends within a grapheme.
 */
export const clausesOf = (text: string): readonly string[] => {
  const clauses: string[] = [];
  let from = 0;
  for (const { index, 0: marks } of text.matchAll(ends)) {
    const end = index + marks.length;
    if (end < text.length && marks === "." && isAbbreviated(text, index)) continue;
    clauses.push(text.slice(from, end));
    from = end;
  }
  if (from < text.length) clauses.push(text.slice(from));
  return clauses;
};

const marks = ".,;:!?…؟،؛।॥";
const wideMarks = "。、！？；：，．｡､…";
const closing = `"'”’»›)\\]}」』）】》`;

/**
 * Matches each run of marks once, from its beginning, so that the time is proportional to the text. A wide mark
 * followed by a combining one forms one character with it, and does not end a clause.
 */
const ends = new RegExp(
  `(?<![${marks}])[${marks}]+[${closing}]*(?=\\s|$)|(?<![${wideMarks}])[${wideMarks}]+[${closing}]*(?![${wideMarks}\\p{M}\\u200c\\u200d])`,
  "gu",
);

const isAbbreviated = (text: string, period: number): boolean => {
  const word = /\p{L}+$/u.exec(text.slice(Math.max(0, period - longestTitle - 1), period))?.[0] ?? "";
  return /^\p{L}$/u.test(word) || titles.has(word);
};

const titles: ReadonlySet<string> = new Set(["Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr", "vs", "approx"]);

const longestTitle = 6;

/** The place up to which a text was spoken. */
export interface SpokenTo {
  /** The last clause, numbered from 0 as by `clausesOf`. A number beyond the last clause means the last one. */
  readonly clause: number;
  /**
   * The last spoken character (grapheme) of that clause, from 0; -1: none of it. A number beyond the last character
   * means the last one.
   */
  readonly character: number;
}

/**
 * Returns the spoken part of a text: the clauses before the interrupted one, and the characters of that one up to the
 * given one, inclusive. A character is a grapheme of Unicode's UAX 29, so none is cut in half.
 *
 * @throws ConfigurationError for an invalid place.
 */
export const spokenOf = (text: string, place: SpokenTo): string => {
  checkPlace(place);
  const kept = clausesOf(text).slice(0, place.clause + 1);
  const cut = kept.pop() ?? "";
  return kept.join("") + cut.slice(0, unitsOf(cut, place.character + 1));
};

/** @throws ConfigurationError */
export const checkPlace = ({ clause, character }: SpokenTo): void => {
  for (const [name, value, least] of [
    ["clause", clause, 0],
    ["character", character, -1],
  ] as const)
    if (!(Number.isSafeInteger(value) && value >= least))
      throw new ConfigurationError(`${name} is ${value}; it must be a whole number of ${least} or more`);
};

/** Returns the number of graphemes of a text. */
export const charactersOf = (text: string): number => [...graphemesOf(text)].length;

/** Returns the UTF-16 units of the first `characters` graphemes. */
const unitsOf = (text: string, characters: number): number => {
  let seen = 0;
  for (const { index } of graphemesOf(text)) {
    if (seen === characters) return index;
    seen += 1;
  }
  return text.length;
};

const graphemesOf = (text: string): Intl.Segments =>
  new Intl.Segmenter("und", { granularity: "grapheme" }).segment(text);
