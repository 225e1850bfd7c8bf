import { PassThrough, Writable } from "node:stream";
import type { Size } from "../../../src/terminal/index.ts";
import { Cells } from "./cells.ts";
import { Looks, type Wanted } from "./looks.ts";

/** A terminal without a process: its output becomes cells, and the test sends the keys. */
export class FakeTerminal {
  readonly cells: Cells;
  readonly input: PassThrough & { setRawMode: (isRaw: boolean) => void };
  readonly output: Writable & { columns: number; rows: number };
  isRaw = false;
  readonly #looks: Looks;

  constructor(size: Size = { columns: 80, rows: 24 }, { emoji = true } = {}) {
    const cells = new Cells({ ...size, emoji });
    const looks = new Looks(() => cells.screen());
    this.cells = cells;
    this.#looks = looks;
    const written = (): void => {
      void cells.settled().then(() => looks.look());
    };
    const output = new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done): void {
        cells.write(String(chunk));
        written();
        done();
      },
    });
    this.output = Object.assign(output, size);
    this.input = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean): void => void (this.isRaw = isRaw) });
  }

  type(text: string): void {
    this.input.write(text);
  }

  resize(columns: number, rows: number): void {
    this.cells.terminal.resize(columns, rows);
    Object.assign(this.output, { columns, rows });
    this.output.emit("resize");
  }

  /** Resolves when the screen shows this. */
  until(wanted: Wanted): Promise<void> {
    return this.#looks.until(wanted);
  }
}
