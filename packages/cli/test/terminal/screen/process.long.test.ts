import { expect, test } from "vitest";
import { program, TerminalProcess } from "../kit/terminal-process.ts";

test(
  "in a real terminal: characters cut anywhere, pastes of 5,000 characters, a view, a clipboard; and no timer when idle",
  { timeout: 120_000 },
  async () => {
    const terminal = new TerminalProcess(program, { columns: 60, rows: 20 });
    await terminal.until("idle");
    // Sequences are whole: an escape that comes alone is that key after a moment, which a busy machine may take between two.
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
    // It comes in several pieces, and Enter behind the last of them.
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
 * Half a core for each millisecond, in what the program has for a yardstick, so that it is as much on a slow machine:
 * where this was set a yardstick took 17 ms, and a delta a hundredth of one.
 */
const halfCore = 0.5 / 17;

/** `CSI 2J` and `CSI 3J`: what one reads back is gone with them. */
// oxlint-disable-next-line no-control-regex -- these are the sequences.
const clearing = /\x1b\[[23]J/;

/** One by one. */
const bytes = (text: string): readonly Buffer[] => Array.from(Buffer.from(text), (byte) => Buffer.of(byte));
