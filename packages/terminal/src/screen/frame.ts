import type { Shown } from "../conversation/shown.ts";
import type { Line, Size } from "../text/line.ts";
import type { Rows } from "./rows.ts";
import { cutLine, wrapped } from "../text/wrap.ts";

/** How lines become text for a terminal. */
export type Paint = (line: Line) => string;

/**
 * What is open, the status and the input, on half of the rows, or the few that there are: what a smaller window pushes
 * out above it can't be taken back. The input is last, since rows below the cursor that a resize wraps anew move it away
 * from where it was. Ink needs one row below.
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

/** A view on the whole screen. */
export const viewRows = ({ view }: Shown, size: Size, paint: Paint): Rows => {
  const { lines, cursor } = view?.show(size) ?? { lines: [] };
  return {
    rows: lines.slice(0, size.rows).map((line) => paint(cutLine(line, size.columns - 1))),
    cursor: cursor ?? null,
  };
};

const rowsMin = 8;

/** The last rows of lines: what would not be seen is not wrapped. */
const endOf = (lines: readonly Line[], width: number, room: number): readonly Line[] => {
  const rows: Line[] = [];
  for (const line of lines.toReversed()) {
    if (rows.length >= room) break;
    rows.unshift(...wrapped(line, width).slice(rows.length - room));
  }
  return rows;
};
