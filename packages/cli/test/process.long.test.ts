import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { never, reply, ruleModel, streams } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "./run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-process-"));
afterAll(() => rmSync(folder, { recursive: true }));

const main = new URL("../src/main.ts", import.meta.url).pathname;

let slow = 0;

/** Begins the first answer to each `slow` question, and never ends it. */
const model = ruleModel([
  {
    name: "slow",
    when: ({ last, lastUserText }) => last?.role === "user" && lastUserText.includes(`slow ${slow}`),
    answer: () => {
      slow++;
      return never({ pieces: ["It ", "was "] });
    },
  },
  {
    name: "long",
    when: ({ lastUserText }) => lastUserText.includes("long"),
    answer: () => streams(Array.from({ length: 2_000 }, () => "word ".repeat(100))),
  },
  { name: "count", when: () => true, answer: ({ messages }) => reply(`${messages.length} messages`) },
]);
const server: { current: LoopbackServer | null } = { current: null };
beforeAll(async () => {
  server.current = await loopbackServer({ model });
});
afterAll(() => server.current?.close());

const { PATH, NODE_COMPILE_CACHE } = process.env;
const kept = { PATH, NODE_COMPILE_CACHE };

const begin = (...args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [...args], {
    env: { ...kept, OPENAI_BASE_URL: server.current?.url, NODE_NO_WARNINGS: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });

const chat = (...args: readonly string[]): ChildProcess => begin(main, "chat", ...args);

const read = (stream: ChildProcess["stdout"]): Promise<string> =>
  stream === null ? Promise.resolve("") : text(stream);

const ended = async (child: ChildProcess) => {
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [output, error] = await Promise.all([read(child.stdout), read(child.stderr)]);
  return { exitCode: await exit, output, error };
};

/** Resolves when the output has a text. */
const shown = (child: ChildProcess, words: string): Promise<void> =>
  new Promise((resolve) => {
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
      if (output.includes(words)) resolve();
    });
  });

/** Runs a chat within this process. */
const ask = (...args: readonly string[]) => run("chat", "--base-url", server.current?.url ?? "", ...args);

/** The file to which the hook writes the modules that a process loads. */
const loaded = join(folder, "loaded");
const hook = join(folder, "hook.mjs");
writeFileSync(
  hook,
  `import { registerHooks } from "node:module";
import { writeFileSync } from "node:fs";
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
process.once("exit", () => writeFileSync(${JSON.stringify(loaded)}, loaded.join("\\n")));
`,
);

/** Returns the packages, and our rooms, of which a process with that hook loaded a module. */
const packagesLoaded = (): readonly string[] => {
  const urls = readFileSync(loaded, "utf8").split("\n");
  const name =
    /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)|\/packages\/([^/]+(?:\/src\/(?:agents|datasets|mcp|terminal)\/)?)/;
  return [...new Set(urls.map((url) => name.exec(url)).flatMap((found) => found?.[1] ?? found?.[2] ?? []))];
};

describe("a process", () => {
  test("that gets SIGINT cancels its answer, keeps what came, and ends with 130", async () => {
    const store = ["--store", join(folder, "interrupted.db")];
    const child = chat(`slow ${slow}`, "--output-format", "stream-json", ...store);
    const exit = ended(child);
    await shown(child, "was ");
    child.kill("SIGINT");
    expect(await exit).toMatchObject({ exitCode: 130, error: expect.stringMatching(/cancelled\n$/) });
    // The question, the shown part of the answer, and the next question.
    expect((await ask("Hi", ...store)).output).toBe("3 messages\n");
  });

  test("that answers loads neither the screen nor what it does not use, and SIGTERM ends it as well", async () => {
    const child = begin("--import", hook, main, "chat", `slow ${slow}`, "--output-format", "stream-json", "--quiet");
    const exit = ended(child);
    await shown(child, "was ");
    child.kill("SIGTERM");
    expect(await exit).toMatchObject({ exitCode: 130 });
    expect(packagesLoaded()).toEqual(expect.arrayContaining(["cli/src/terminal/", "runtime-node", "openai"]));
    const unused = ["sessions/src/datasets/", "sessions/src/agents/", "runtime-node/src/mcp/"];
    for (const name of [...unused, "ink", "react", "yaml", "ai", "pg", "redis"])
      expect(packagesLoaded()).not.toContain(name);
  });

  test("whose output nobody reads any more ends quietly", async () => {
    const child = chat("long", "--output-format", "stream-json", "--quiet");
    const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
    const errors = read(child.stderr);
    await shown(child, "word");
    child.stdout?.destroy();
    expect({ exitCode: await exit, error: await errors }).toEqual({ exitCode: 0, error: "" });
  });

  test("that was killed in the middle of an answer has it made the next time, before the next question", async () => {
    const store = ["--store", join(folder, "killed.db")];
    const child = chat(`slow ${slow}`, "--output-format", "stream-json", ...store);
    const exit = ended(child);
    await shown(child, "was ");
    child.kill("SIGKILL");
    expect((await exit).exitCode).toBeNull();
    const { exitCode, output } = await ask("Hi", "--continue", ...store);
    // The question, its answer, and the next question.
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: "3 messages\n" });
  });

  test("that helps loads no other package, and ends quietly where nobody reads it", async () => {
    const { exitCode, output } = await ended(begin("--import", hook, main, "--help"));
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.stringMatching(/^colloquy: /) });
    expect(packagesLoaded()).toEqual(["cli"]);
    const child = begin(main, "--help");
    const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
    child.stdout?.destroy();
    expect({ error: await read(child.stderr), exitCode: await exit }).toEqual({ error: "", exitCode: 0 });
  });
});
