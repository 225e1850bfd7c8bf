import type { Shown } from "../conversation/shown.ts";
import type { Line, Size } from "../text/line.ts";
import type { Rows } from "./rows.ts";
import { cutLine, wrapped } from "../text/wrap.ts";

/** Converts a line to text for a terminal. */
export type Paint = (line: Line) => string;

/**
 * Returns the open lines, the status and the input, on at most half of the rows, because rows that a smaller window
 * pushes out above cannot be erased. The input is last: a resize rewraps the rows below the cursor and would move the
 * cursor. Ink needs one row below.
 */
export const liveRows = (shown: Shown, size: Size, paint: Paint): Rows => {
  const width = size.columns - 1;
  const room = Math.max(1, Math.min(size.rows - 2, Math.max(rowsMin, Math.floor(size.rows / 2))));
  const input = shown.input(size);
  const open = shown.open(size);
  const inputRoom = open.length === 0 ? room : Math.max(1, Math.min(room - 1, Math.floor(room / 2)));
  const { row, column } = input.cursor;
  const first = Math.max(0, Math.min(input.lines.length - inputRoom, row - Math.floor(inputRoom / 2)));
  const inputLines = input.lines.slice(first, first + inputRoom);
  const openLines = endOf(open, width, room - inputLines.length);
  const status = size.rows > 2 ? [shown.status(size)] : [];
  return {
    rows: [...openLines, ...status, ...inputLines].map((line) => paint(cutLine(line, width))),
    cursor: { row: openLines.length + status.length + row - first, column: Math.min(column, width) },
  };
};

/** Returns a view on the whole screen. */
export const viewRows = ({ view }: Shown, size: Size, paint: Paint): Rows => {
  const { lines, cursor } = view?.show(size) ?? { lines: [] };
  return {
    rows: lines.slice(0, size.rows).map((line) => paint(cutLine(line, size.columns - 1))),
    cursor: cursor ?? null,
  };
};

const rowsMin = 8;

/** Returns the last rows of lines; invisible lines are not wrapped. */
const endOf = (lines: readonly Line[], width: number, room: number): readonly Line[] => {
  const rows: Line[] = [];
  for (const line of lines.toReversed()) {
    if (rows.length >= room) break;
    rows.unshift(...wrapped(line, width).slice(rows.length - room));
  }
  return rows;
};
