import { fileURLToPath } from "node:url";
import pty from "@lydell/node-pty";
import { Cells } from "./cells.ts";

/** How a program is run. */
export interface ProcessOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program in a pseudo-terminal: what a person would see of it, and type. */
export class TerminalProcess {
  readonly cells: Cells;
  readonly exited: Promise<{ readonly exitCode: number; readonly signal?: number | undefined }>;
  readonly #pty: pty.IPty;
  readonly #looks = new Set<() => void>();

  constructor(command: readonly string[], { columns = 80, rows = 24, env = {} }: ProcessOptions = {}) {
    const [file = "", ...args] = command;
    const { NO_COLOR: _no, FORCE_COLOR: _force, ...own } = process.env;
    this.cells = new Cells({ columns, rows });
    // What it is called decides on TERM, whatever `env` says.
    const name = env["TERM"] ?? "xterm-256color";
    this.#pty = pty.spawn(file, args, {
      cols: columns,
      rows,
      name,
      env: { ...own, NODE_COMPILE_CACHE: compiled, ...env },
    });
    this.#pty.onData((data) => {
      this.cells.write(data);
      void this.cells.settled().then(() => this.#looks.forEach((look) => look()));
    });
    // What the terminal itself replies, such as where its cursor is.
    this.cells.terminal.onData((data) => this.#pty.write(data));
    this.exited = new Promise((resolve) => this.#pty.onExit(resolve));
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Sends what a keyboard does, in these pieces. */
  type(...chunks: readonly (string | Buffer)[]): void {
    // It takes bytes as well, which its types leave out.
    for (const chunk of chunks) this.#pty.write(chunk as string);
  }

  resize(columns: number, rows: number): void {
    this.cells.terminal.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  kill(signal = "SIGKILL"): void {
    this.#pty.kill(signal);
  }

  /** Resolves when the screen holds this; the limit is for a machine that is busy with much else. */
  until(isThere: string | RegExp | ((screen: string) => boolean), limitMs = 25_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const screen = (): string => this.cells.screen().join("\n");
      const late = setTimeout(() => {
        this.#looks.delete(look);
        reject(new Error(`waited ${limitMs} ms for ${String(isThere)}; the screen shows:\n${screen().trimEnd()}`));
      }, limitMs);
      const look = (): void => {
        if (!holds(isThere, screen())) return;
        clearTimeout(late);
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }
}

/** What programs have compiled is kept for the next: a start takes half of the time. */
const compiled = fileURLToPath(new URL("../../../../node_modules/.cache/compiled", import.meta.url));

/** The command of the scripted program of this kit. */
export const program: readonly string[] = [process.execPath, fileURLToPath(new URL("program.ts", import.meta.url))];

const holds = (wanted: string | RegExp | ((screen: string) => boolean), screen: string): boolean => {
  if (typeof wanted === "string") return screen.includes(wanted);
  return wanted instanceof RegExp ? wanted.test(screen) : wanted(screen);
};
