import type { Line } from "../text/line.ts";
import { joinedRows, wrapped } from "../text/wrap.ts";

/** The layout options of Markdown. */
export interface MarkdownLook {
  /** The width of the terminal. Rows leave its last column free. */
  readonly columns: number;
  /** A paragraph is one line that the terminal breaks between words, so that a copy has no line ends. */
  readonly soft: boolean;
  /** The terminal opens links, so addresses are not shown after them. Default: they are shown. */
  readonly hyperlinks?: boolean;
}

/** The place of a block, with the number of columns before it. */
export interface Place extends MarkdownLook {
  readonly indent: number;
}

/** Wraps a line to the available width. */
export const laid = (given: Line, place: Place): readonly Line[] => {
  const rows = wrapped(given, roomOf(place));
  return place.soft ? [joinedRows(rows, place.columns, place.indent)] : rows;
};

/** Returns the width, in columns, that is available for a row. */
export const roomOf = ({ columns, indent }: Place): number => Math.max(columns - 1 - indent, 1);
