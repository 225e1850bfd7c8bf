import { styleText } from "node:util";
import type { Line, Span } from "./line.ts";
import { linkTarget } from "./link.ts";
import { printableInLine } from "./printable.ts";
import type { Theme } from "./theme.ts";

/**
 * Converts a line to terminal output; only this function makes control sequences. Control characters in spans are made
 * visible, and each look ends after its span.
 */
export const painted = (line: Line, theme: Theme): string => line.map((span) => paintedSpan(span, theme)).join("");

const paintedSpan = ({ text, roles, link }: Span, theme: Theme): string => {
  const shown = printableInLine(text);
  if (shown === "") return "";
  const styles = roles.flatMap((role) => theme.styles[role] ?? []);
  const styled = styleText(styles, shown, { validateStream: false });
  const target = theme.hyperlinks && link !== undefined ? linkTarget(link) : null;
  // BEL, because some libraries that cut rows recognise only that end of a link.
  return target === null ? styled : `\u001B]8;;${target}\u0007${styled}\u001B]8;;\u0007`;
};
