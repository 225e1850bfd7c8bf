import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Action, keymaps } from "@colloquy/cli/terminal";
import type { LoopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytesOf } from "./bytes-of-keys.ts";
import { chatServer } from "./chat-server.ts";
import { Shell } from "./shell.ts";
import { toolsModule } from "./tools-module.ts";

const paste = (text: string): string => `\x1b[200~${text}\x1b[201~`;
const [up, home, pageUp, wordLeft] = [bytesOf("up"), bytesOf("home"), bytesOf("pageup"), bytesOf("ctrl+left")];

/** By action: the keys before its key, and the rows of the input after an X is typed. */
const edits: Partial<Record<Action, readonly [typed: readonly string[], rows: readonly string[]]>> = {
  left: [["ab"], ["aXb"]],
  right: [["ab", home], ["aXb"]],
  up: [[paste("ab\ncd")], ["abX", "cd"]],
  down: [
    [paste("ab\ncd"), up],
    ["ab", "cdX"],
  ],
  pageUp: [[paste("ab\ncd\nef")], ["abX", "cd", "ef"]],
  pageDown: [
    [paste("ab\ncd\nef"), pageUp],
    ["ab", "cd", "efX"],
  ],
  wordLeft: [["ab cd"], ["ab Xcd"]],
  wordRight: [["ab cd", home], ["abX cd"]],
  lineStart: [[paste("ab\ncd")], ["ab", "Xcd"]],
  lineEnd: [
    [paste("ab\ncd"), up, home],
    ["abX", "cd"],
  ],
  inputStart: [[paste("ab\ncd")], ["Xab", "cd"]],
  inputEnd: [
    [paste("ab\ncd"), up],
    ["ab", "cdX"],
  ],
  deleteBackward: [["ab"], ["aX"]],
  deleteForward: [["ab", home], ["Xb"]],
  deleteForwardOrQuit: [["ab", home], ["Xb"]],
  deleteWordBackward: [["ab cd"], ["ab X"]],
  deleteWordForward: [["ab cd", home], ["X cd"]],
  killToLineStart: [["ab cd", wordLeft], ["Xcd"]],
  killToLineEnd: [["ab cd", wordLeft], ["ab X"]],
  clearInput: [["ab cd", wordLeft], ["X"]],
  yank: [["ab cd", bytesOf("ctrl+w")], ["ab cdX"]],
};

type Effect = (shell: Shell, key: string) => Promise<void>;

const edit =
  (action: Action): Effect =>
  async (shell, key) => {
    const [typed, rows] = edits[action] ?? [[], []];
    shell.terminal.type(...typed, bytesOf(key), "X");
    await shell.untilInput(...rows);
    await cleared(shell);
  };

const cleared = async (shell: Shell): Promise<void> => {
  shell.press("ctrl+c");
  await shell.untilInput("");
};

const view = async (shell: Shell, key: string, shows: RegExp): Promise<void> => {
  await shell.pressUntil(key, shows);
  expect(shell.terminal.cells.isAlternate).toBe(true);
  shell.press("escape");
  await shell.terminal.until(() => !shell.terminal.cells.isAlternate);
};

/** Starts an answer that does not end by itself. Returns a pattern of the screen after it was stopped. */
const answering = async (shell: Shell): Promise<RegExp> => {
  const question = `never ${times(shell, "> never") + 1}`;
  await shell.enter(question, /^It will\n[^]*answers, Esc stops$/m);
  return new RegExp(`^> ${question}\nIt will\n {2}stopped\nAgent `, "m");
};

const times = (shell: Shell, text: string): number =>
  shell.terminal.cells.lines().filter((line) => line.includes(text)).length;

