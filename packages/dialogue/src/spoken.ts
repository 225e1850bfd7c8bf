import { ConfigurationError } from "@colloquy/machine";
import { clausesOf } from "./clauses.ts";

/** How far a text was spoken. */
export interface SpokenTo {
  /** The clause that was being spoken, counted from 0 as `clausesOf` gives them. One behind the last is the last. */
  readonly clause: number;
  /** The last character of that clause that was spoken, counted from 0 as a reader counts; -1: none of it. One behind the last is the last. */
  readonly character: number;
}

/**
 * What was spoken of a text: the clauses before the one that was cut, and of that one the characters up to and with the
 * given one. A character is what a reader takes for one (a grapheme of Unicode's UAX 29), never half of it.
 *
 * @throws ConfigurationError for a place that is none.
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

/** How many characters a text has, as a reader counts. */
export const charactersOf = (text: string): number => [...graphemesOf(text)].length;

/** How many UTF-16 units the first so many characters take. */
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
