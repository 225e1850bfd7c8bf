import type { Line, Role, Size, Span } from "../text/line.ts";
import { graphemesOf, widthOf } from "../text/wrap.ts";
import type { Editor } from "./editor.ts";

/** The rows of the input, none wider than the terminal, and the cell of the cursor. */
export interface InputFrame {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/**
 * Lays an input out after its prompt. Rows are wrapped one column before the last. There are at most 8 rows, at least 3
 * fewer than the terminal has, but always one, and the cursor's row is always among them. The cursor's cell is that of
 * the character after the cursor; at a line's end, that of the next character to be typed.
 */
export const layOut = (editor: Editor, size: Size, prompt = "> "): InputFrame => {
  const { rows, prompt: shown } = laidOut(editor, size, prompt);
  const height = Math.max(Math.min(8, size.rows - 3), 1);
  const from = Math.max(rows.cursor.row - height + 1, 0);
  const lines = rows.lines.slice(from, from + height).map((line, index): Line => {
    const before = from + index === 0 ? shown : " ".repeat(widthOf(shown));
    return [{ text: before, roles: ["prompt"] }, ...line];
  });
  return { lines, cursor: { row: rows.cursor.row - from, column: widthOf(shown) + rows.cursor.column } };
};

/** Returns the cursor after it moves up or down by rows, and the column that it aims for; null if there is no row. */
export const placeBeside = (
  editor: Editor,
  by: number,
  size: Size,
): { readonly cursor: number; readonly column: number } | null => {
  const { stops, cursor } = laidOut(editor, size).rows;
  const column = editor.column ?? cursor.column;
  const wanted = cursor.row + by;
  // A row in the middle of a mark has no place for the cursor.
  const beside = stops.filter(({ row }) => (by < 0 ? row < cursor.row : row > cursor.row));
  const row =
    by < 0
      ? (beside.findLast((stop) => stop.row <= wanted) ?? beside[0])
      : (beside.find((stop) => stop.row >= wanted) ?? beside.at(-1));
  const there = beside.filter((stop) => stop.row === row?.row);
  const stop = there.findLast((each) => each.column <= column) ?? there[0];
  return stop === undefined ? null : { cursor: stop.at, column };
};

/** A place where the cursor can be. */
interface Stop {
  readonly at: number;
  readonly row: number;
  readonly column: number;
}

const laidOut = (
  editor: Editor,
  { columns }: Size,
  wanted = "> ",
): { readonly rows: Rows; readonly prompt: string } => {
  const prompt = columns < widthOf(wanted) + 6 ? "" : wanted;
  const rows = new Rows(Math.max(columns - 1 - widthOf(prompt), 2), editor.cursor);
  let at = 0;
  for (const mark of [...editor.marks, null]) {
    for (const grapheme of graphemesOf(editor.text.slice(at, mark?.start))) {
      if (grapheme === "\n") rows.endLine(at);
      else rows.add(grapheme, "plain", at);
      at += grapheme.length;
    }
    if (mark === null) continue;
    for (; at < mark.end; at += 1) rows.add(editor.text.charAt(at), "name", at === mark.start ? at : null);
  }
  rows.end(at);
  return { rows, prompt };
};

/** Rows of one width, to which characters are added. */
class Rows {
  readonly stops: Stop[] = [];
  readonly lines: Span[][] = [[]];
  cursor = { row: 0, column: 0 };
  readonly #width: number;
  readonly #cursor: number;
  /** Caches widths, because measuring is slow and most characters repeat. */
  readonly #cells = new Map<string, Cells>();
  #column = 0;

  constructor(width: number, cursor: number) {
    this.#width = width;
    this.#cursor = cursor;
  }

  /** Adds a grapheme. `at` is its index in the text, or null if the cursor cannot be there. */
  add(grapheme: string, role: Role, at: number | null): void {
    const { text, width } = this.#cells.get(grapheme) ?? cellsOf(grapheme);
    this.#cells.set(grapheme, { text, width });
    if (this.#column + width > this.#width) this.#next();
    if (at !== null) this.#stop(at);
    const line = this.lines.at(-1);
    const last = line?.at(-1);
    if (last?.roles[0] === role) line?.splice(-1, 1, { text: last.text + text, roles: last.roles });
    else line?.push({ text, roles: [role] });
    this.#column += width;
  }

  endLine(at: number): void {
    this.end(at);
    this.#next();
  }

  /** Ends a line. If the cursor is at the end of a full row, it moves to a new row, where the next letter will be. */
  end(at: number): void {
    const isFull = this.#column >= this.#width;
    if (isFull && at === this.#cursor) this.#next();
    if (!isFull || at === this.#cursor) this.#stop(at);
  }

  #next(): void {
    this.lines.push([]);
    this.#column = 0;
  }

  #stop(at: number): void {
    const stop = { at, row: this.lines.length - 1, column: this.#column };
    this.stops.push(stop);
    if (at === this.#cursor) this.cursor = stop;
  }
}

interface Cells {
  readonly text: string;
  readonly width: number;
}

/** Returns the visible form of a grapheme. Without it, a tab or a lone accent would have no cells. */
const cellsOf = (grapheme: string): Cells => {
  if (grapheme === "\t") return { text: "  ", width: 2 };
  const width = widthOf(grapheme);
  if (width > 0) return { text: grapheme, width };
  return { text: /^\p{M}/u.test(grapheme) ? `◌${grapheme}` : "\uFFFD", width: 1 };
};