/** By action, a check of its key's effect. All leave an empty input and no answer under way. */
const effects: Partial<Record<Action, Effect>> = {
  send: async (shell, key) => {
    await shell.type("Hi");
    await shell.pressUntil(key, /^Hi, \d+ messages\nAgent \(/m);
  },
  completeOrQueue: async (shell, key) => {
    await shell.type("/und");
    shell.press(key);
    await shell.untilInput("/undo");
    await cleared(shell);
    const stopped = await answering(shell);
    await shell.type("And then?");
    await shell.pressUntil(key, /^> And then\? {2}\(queued: Up takes it back\)\n.*1 queued$/m);
    shell.press("up");
    await shell.untilInput("And then?");
    shell.press("ctrl+u");
    await shell.pressUntil("escape", stopped);
  },
  completeBackward: async (shell, key) => {
    await shell.type("/");
    shell.press(key);
    await shell.untilInput("/quit");
    await cleared(shell);
  },
  newline: async (shell, key) => {
    await shell.type("ab");
    shell.press(key);
    await shell.untilInput("ab", "");
    shell.terminal.type("X");
    await shell.untilInput("ab", "X");
    await cleared(shell);
  },
  closeOrStop: async (shell, key) => {
    await shell.pressUntil(key, await answering(shell));
    await shell.pressUntil(key, /^Esc again shows the tree$/m);
    await view(shell, key, /^Tree of keys/);
  },
  interrupt: async (shell, key) => {
    await shell.type("ab");
    shell.press(key);
    await shell.untilInput("");
  },
  newThread: async (shell, key) => {
    await shell.type("ab");
    await shell.pressUntil(key, /new thread thread-/);
    await cleared(shell);
  },
  newThreadWhenEmpty: async (shell, key) => {
    await edited(shell, "ab", key, "abX");
    await shell.pressUntil(key, /new thread thread-/);
  },
  reset: async (shell, key) => {
    await shell.pressUntil(key, /^ {2}the thread begins again, with its first system prompt/m);
  },
  searchHistoryOrReset: async (shell, key) => {
    await shell.pressUntil(key, /^search:$/m);
    shell.terminal.type("ev");
    await shell.until(/^search: ev\nnever 2$/m);
    shell.press("enter");
    await shell.untilInput("never 2");
    await cleared(shell);
    await shell.pressUntil(key, /^search:$/m);
    await shell.pressUntil(key, /^ {2}the thread begins again, with its first system prompt/m);
  },
  editElsewhere: async (shell, key) => {
    await shell.type("ab");
    shell.press(key);
    await shell.untilInput("ab, and more");
    await cleared(shell);
  },
  toolDetails: async (shell, key) => {
    await shell.enter("look Oslo", /^ {2}└ rain, .*…\nIt is rain[^]*Agent/m);
    await shell.pressUntil(key, /└ [rain,\s]*and wind in Oslo\n/);
    const before = times(shell, "…");
    shell.press(key);
    await shell.terminal.until(() => times(shell, "…") > before);
  },
  transcript: (shell, key) => view(shell, key, /^Transcript of /),
  reprint: async (shell, key) => {
    const before = times(shell, "It is rain");
    shell.press(key);
    await shell.terminal.until(() => times(shell, "It is rain") > before);
  },
  suspend: async (shell, key) => {
    await shell.type("ab");
    await shell.pressUntil(key, /^\[148\]\$$/m);
    expect(shell.terminal.cells.terminal.modes.bracketedPasteMode).toBe(false);
    shell.terminal.type("fg\r");
    await shell.until(/fg\n[^]*\n> ab\n/);
    await cleared(shell);
  },
  quit: async (shell, key) => {
    shell.press(key);
    expect(await shell.left()).toBe(0);
  },
  closeOrStopOrQuit: async (shell, key) => {
    shell.press(key);
    expect(await shell.left()).toBe(0);
  },
};

const edited = async (shell: Shell, typed: string, key: string, row: string): Promise<void> => {
  shell.terminal.type(typed, bytesOf(key), "X");
  await shell.untilInput(row);
  await cleared(shell);
};

const effectOf = (action: Action): Effect => {
  const effect = effects[action] ?? (edits[action] === undefined ? undefined : edit(action));
  if (effect === undefined) throw new Error(`what ${action} does is not seen by any test at a terminal`);
  return effect;
};

describe("each key does at a terminal what its keymap says", () => {
  const servers: LoopbackServer[] = [];
  const shells: Shell[] = [];

  beforeAll(async () => {
    const { server } = await chatServer();
    servers.push(server);
  });
  afterAll(async () => {
    for (const shell of shells) shell.end();
    for (const server of servers) await server.close();
  });

  const begun = async (options: string): Promise<Shell> => {
    const shell = new Shell({ OPENAI_BASE_URL: servers[0]?.url ?? "", EDITOR: "./editor" });
    shells.push(shell);
    writeFileSync(join(shell.folder, "editor"), '#!/bin/sh\nprintf ", and more" >> "$1"\n');
    chmodSync(join(shell.folder, "editor"), 0o700);
    await shell.run(`colloquy chat --thread keys --tools ${toolsModule(shell.folder)} ${options}`, "new thread keys");
    return shell;
  };

  test("the standard one", async () => {
    const shell = await begun("");
    for (const [key, action] of Object.entries(keymaps.standard)) await effectOf(action)(shell, key);
    await shell.pressUntil("ctrl+c", "Ctrl+C again quits");
    shell.press("ctrl+c");
    expect(await shell.left()).toBe(0);
  });

  test("the seed's, where it is another", async () => {
    const shell = await begun("--keys seed");
    const others = Object.entries(keymaps.seed).filter(([key, action]) => keymaps.standard[key] !== action);
    // Quitting comes last.
    for (const [key, action] of others.toSorted(([, one]) => (one === "closeOrStopOrQuit" ? 1 : -1)))
      await effectOf(action)(shell, key);
  });
});
