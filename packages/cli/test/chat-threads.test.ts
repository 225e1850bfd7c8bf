import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { ruleModel } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { runIn } from "./run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-chat-threads-"));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const model = ruleModel([{ name: "count", when: () => true, answer: ({ messages }) => `${messages.length} messages` }]);
const server: { current: LoopbackServer | null } = { current: null };
beforeAll(async () => {
  server.current = await loopbackServer({ model });
});
afterAll(() => server.current?.close());

const chat = (args: readonly string[], piped = "") =>
  runIn({ input: Readable.from([piped]) }, "chat", "--base-url", server.current?.url ?? "", ...args);

describe.each(["threads.db", "threads/"])("in the store %s", (name) => {
  const store = ["--store", at(name)];

  test("--thread begins and continues, new draws an id, --continue takes the newest, --resume one that is there", async () => {
    await chat(["Hi", "--thread", "ada", ...store]);
    await chat(["Hi", "--thread", "bob", ...store]);
    expect((await chat(["Hi", "--continue", ...store])).error).toContain("; thread bob\n");
    expect((await chat(["Hi", "--resume", "ada", ...store])).output).toBe("3 messages\n");
    expect((await chat(["Hi", "--continue", ...store])).error).toContain("; thread ada\n");
    const drawn = await chat(["Hi", "--thread", "new", ...store]);
    expect(drawn.output).toBe("1 messages\n");
    expect(drawn.error).toMatch(/; thread thread-[\w-]{20,}\n/);
  });
});

test("--session keeps its thread in a file, goes on with it, and with the newest of another store", async () => {
  const session = ["--session", at("session.db")];
  expect((await chat(["Hi", ...session])).error).toContain("; thread chat\n");
  expect((await chat([...session], "Hi\nHi\n")).output).toBe("3 messages\n5 messages\n");
  await chat(["Hi", "--thread", "eve", ...session]);
  expect((await chat(["Hi", ...session])).error).toContain("; thread eve\n");
});

const journal = at("thread.jsonl");
writeFileSync(journal, '{"seq":0}\n');
mkdirSync(at("folder"));

test.each([
  [["--continue"], "--continue needs a store that keeps threads: give --store or --session"],
  [["--resume", "ada"], "--resume needs a store"],
  [["--continue", "--store", at("empty.db")], "there is no thread to --continue in the store yet"],
  [["--resume", "ada", "--store", at("empty.db")], "there is no thread ada to --resume; --thread begins one"],
  [["--resume", "--store", at("empty.db")], "--resume needs the id of a thread, since there is no terminal"],
  [["--thread", "a", "--continue"], "--thread and --continue exclude each other"],
  [["--session", at("a.db"), "--store", at("b.db")], "--session and --store exclude each other"],
  [
    ["--session", journal],
    `which is JSON; a session is a SQLite file. Make one of it: colloquy import "${journal}" --store `,
  ],
  [
    ["--session", join(folder, "chat.json")],
    `a session is a SQLite file, not JSON; give --session "${join(folder, "chat.db")}"`,
  ],
  [["--session", at("folder")], "give it as --store, with --continue"],
  [["--store", at("none/threads.db")], `the folder "${at("none")}" does not exist`],
  [["--store", "mysql://ada:secret@127.0.0.1/x"], '--store is a URL of "mysql"'],
  [["--store", "postgres://ada:secret@[/x"], "--store begins with postgres:// and is not a URL"],
  [["--react", "--agent", "a.yaml"], "--react and --agent exclude each other"],
  [["--react"], "--react is about tools, and there are none"],
  [["--quiet", "--verbose"], "--quiet and --verbose exclude each other"],
  [["--approve", "a", "--deny", "a"], "--approve and --deny exclude each other"],
  [["--deny", "chat/1.1.0!approval-1", "--approve", "b"], "exclude each other"],
  [["--reason", "no"], "--reason says why a call is denied"],
  [["--keys", "vim"], "there is no keymap vim; there are standard, seed"],
  [["--theme", "pink"], "there is no theme pink; there are dark, light, monochrome"],
  [["--allow-tools"], "--allow-tools is about the tools of an agent or of MCP servers"],
  [["--tools", at("none.mjs")], `--tools ${at("none.mjs")}: the module`],
  [["--tools", journal], "its default export must be tools that tool({ … }) made"],
  [["--mcp", "colloquy-no-such-command"], "--mcp colloquy-no-such-command: "],
  [["--mcp", "files=http://127.0.0.1:1/mcp?key=secret"], "--mcp files: "],
])("what can't be is refused before anything is asked: %j", async (args, problem) => {
  const question = args.includes("--approve") || args.includes("--deny") ? [] : ["Hi"];
  const { exitCode, output, error } = await chat([...question, ...args]);
  expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
  expect(error).toContain(problem);
  expect(error).not.toContain("secret");
});

test.each([
  ["--base-url", "ada:secret-words@server/v1"],
  ["--base-url", "http://ada:secret@[bad"],
  ["--base-url", "ftp://ada:secret@server"],
  ["--mcp", "https://ada:secret@127.0.0.1:1/mcp"],
  ["--mcp", "HTTPS://ada:sec@ret@127.0.0.1:1/mcp"],
  ["--store", "postgres:ada:secret@server"],
  ["--store", "postgres+ssl://ada:secret@server/x"],
  ["--store", "POSTGRES://ada:sec@ret@server/x"],
  ["--store", "other:ada:secret@server/x"],
  ["--session", "redis:ada:secret@server"],
])("what can't be used of %s is named without user and password: %s", async (option, value) => {
  const { exitCode, output, error } = await chat(["Hi", option, value]);
  expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
  expect(error).not.toMatch(/ada|sec|ret@/);
});

