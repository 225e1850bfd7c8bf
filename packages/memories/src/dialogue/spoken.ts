import { ConfigurationError } from "@colloquy/machine";
import { clausesOf } from "./clauses.ts";

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
