import { at } from "../thread/chunks.ts";
import { textOf } from "../thread/message.ts";
import type { Turn } from "../thread/turn.ts";

/**
 * How many UTF-16 units the first so many characters of a turn's answer take, a character being what a reader
 * takes for one (a grapheme of Unicode's UAX 29). Decided once and journalled: another version of Unicode may
 * cut otherwise.
 */
export const charactersOf = (turn: Turn, answer: number, characters: number): number => {
  const message = at(turn.messages, answer);
  if (message === undefined) return 0;
  let units = 0;
  let seen = 0;
  for (const { segment } of new Intl.Segmenter("und", { granularity: "grapheme" }).segment(textOf(message))) {
    if (seen++ >= characters) break;
    units += segment.length;
  }
  return units;
};
