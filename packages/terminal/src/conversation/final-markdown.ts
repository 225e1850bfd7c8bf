/** How much of a Markdown text that still grows is final: its blocks but the last one. */
export const finalLength = (markdown: string): number => {
  let length = 0;
  let end = 0;
  let fence: string | null = null;
  for (const [line] of markdown.matchAll(/[^\n]*\n/g)) {
    end += line.length;
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? null;
    if (mark !== null) fence = fence === null ? mark : line.trim().startsWith(fence) ? null : fence;
    if (line.trim() === "" && fence === null) length = end;
  }
  return length;
};
