import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { program, TerminalProcess } from "../kit/terminal-process.ts";

/** The ways to end a program: the typed line or the signal. */
const endings = {
  "a key throws": "throw\r",
  "an error that nobody catches": "later\r",
  "process.exit": "exit 3\r",
  SIGTERM: "SIGTERM",
  "SIGTERM within a view": "view\r",
} as const;

describe("the terminal is as it was before, whatever the end", () => {
  const shell = new TerminalProcess(["bash", "--norc", "--noprofile", "-i"], { env: { PS1: "$ ", HISTFILE: "" } });
  let runs = 0;

  /** Runs a command line that then prints the terminal's state. */
  const run = (line: string): void => {
    runs++;
    shell.type(
      `${line}; echo "left $((${runs}))"; stty -a | tr ' ;' '\\n' | grep -E '^-?(icanon|echo|isig)$' | tr '\\n' ' '; echo tty\r`,
    );
  };

  const begun = async (): Promise<void> => {
    run(`RUN=${runs + 1} ${program.join(" ")}`);
    await shell.until(`idle ${runs}`);
    expect(shell.cells.terminal.modes.bracketedPasteMode).toBe(true);
  };

  const expectRestored = async (): Promise<void> => {
    await shell.until(leftBy(runs));
    expect(leftBy(runs).exec(shell.cells.screen().join("\n"))?.[1]).toBe("isig icanon echo tty");
    expect(shell.cells.isAlternate).toBe(false);
    const { raw } = shell.cells;
    const since = raw.slice(raw.lastIndexOf("\x1b[>1u"));
    expect(since).toContain("\x1b[<u");
    expect(raw.split("\x1b[>1u")).toHaveLength(raw.split("\x1b[<u").length);
    expect(since).toContain("\x1b[?2004l");
    expect(since.lastIndexOf("\x1b[?25h")).toBeGreaterThan(since.lastIndexOf("\x1b[?25l"));
  };

  const pidOf = async (): Promise<number> => {
    shell.type("pid\r");
    await shell.until(new RegExp(`pid of ${runs}=\\d+`));
    return Number(new RegExp(`pid of ${runs}=(\\d+)`).exec(shell.cells.screen().join("\n"))?.[1]);
  };

  beforeAll(() => shell.until("$"));
  afterAll(() => shell.kill());

  test.each(Object.entries(endings))("%s", { timeout: 120_000 }, async (name, typed) => {
    await begun();
    if (name.startsWith("SIGTERM")) {
      const pid = await pidOf();
      if (typed !== "SIGTERM") {
        shell.type(typed);
        await shell.until(() => shell.cells.isAlternate);
      }
      process.kill(pid, "SIGTERM");
    } else shell.type(typed);
    await expectRestored();
  });

  test(
    "Ctrl+Z gives the terminal to the shell, fg takes it back, and the person quits",
    { timeout: 120_000 },
    async () => {
      await begun();
      shell.type("before\r");
      await shell.until("asked before");
      shell.type("\x1a");
      await shell.until("Stopped");
      await expectRestored();
      run("fg");
      await shell.until("was stopped");
      shell.type("after\r");
      await shell.until("asked after");
      const before = shell.cells.raw.length;
      shell.type("suspend\r");
      await shell.until("the editor has the terminal");
      // Earlier keys go to the editor.
      await shell.until(() => shell.cells.raw.slice(before).includes("\x1b[>1u"));
      shell.type("\x04");
      await shell.until("ended");
      await expectRestored();
      expect(shell.cells.screen().filter((row) => row.startsWith("asked before"))).toHaveLength(1);
    },
  );

  test("a program that another one stopped takes the terminal back from the shell", { timeout: 120_000 }, async () => {
    await begun();
    process.kill(await pidOf(), "SIGSTOP");
    await shell.until(leftBy(runs));
    const before = shell.cells.raw.length;
    run("fg");
    await shell.until(() => shell.cells.raw.slice(before).includes("\x1b[>1u"));
    shell.type("after\r");
    await shell.until("asked after");
    shell.type("\x04");
    await expectRestored();
  });
});

/** Matches the terminal's state after this run, and the prompt below it. The screen has earlier runs as well. */
const leftBy = (run: number): RegExp => new RegExp(`^left ${run}\\n(.* tty)\\n\\$`, "m");

test("where no shell had the terminal meanwhile, nothing is left of what was drawn", { timeout: 120_000 }, async () => {
  const terminal = new TerminalProcess(program);
  try {
    await terminal.until("idle");
    terminal.type("typed");
    await terminal.until("> typed");
    const drawn = terminal.cells.raw.length;
    process.kill(terminal.pid, "SIGSTOP");
    process.kill(terminal.pid, "SIGCONT");
    await terminal.until(() => terminal.cells.raw.slice(drawn).includes("\x1b[?2004h"));
    terminal.type("!");
    await terminal.until("> typed!");
    expect(terminal.cells.screen().filter((row) => row.startsWith("> "))).toEqual(["> typed!"]);
  } finally {
    terminal.kill();
  }
});
