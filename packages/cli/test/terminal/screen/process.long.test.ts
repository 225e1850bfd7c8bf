import { expect, test } from "vitest";
import { program, TerminalProcess } from "../kit/terminal-process.ts";

test(
  "in a real terminal: characters cut anywhere, pastes of 5,000 characters, a view, a clipboard; and no timer when idle",
  { timeout: 120_000 },
  async () => {
    const terminal = new TerminalProcess(program, { columns: 60, rows: 20 });
    await terminal.until("idle");
    // Sequences are sent whole: a lone escape soon counts as that key, and a busy machine may take longer for the rest.
    terminal.type(...bytes("日本👩‍👩‍👧‍👦é"), "\x1b[D");
    await terminal.until("last key left");
    expect(terminal.cells.screen()[terminal.cells.cursor().row]).toBe("> 日本👩‍👩‍👧‍👦é");
    terminal.type("\r");
    await terminal.until("asked 日本👩‍👩‍👧‍👦é");

    const text = Array.from({ length: 100 }, (_, line) => `${line} `.padEnd(49, "y")).join("\n");
    terminal.type("\x1b[200~", text.slice(0, 3000), text.slice(3000), ...bytes("\x1b[201~"));
    await terminal.until(`pasted ${text.length}`);
    terminal.type(...Array.from({ length: 100 }, () => "\x7f"), "\r");
    await terminal.until("asked 0");
    terminal.type(`${text}!`);
    // The text arrives in several pieces, and Enter after the last.
    await terminal.until("!");
    terminal.type("\r");
    await terminal.until((screen) => screen.split("asked 0").length > 2);

    terminal.type("view\r");
    await terminal.until("row 19");
    expect(terminal.cells.isAlternate).toBe(true);
    terminal.resize(40, 10);
    await terminal.until((screen) => screen.startsWith("row 0\n") && screen.endsWith("row 9"));
    terminal.resize(60, 20);
    terminal.type("\x1b");
    await terminal.until("last key escape");
    expect(terminal.cells.isAlternate).toBe(false);
    expect(terminal.cells.lines().filter((line) => line.startsWith("asked 日本"))).toHaveLength(1);

    terminal.type("copy 9\r");
    await terminal.until("copied: true");
    expect(terminal.cells.raw).toContain(`\x1b]52;c;${btoa("c".repeat(9))}\x07`);
    terminal.type("copy 100000\r");
    await terminal.until("copied: false");

    terminal.type("idle\r");
    await terminal.until("no timer");
    terminal.type("\x04");
    expect(await terminal.exited).toMatchObject({ exitCode: 0 });
    expect(terminal.cells.raw).not.toMatch(clearing);
  },
);

test(
  "1,000 deltas a second take less than half a core, and 20 bytes each beyond the text",
  { timeout: 120_000 },
  async () => {
    const terminal = new TerminalProcess(program);
    await terminal.until("idle");
    for (const columns of [20, 200]) {
      const deltas = 1000 + columns;
      terminal.resize(columns, 24);
      terminal.type(`stream ${deltas}\r`);
      const before = terminal.cells.raw.length;
      await terminal.until(new RegExp(String.raw`streamed ${deltas}\s+deltas\s*,\s+cpu\s+\d+\s+yardsticks`));
      const beyond = (Buffer.byteLength(terminal.cells.raw.slice(before)) - 4 * deltas) / deltas;
      const cpu = Number(
        new RegExp(String.raw`${deltas} deltas, cpu (\d+) yardsticks`).exec(terminal.cells.lines().join(""))?.[1],
      );
      expect(beyond, `bytes beyond each delta, at ${columns} columns`).toBeLessThan(20);
      expect(cpu, `yardsticks of the processor, at ${columns} columns`).toBeLessThan(halfCore * deltas);
    }
    terminal.type("\x04");
    await terminal.exited;
    expect(terminal.cells.raw).not.toMatch(clearing);
  },
);

/**
 * Half a core for each millisecond, in units of the program's yardstick, so that it holds on slow machines. When it was
 * set, the yardstick took 17 ms, and a delta a hundredth of that.
 */
const halfCore = 0.5 / 17;

/** `CSI 2J` and `CSI 3J`, which erase what a user could scroll back to. */
// oxlint-disable-next-line no-control-regex -- these are the sequences.
const clearing = /\x1b\[[23]J/;

/** Returns the bytes of a text, each in a buffer. */
const bytes = (text: string): readonly Buffer[] => Array.from(Buffer.from(text), (byte) => Buffer.of(byte));
