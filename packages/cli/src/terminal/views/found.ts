import { textOfLine } from "../text/line.ts";
import type { Items, Place } from "./items.ts";

/**
 * Finds the next place of some words, ignoring case, after or before a place, and wraps around. With direction 0 it may
 * be the same place. Only items whose text has the words are laid out. Null if there is none.
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
    // The words are there, but split over two lines.
    return places.length === 0 ? [{ item, line: 0 }] : places;
  };
  const isFurther = ({ item, line }: Place): boolean =>
    item !== from.item || (back ? line < from.line : line > from.line || (direction === 0 && line === from.line));
  // The start item comes twice: first for its later places, and after wrapping around for the others.
  for (let steps = 0; steps <= items.count; steps++) {
    const item = (from.item + (back ? -steps : steps) + items.count) % items.count;
    const places = steps === 0 ? placesIn(item).filter(isFurther) : placesIn(item);
    const place = back ? places.at(-1) : places[0];
    if (place !== undefined) return place;
  }
  return null;
};
