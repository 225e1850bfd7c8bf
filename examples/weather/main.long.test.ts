import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "colloquy-weather-"));
const program = join(import.meta.dirname, "main.ts");
const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...withoutServer } = process.env;

afterAll(() => rmSync(folder, { recursive: true }));

const tmux = spawnSync("tmux", ["-V"]).status === 0;

describe.skipIf(!tmux)(`in a terminal${tmux ? "" : " (left out: there is no tmux)"}`, () => {
  const socket = `colloquy-${process.pid}`;
  const tell = (...args: readonly string[]): string =>
    spawnSync("tmux", ["-L", socket, ...args], { encoding: "utf8", env: withoutServer }).stdout;
  const type = (line: string): void => {
    tell("send-keys", "-t", "weather", "-l", line);
    tell("send-keys", "-t", "weather", "Enter");
  };
  const screen = (): string => tell("capture-pane", "-p", "-J", "-t", "weather");
  const shown = (pattern: RegExp) => expect.poll(screen, { timeout: 60_000 }).toMatch(pattern);

  afterAll(() => void tell("kill-server"));

  test("answers come word by word, Ctrl+C stops one, /quit ends it", async () => {
    const command = `'${process.execPath}' '${program}' --store '${join(folder, "terminal.db")}' --pace 200; echo "ended with $?"; exec cat`;
    tell("new-session", "-d", "-x", "120", "-y", "40", "-s", "weather", command);
    await shown(/new thread weather\nthread weather .*\n>/);
    type("What's the weather in Seattle?");
    await shown(/get_weather \{"city":"Seattle","day":0\}\n.*\nSeattle today/);
    tell("send-keys", "-t", "weather", "C-c");
    await shown(/Seattle today.*\n *stopped\nAgent \(.*, 2 steps, ≥ \d+ tokens.*\)\nthread weather · 1 turn.*\n>/);
    expect(screen()).not.toContain("km/h");
    type("What about tomorrow?");
    await shown(
      /Seattle tomorrow.*km\/h\.\nAgent \(.*, 2 steps, \d+ tokens: \d+ in, \d+ out\)\nthread weather · 2 turns.*\n>/,
    );
    type("/quit");
    await shown(/\/quit\n(?:.*\n)*ended with 0\n/);
  });
});
