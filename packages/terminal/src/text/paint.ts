import type { Line, Span } from "./line.ts";
import { linkTarget } from "./link.ts";
import { printableInLine } from "./printable.ts";
import { sgrOf, type Theme } from "./theme.ts";

/**
 * A line as it is written to a terminal: the only place where its control sequences are made. Whatever the spans hold
 * is shown; each look is closed behind its span.
 */
export const painted = (line: Line, theme: Theme): string => line.map((span) => paintedSpan(span, theme)).join("");

const paintedSpan = ({ text, roles, link }: Span, theme: Theme): string => {
  const shown = printableInLine(text);
  if (shown === "") return "";
  const opening = roles.flatMap((role) => theme.styles[role].map(sgrOf)).join("");
  const styled = opening === "" ? shown : `${opening}${shown}${reset}`;
  const target = theme.hyperlinks && link !== undefined ? linkTarget(link) : null;
  // Some libraries that cut rows know links by their end with BEL alone.
  return target === null ? styled : `\u001B]8;;${target}\u0007${styled}\u001B]8;;\u0007`;
};

const reset = "\u001B[0m";