test("servers that are not there are named without user and password", async () => {
  for (const store of ["postgres://ada:secret@127.0.0.1:1/x", "redis://ada:secret@127.0.0.1:1"]) {
    const { exitCode, output, error } = await chat(["Hi", "--store", store]);
    expect({ output, known: exitCode === 1 || exitCode === 2 }).toEqual({ output: "", known: true });
    expect(error).toContain("127.0.0.1:1");
    expect(error).not.toContain("secret");
  }
});

describe("in a terminal", () => {
  const terminals: PassThrough[] = [];
  afterEach(() => terminals.splice(0).forEach((stream) => stream.destroy()));

  /** Runs a chat at a terminal, and types each answer when it is asked for. */
  const typing = async (
    args: readonly string[],
    answers: readonly (readonly [prompt: string, typed: string | (() => void)])[],
    signal = new AbortController().signal,
    columns?: number,
  ) => {
    const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { columns })];
    terminals.push(input, output);
    let shown = "";
    const left = [...answers];
    output.setEncoding("utf8").on("data", (piece: string) => {
      shown += piece;
      const [next] = left;
      if (next === undefined || !shown.includes(next[0])) return;
      left.shift();
      shown = "";
      if (typeof next[1] === "string") input.write(next[1]);
      else next[1]();
    });
    const setting = {
      input,
      output,
      isTerminal: true,
      signal,
      environment: { NO_COLOR: "1", TERM: "dumb", OPENAI_BASE_URL: server.current?.url ?? "" },
    };
    const all: string[] = [];
    output.on("data", (piece: string) => all.push(piece));
    const { exitCode } = await runIn(setting, ...args);
    return { exitCode, shown: all.join(""), left };
  };

  test("colloquy without arguments begins a conversation, and names its model and thread", async () => {
    const { exitCode, shown, left } = await typing(
      [],
      [
        ["> ", "Hi\r"],
        ["1 messages", "/quit\r"],
      ],
    );
    expect({ exitCode, left }).toEqual({ exitCode: 0, left: [] });
    expect(shown).toMatch(/gpt-4o-mini at http:.*; nothing is kept \(--store FILE would\)/);
    expect(shown).toContain("new thread chat");
  });

  test("a terminal that does not know its width has its first lines unbroken", async () => {
    const { shown } = await typing([], [["> ", "/quit\r"]], undefined, 0);
    expect(shown).toMatch(/gpt-4o-mini at http:.*; nothing is kept \(--store FILE would\)/);
  });

  test("--resume without an id offers the threads, the newest first", async () => {
    const store = ["--store", at("offered.db")];
    await chat(["About tea", "--thread", "tea", ...store]);
    await chat(["About cake", "--thread", "cake", ...store]);
    const { exitCode, shown } = await typing(
      ["chat", "--resume", ...store],
      [
        ["Which one? 1 to 2: ", "7\r"],
        ["Which one? 1 to 2: ", "2\r"],
        ["> ", "/quit\r"],
      ],
    );
    expect(exitCode).toBe(0);
    expect(shown).toMatch(/1 {2}cake .*About cake[^]*2 {2}tea .*About tea/);
    expect(shown).toContain("continuing thread tea");
  });

  test("--resume without an id names a thread by its first question: one before its turns, and none that was undone", async () => {
    const path = at("named.db");
    const store = sqliteStore({ path });
    const host = createHost({ store, llm: model });
    await host.thread("begun").start({ seed: [{ role: "user", content: "About bread" }] });
    await host.ask("About jam", { threadId: "begun" });
    await host.ask("About milk", { threadId: "undone" });
    await host.thread("undone").undo();
    await host.ask("About soup", { threadId: "undone" });
    await host.close();
    await store.close();
    const { shown } = await typing(["chat", "--resume", "--store", path], [["Which one? 1 to 2: ", "\u0003"]]);
    expect(shown).toMatch(/undone .*About soup[^]*begun .*About bread/);
  });

  test.each([
    ["Ctrl+C", "\u0003"],
    ["Ctrl+D", "\u0004"],
  ])("%s where a thread is chosen ends it, and nothing was wrong", async (_, key) => {
    const store = ["--store", at("left.db")];
    await chat(["About tea", "--thread", "tea", ...store]);
    const { exitCode, shown } = await typing(["chat", "--resume", ...store], [["Which one? 1 to 1: ", key]]);
    expect(exitCode).toBe(130);
    expect(shown).toContain("Which one?");
  });

  test("a signal where a thread is chosen ends it", async () => {
    const store = ["--store", at("left.db")];
    const ending = new AbortController();
    const typed = typing(
      ["chat", "--resume", ...store],
      [["Which one? 1 to 1: ", () => ending.abort("SIGTERM")]],
      ending.signal,
    );
    expect((await typed).exitCode).toBe(130);
  });

  test("--multi-turn stays after the question", async () => {
    const { shown, left } = await typing(
      ["chat", "One", "--multi-turn"],
      [
        ["> ", "Two\r"],
        ["3 messages", "/quit\r"],
      ],
    );
    expect(left).toEqual([]);
    expect(shown).toMatch(/1 messages\n[^]*3 messages/);
  });
});
