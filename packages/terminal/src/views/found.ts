import { textOfLine } from "../text/line.ts";
import type { Items, Place } from "./items.ts";

/**
 * The next place of some words, whatever their case, behind or before one, and around the ends; with 0 it may be the same
 * one. Texts are looked through, and only those that have the words are laid out. Null: nowhere.
 */
export const found = (
  items: Items,
  columns: number,
  words: string,
  from: Place,
  direction: 1 | 0 | -1,
  wholeItems: boolean,
): Place | null => {
  const wanted = words.toLowerCase();
  const back = direction === -1;
  const placesIn = (item: number): readonly Place[] => {
    if (!items.text(item).toLowerCase().includes(wanted)) return [];
    const lines = wholeItems ? [] : items.lines(item, columns);
    const places = lines.flatMap((line, index) =>
      textOfLine(line).toLowerCase().includes(wanted) ? [{ item, line: index }] : [],
    );
    // The words are there, if on two lines.
    return places.length === 0 ? [{ item, line: 0 }] : places;
  };
  const isFurther = ({ item, line }: Place): boolean =>
    item !== from.item || (back ? line < from.line : line > from.line || (direction === 0 && line === from.line));
  // Its own item comes twice: for what is further on in it, and around the ends for the rest.
  for (let steps = 0; steps <= items.count; steps++) {
    const item = (from.item + (back ? -steps : steps) + items.count) % items.count;
    const places = steps === 0 ? placesIn(item).filter(isFurther) : placesIn(item);
    const place = back ? places.at(-1) : places[0];
    if (place !== undefined) return place;
  }
  return null;
};
