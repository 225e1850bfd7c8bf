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
