import { execFileSync, spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { program } from "../kit/terminal-process.ts";

const isThere = spawnSync("tmux", ["-V"]).status === 0;

test.skipIf(!isThere)("in tmux (skipped where there is none)", { timeout: 120_000 }, async () => {
  const server = `colloquy-${process.pid}`;
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-L", server, "-f", "/dev/null", ...args], { encoding: "utf8" });
  const until = async (text: string): Promise<string> => {
    for (;;) {
      const screen = tmux("capture-pane", "-p", "-S", "-");
      if (screen.includes(text)) return screen;
      await pause(50);
    }
  };
  tmux("new-session", "-d", "-x", "60", "-y", "12", ...program, ";", "set", "remain-on-exit", "on");
  try {
    await until("idle");
    tmux("send-keys", "-l", "日本");
    tmux("send-keys", "Left", "Enter");
    await until("asked 日本");
    tmux("resize-window", "-x", "40", "-y", "10");
    tmux("send-keys", "-l", "view");
    tmux("send-keys", "Enter");
    await until("row 9");
    tmux("send-keys", "Escape");
    await until("last key escape");
    tmux("send-keys", "C-d");
    expect((await until("ended")).match(/asked 日本/g)).toHaveLength(1);
  } finally {
    tmux("kill-server");
  }
});
