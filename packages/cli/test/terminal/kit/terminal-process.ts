import { fileURLToPath } from "node:url";
import pty from "@lydell/node-pty";
import { Cells } from "./cells.ts";
import { Looks, type Wanted } from "./looks.ts";

/** The options of a run. */
export interface ProcessOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program in a pseudo-terminal, with the screen and keys of its user. */
export class TerminalProcess {
  readonly cells: Cells;
  readonly exited: Promise<{ readonly exitCode: number; readonly signal?: number | undefined }>;
  readonly #pty: pty.IPty;
  readonly #looks = new Looks(() => this.cells.screen());

  constructor(command: readonly string[], { columns = 80, rows = 24, env = {} }: ProcessOptions = {}) {
    const [file = "", ...args] = command;
    const { NO_COLOR: _no, FORCE_COLOR: _force, ...own } = process.env;
    this.cells = new Cells({ columns, rows });
    // The name decides on TERM, despite `env`.
    const name = env["TERM"] ?? "xterm-256color";
    this.#pty = pty.spawn(file, args, {
      cols: columns,
      rows,
      name,
      env: { ...own, NODE_COMPILE_CACHE: compiled, ...env },
    });
    this.#pty.onData((data) => {
      this.cells.write(data);
      void this.cells.settled().then(() => this.#looks.look());
    });
    // The terminal's own replies, such as the position of its cursor.
    this.cells.terminal.onData((data) => this.#pty.write(data));
    this.exited = new Promise((resolve) => this.#pty.onExit(resolve));
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Sends keyboard input in these pieces. */
  type(...chunks: readonly (string | Buffer)[]): void {
    // Cast: it also takes bytes, which its types omit.
    for (const chunk of chunks) this.#pty.write(chunk as string);
  }

  resize(columns: number, rows: number): void {
    this.cells.terminal.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  kill(signal = "SIGKILL"): void {
    this.#pty.kill(signal);
  }

  /** Resolves when the screen shows this. */
  until(wanted: Wanted, limitMs?: number): Promise<void> {
    return this.#looks.until(wanted, limitMs);
  }
}

/** A cache of compiled code that the programs share, which halves their start time. */
const compiled = fileURLToPath(new URL("../../../../../node_modules/.cache/compiled", import.meta.url));

/** The command of the scripted program of this kit. */
export const program: readonly string[] = [process.execPath, fileURLToPath(new URL("program.ts", import.meta.url))];
