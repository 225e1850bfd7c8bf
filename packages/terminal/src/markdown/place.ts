import type { Line } from "../text/line.ts";
import { joinedRows, wrapped } from "../text/wrap.ts";

/** How Markdown is laid out. */
export interface MarkdownLook {
  /** The width of the terminal. Rows leave its last column free. */
  readonly columns: number;
  /** A paragraph is one line that a terminal of this width breaks between words, so that a copy has no line ends. */
  readonly soft: boolean;
  /** The terminal opens addresses, so they are not shown behind their links. Default: they are shown. */
  readonly hyperlinks?: boolean;
}

/** Where a block stands: how many columns before it are taken. */
export interface Place extends MarkdownLook {
  readonly indent: number;
}

/** A line in the room that there is for it. */
export const laid = (given: Line, place: Place): readonly Line[] => {
  const rows = wrapped(given, roomOf(place));
  return place.soft ? [joinedRows(rows, place.columns, place.indent)] : rows;
};

/** How many columns a row there may take. */
export const roomOf = ({ columns, indent }: Place): number => Math.max(columns - 1 - indent, 1);
