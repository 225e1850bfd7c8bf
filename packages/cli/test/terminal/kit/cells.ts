import xterm from "@xterm/headless";

// It reads its buffer's memory from the start, which a pool gives to another buffer: "Data error", or wrong widths.
const { poolSize } = Buffer;
Buffer.poolSize = 0;
const { default: graphemes } = await import("@xterm/addon-unicode-graphemes");
Buffer.poolSize = poolSize;

/** The cells of a screen, from the bytes that the terminal receives. */
export class Cells {
  readonly terminal: xterm.Terminal;
  /** All that was written. */
  raw = "";
  #settled = Promise.resolve();

  /** @param emoji use the emoji widths of current terminals; false for those of older ones, which split emoji */
  constructor({ columns = 80, rows = 24, scrollback = 20_000, emoji = true } = {}) {
    this.terminal = new xterm.Terminal({ cols: columns, rows, scrollback, allowProposedApi: true, convertEol: true });
    if (emoji) this.terminal.loadAddon(new graphemes.UnicodeGraphemesAddon());
  }

  write(text: string): void {
    this.raw += text;
    this.#settled = new Promise((resolve) => this.terminal.write(text, resolve));
  }

  /** Resolves when all output is on the screen. */
  settled(): Promise<void> {
    return this.#settled;
  }

  /** The rows of the screen. */
  screen(): readonly string[] {
    const { active } = this.terminal.buffer;
    return Array.from(
      { length: this.terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    );
  }

  /** All lines, the scrollback first. Rows that the terminal wrapped are one line, as in a copy by mouse. */
  lines(): readonly string[] {
    const { normal } = this.terminal.buffer;
    const lines: string[] = [];
    for (let row = 0; row < normal.length; row++) {
      const line = normal.getLine(row);
      const goesOn = normal.getLine(row + 1)?.isWrapped === true;
      // A wide character without room leaves an empty cell.
      const isShort = goesOn && line?.getCell(this.terminal.cols - 1)?.getChars() === "";
      const text = line?.translateToString(!goesOn, 0, this.terminal.cols - (isShort ? 1 : 0)) ?? "";
      if (line?.isWrapped === true) lines.push(`${lines.pop() ?? ""}${text}`);
      else lines.push(text);
    }
    return lines;
  }

  cursor(): { readonly column: number; readonly row: number } {
    const { cursorX, cursorY } = this.terminal.buffer.active;
    return { column: cursorX, row: cursorY };
  }

  get isAlternate(): boolean {
    return this.terminal.buffer.active.type === "alternate";
  }
}
