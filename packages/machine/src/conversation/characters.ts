/**
 * How many UTF-16 units the first so many characters of an answer take, a character being what a reader takes for one
 * (a grapheme of Unicode's UAX 29). Decided once and journalled: another version of Unicode may cut otherwise.
 */
export const charactersOf = (answer: string, characters: number): number => {
  let units = 0;
  let seen = 0;
  for (const { segment } of new Intl.Segmenter("und", { granularity: "grapheme" }).segment(answer)) {
    if (seen++ >= characters) break;
    units += segment.length;
  }
  return units;
};
