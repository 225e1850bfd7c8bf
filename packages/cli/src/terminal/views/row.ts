import type { Line, Span } from "../text/line.ts";
import { cutLine, lineWidth } from "../text/wrap.ts";

/**
 * Returns words followed by as many marks as there is room for, the most important first. Some of the words always
 * stay.
 */
export const rowOf = (before: Line, words: Span, marks: readonly Line[], width: number): Line => {
  const behind: Span[] = [];
  // Combining marks and joined emoji take many units and few cells.
  const near = { ...words, text: words.text.slice(0, (width + 1) * 16) };
  const least = lineWidth(before) + Math.min(lineWidth([near]), leastWords, Math.floor(width / 3));
  for (const mark of marks) {
    if (least + lineWidth(behind) + lineWidth(mark) + separator.length <= width)
      behind.push({ text: separator, roles: [] }, ...mark);
  }
  return [...before, ...cutLine([near], width - lineWidth(before) - lineWidth(behind)), ...behind];
};

const separator = "  ";
const leastWords = 20;
