/**
 * How much of a Markdown text that still grows is final: what stands before the last empty line, behind which something
 * new has begun at the margin. What is indented, or an item of a list, may go on with what was before.
 */
export const finalLength = (markdown: string): number => {
  let length = 0;
  let end = 0;
  let fence: string | null = null;
  for (const [line] of markdown.matchAll(/[^\n]*\n/g)) {
    end += line.length;
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? null;
    if (mark !== null) fence = fence === null ? mark : line.trim().startsWith(fence) ? null : fence;
    if (line.trim() === "" && fence === null && /^[^\s\d*+\->|]/.test(markdown.slice(end, end + 1))) length = end;
  }
  return length;
};
