import type { Cells } from "./cells.ts";

/**
 * Returns the visible screen, row by row, with the cursor as `▏`, after the rows of the scrollback.
 * @param styled with the look of each piece
 */
export const screenText = (cells: Cells, styled = false): string => {
  const { terminal, isAlternate } = cells;
  const { active } = terminal.buffer;
  const cursor = cells.cursor();
  const rows = Array.from({ length: active.length }, (_, row) => {
    const at = row - active.baseY === cursor.row && isCursorShown(cells) ? cursor.column : null;
    return rowText(active.getLine(row), at, styled);
  });
  const above = rows.slice(0, active.baseY).map((row) => `~ ${row}`);
  const onScreen = rows.slice(active.baseY).map((row) => `| ${row}`);
  const last = onScreen.findLastIndex((row) => row !== "| ");
  const empty = onScreen.length - last - 1;
  const where = isAlternate ? "alternate screen" : `${above.length} rows in the scrollback`;
  return [
    `${terminal.cols} × ${terminal.rows}, ${where}`,
    ...[...above, ...onScreen.slice(0, last + 1)].map((row) => row.trimEnd()),
    ...(empty === 0 ? [] : [`(${empty} empty rows)`]),
  ].join("\n");
};

const isCursorShown = ({ raw }: Cells): boolean => raw.lastIndexOf("\x1b[?25h") >= raw.lastIndexOf("\x1b[?25l");

type Row = ReturnType<Cells["terminal"]["buffer"]["active"]["getLine"]>;
type Cell = NonNullable<ReturnType<NonNullable<Row>["getCell"]>>;

const rowText = (row: Row, cursor: number | null, styled: boolean): string => {
  const length = Math.max(row?.translateToString(true).length ?? 0, cursor ?? 0, 0);
  let text = "";
  let before = "";
  for (let column = 0; column < Math.max(row?.length ?? 0, length); column++) {
    if (column === cursor) text += "▏";
    const cell = row?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const look = styled ? lookOf(cell) : "";
    if (look !== before) text += `‹${look}›`;
    before = look;
    text += cell.getChars() === "" ? " " : cell.getChars();
  }
  return text.trimEnd();
};

const lookOf = (cell: Cell): string =>
  [
    cell.isBold() === 0 ? "" : "bold",
    cell.isDim() === 0 ? "" : "dim",
    cell.isItalic() === 0 ? "" : "italic",
    cell.isUnderline() === 0 ? "" : "underline",
    cell.isInverse() === 0 ? "" : "inverse",
    cell.isFgPalette() ? (colours[cell.getFgColor()] ?? "") : "",
  ]
    .filter((style) => style !== "")
    .join(" ");

const hues = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const colours = [...hues, ...hues.map((hue) => `bright ${hue}`)];
