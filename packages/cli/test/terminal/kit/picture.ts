// Draws the README's picture: runs `pnpm start`, types these lines, and draws the screen.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Cells } from "./cells.ts";
import { TerminalProcess } from "./terminal-process.ts";

/** The typed lines, and the text to wait for after each. */
const typed: readonly (readonly [string, RegExp])[] = [
  ["Is it raining in Oslo?", /1 turn · /],
  ["And tomorrow in Paris?", /2 turns · /],
  ["/undo", /took back turn 2/],
  ["And in Lima?", /Lima[^]*Agent \([^]*Lima|Lima[^]*Agent \(/],
];

const main = async (): Promise<void> => {
  const root = join(import.meta.dirname, "../../../../..");
  const folder = mkdtempSync(join(tmpdir(), "colloquy-picture-"));
  const command = [process.execPath, join(root, "examples/weather/main.ts"), "--store", join(folder, "weather.db")];
  const env = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", COLORFGBG: "15;0" };
  const terminal = new TerminalProcess(command, { columns: 96, rows: 34, env });
  try {
    await terminal.until(/^> /m);
    for (const [text, answer] of typed) {
      terminal.type(text);
      await terminal.until(`> ${text}`);
      terminal.type("\r");
      await terminal.until(answer);
    }
    writeFileSync(join(root, "docs/start.svg"), pictureOf(terminal.cells));
    terminal.type("\u0004");
    await terminal.exited;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Returns a terminal's screen as SVG, in pixels, without the empty rows at its end. */
const pictureOf = ({ terminal }: Cells): string => {
  const { active } = terminal.buffer;
  const rows = Array.from({ length: terminal.rows }, (_, row) => runsOf(active.getLine(active.baseY + row)));
  const shown = rows.slice(0, rows.findLastIndex((runs) => runs.length > 0) + 1);
  const width = 2 * margin + terminal.cols * characterWidth;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${2 * margin + shown.length * lineHeight}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">`,
    `  <rect width="100%" height="100%" rx="8" fill="#10141c"/>`,
    ...shown.map(
      (runs, row) =>
        `  <text y="${margin + (row + 0.75) * lineHeight}" xml:space="preserve">${runs.map(spanOf).join("")}</text>`,
    ),
    "</svg>",
    "",
  ].join("\n");
};

/** Neighbouring cells that look alike. */
interface Run {
  readonly column: number;
  readonly text: string;
  readonly look: string;
}

type Row = ReturnType<Cells["terminal"]["buffer"]["active"]["getLine"]>;

const runsOf = (row: Row): readonly Run[] => {
  const runs: Run[] = [];
  const end = row?.translateToString(true).length ?? 0;
  for (let column = 0; column < end; column++) {
    const cell = row?.getCell(column);
    // The second half of a wide character.
    if (cell === undefined || cell.getWidth() === 0) continue;
    const colour = cell.isDim() !== 0 ? "#8b95a7" : cell.isFgPalette() ? (palette[cell.getFgColor()] ?? plain) : plain;
    const look = `fill="${colour}"${cell.isBold() !== 0 ? ' font-weight="bold"' : ""}`;
    const text = cell.getChars() === "" ? " " : cell.getChars();
    const last = runs.at(-1);
    if (last?.look === look) runs.splice(-1, 1, { ...last, text: last.text + text });
    else runs.push({ column, text, look });
  }
  return runs;
};

const spanOf = ({ column, text, look }: Run): string =>
  `<tspan x="${(margin + column * characterWidth).toFixed(1)}" ${look}>${escaped(text)}</tspan>`;

const margin = 16;
const lineHeight = 20;
const characterWidth = 7.9;
const plain = "#e8ecf3";

/** The sixteen colours, in their order. */
const palette = [
  "#3b4252",
  "#e06c75",
  "#98c379",
  "#e5c07b",
  "#61afef",
  "#c678dd",
  "#56b6c2",
  "#abb2bf",
  "#5c6370",
  "#ef8a92",
  "#b5e08f",
  "#f0d399",
  "#8ecbff",
  "#d9a5ec",
  "#7fd4df",
  "#ffffff",
];

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

await main();
