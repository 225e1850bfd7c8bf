import { PassThrough, Writable } from "node:stream";
import { Cells } from "./cells.ts";

/** A terminal without a process: what is written to it becomes cells, and keys come from the test. */
export class FakeTerminal {
  readonly cells: Cells;
  readonly input: PassThrough & { setRawMode: (isRaw: boolean) => void };
  readonly output: Writable & { columns: number; rows: number };
  isRaw = false;
  #looks = new Set<() => void>();

  constructor(size: { readonly columns: number; readonly rows: number } = { columns: 80, rows: 24 }) {
    const cells = new Cells(size);
    this.cells = cells;
    const written = (): void => {
      void cells.settled().then(() => this.#looks.forEach((look) => look()));
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

  /** Resolves when the screen satisfies this. */
  until(isThere: (screen: string) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isThere(this.cells.screen().join("\n"))) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }
}
