/**
 * The clauses of a text, in order; joined they are the text. A clause ends behind a run of `. , ; : ! ? …` (also of Arabic
 * and Indian marks) and the quotes and brackets that close with it, where a blank or the end follows, and behind marks of
 * Chinese and Japanese. So `3.14`, `10:30` and `1,000` are whole, and `Wait...` is one clause. The blank behind a clause
 * begins the next one. A period behind an abbreviation ends none: behind a single letter (`e.g.`, `U.S.`, `J. Smith`), or
 * a title such as `Dr.`. No clause ends within what a reader takes for one character.
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
 * Each run of marks is looked at once, from its beginning, so that the time grows with the text alone. A wide mark that a
 * combining one follows is one character with it, and ends nothing.
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
