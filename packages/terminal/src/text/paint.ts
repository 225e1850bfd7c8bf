import { styleText } from "node:util";
import type { Line, Span } from "./line.ts";
import { linkTarget } from "./link.ts";
import { printableInLine } from "./printable.ts";
import type { Theme } from "./theme.ts";

/**
 * A line as it is written to a terminal: the only place where its control sequences are made. Whatever the spans hold
 * is shown; each look is closed behind its span.
 */
export const painted = (line: Line, theme: Theme): string => line.map((span) => paintedSpan(span, theme)).join("");

const paintedSpan = ({ text, roles, link }: Span, theme: Theme): string => {
  const shown = printableInLine(text);
  if (shown === "") return "";
  const styles = roles.flatMap((role) => theme.styles[role] ?? []);
  const styled = styleText(styles, shown, { validateStream: false });
  const target = theme.hyperlinks && link !== undefined ? linkTarget(link) : null;
  // Some libraries that cut rows know links by their end with BEL alone.
  return target === null ? styled : `\u001B]8;;${target}\u0007${styled}\u001B]8;;\u0007`;
};
