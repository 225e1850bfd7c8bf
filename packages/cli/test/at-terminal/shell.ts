import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { TerminalProcess } from "../terminal/kit/terminal-process.ts";
import { bytesOf } from "./bytes-of-keys.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;

/** A person who runs `colloquy` in an interactive shell in a pseudo-terminal. Its prompt is the last exit code. */
export class Shell {
  readonly terminal: TerminalProcess;
  /** Its home and working directory. */
  readonly folder: string;

  constructor(env: Readonly<Record<string, string>>, { columns = 80, rows = 24 } = {}) {
    this.folder = mkdtempSync(join(tmpdir(), "colloquy-shell-"));
    writeFileSync(
      join(this.folder, "rc"),
      `bind "set enable-bracketed-paste off"
PS1='[$?]$ '
cd ${this.folder}
alias colloquy='${process.execPath} ${main}'
modes() { stty -a | tr ' ;' '\\n' | grep -E '^-?(icanon|echo|isig|icrnl|opost)$' | sort | tr '\\n' ' '; }
`,
    );
    const own = { HOME: this.folder, HISTFILE: "", NODE_NO_WARNINGS: "1", CI: "true", OPENAI_API_KEY: "", ...env };
    this.terminal = new TerminalProcess(["bash", "--rcfile", join(this.folder, "rc"), "-i"], {
      columns,
      rows,
      env: own,
    });
  }

  /** Runs a command line, and waits until the screen shows a text. */
  async run(line: string, shows: string | RegExp): Promise<void> {
    await this.terminal.until(atPrompt);
    this.terminal.type(`${line}\r`);
    await this.terminal.until(shows);
  }

  /** Types a text, and waits until it is in the input. */
  async type(text: string): Promise<void> {
    this.terminal.type(text);
    await this.untilInput(text);
  }

  /** Resolves when the input has exactly these rows. */
  async untilInput(...rows: readonly string[]): Promise<void> {
    const input = rows.map((row, index) => `${index === 0 ? ">" : " "} ${row}`.trimEnd());
    await this.terminal.until((screen) => {
      const shown = trimmed(screen.split("\n")).map(withPrompt);
      const at = shown.lastIndexOf(input[0] ?? "");
      return at >= 0 && input.every((row, index) => shown[at + index] === row);
    });
  }

  /** Types and enters a line; resolves when the text below it matches. */
  async enter(line: string, shows: RegExp): Promise<void> {
    await this.type(line);
    this.press("enter");
    await this.terminal.until(() => shows.test(this.#below(line)));
  }

  /** Returns the text below a line that was entered last; rows that the terminal wrapped are one. */
  #below(line: string): string {
    const lines = trimmed(this.terminal.cells.lines()).map(withPrompt);
    const ofCommand = lines.lastIndexOf(`  ${line}`);
    return lines.slice((ofCommand < 0 ? lines.lastIndexOf(`> ${line}`) : ofCommand) + 1).join("\n");
  }

  /** Presses a key, and waits until the screen shows a text. */
  async pressUntil(name: string, shows: string | RegExp): Promise<void> {
    this.press(name);
    await this.until(shows);
  }

  /**
   * Answers the approval on the screen, with an empty input. A key counts if none came in the half second before it, by
   * the program's clock. A key that came too early lands in the input: then it is deleted, and pressed again after a
   * longer pause.
   */
  async answer(key: string, shows: RegExp): Promise<void> {
    for (let pauseMs = 500; ; pauseMs *= 2) {
      await setTimeout(pauseMs);
      this.terminal.type(key);
      await this.until(new RegExp(`${shows.source}|^> ${key}$`, "m"));
      if (shows.test(this.#screen())) return;
      this.press("backspace");
      await this.untilInput("");
    }
  }

  /** Resolves when the screen shows this. Spaces at the ends of rows are ignored. */
  async until(shows: string | RegExp): Promise<void> {
    await this.terminal.until(() => {
      const shown = this.#screen();
      return typeof shows === "string" ? shown.includes(shows) : shows.test(shown);
    });
  }

  #screen(): string {
    return trimmed(this.terminal.cells.screen()).join("\n");
  }

  press(...names: readonly string[]): void {
    this.terminal.type(...names.map(bytesOf));
  }

  /** Resolves with the exit code when the command ends. The terminal must be in its former state. */
  async left(): Promise<number> {
    const { terminal } = this;
    await terminal.until(atPrompt);
    const { raw } = terminal.cells;
    const since = raw.slice(raw.lastIndexOf("colloquy chat"));
    expect(since.split("\x1b[>1u")).toHaveLength(since.split("\x1b[<u").length);
    expect(since.lastIndexOf("\x1b[?25h")).toBeGreaterThanOrEqual(since.lastIndexOf("\x1b[?25l"));
    expect(terminal.cells.terminal.modes.bracketedPasteMode).toBe(false);
    expect(terminal.cells.isAlternate).toBe(false);
    for (const clearing of ["\x1b[2J", "\x1b[3J"]) expect(since).not.toContain(clearing);
    const [, code] = promptAtEnd.exec(terminal.cells.screen().join("\n").trimEnd()) ?? [];
    terminal.type("modes\r");
    await terminal.until("echo icanon icrnl isig opost [0]$");
    // Text that is still on the screen would be taken for later output.
    terminal.type(String.raw`printf '\033[H\033[2J'`, "\r");
    await terminal.until((screen) => screen.trim() === "[0]$");
    return Number(code);
  }

  end(): void {
    this.terminal.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns a pattern that matches the text literally. */
export const escaped = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);

const trimmed = (rows: readonly string[]): readonly string[] => rows.map((row) => row.trimEnd());

/** Replaces the label for screen readers by the prompt. */
const withPrompt = (row: string): string => row.replace(/^You:/, ">");

const promptAtEnd = /^\[(\d+)\]\$$/m;
const atPrompt = (screen: string): boolean => /(?:^|\n|\s)\[\d+\]\$$/.test(screen.trimEnd());
