import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fails, reply, ruleModel, scriptedModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, expect, test } from "vitest";
import { runIn } from "./run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-cli-"));

afterAll(() => rmSync(folder, { recursive: true }));

const run = ({ args, environment = {}, questions = [] }: Run) =>
  runIn({ environment, input: Readable.from(questions.map((question) => `${question}\n`)) }, ...args);

interface Run {
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly questions?: readonly string[];
}

test("--version is that of the package; without a command there is help", async () => {
  expect((await run({ args: ["--version"] })).output).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  expect((await run({ args: [] })).output).toContain("colloquy chat");
});

test.each([
  [["chta"], 'there is no command "chta" (did you mean chat?). Run'],
  [["nonsense"], 'there is no command "nonsense". Run'],
  [["threads", "now"], 'threads takes options alone, and "now" is none; a store is named by --store'],
  [["chat", "--speed", "9"], "there is no option --speed; chat has --thread, --store, "],
  [["chat", "--modle", "a"], "there is no option --modle (did you mean --model?); chat has --thread, "],
  [["--speed"], "there is no option --speed. Run"],
  [["chat", "-x"], "there is no option -x; chat has"],
  [["chat", "--thread"], "--thread needs a value"],
  [["chat", "--thread", "--model"], "--thread needs a value; one that begins with a dash is written --thread=-"],
  [["--help=yes"], "--help takes no value"],
])("invalid arguments are refused: %j", async (args, message) => {
  const { exitCode, error, output } = await run({ args });
  expect(exitCode).toBe(2);
  expect(error).toContain(message);
  expect(error).toContain("colloquy --help");
  expect(output).toBe("");
});

test("a chat without a server names the variable to set", async () => {
  const { exitCode, error } = await run({ args: ["chat"], environment: { OPENAI_API_KEY: "" } });
  expect(exitCode).toBe(2);
  expect(error).toContain("set OPENAI_API_KEY");
});

test("an invalid window is refused before anything is opened", async () => {
  const { exitCode, error } = await run({ args: ["chat", "--base-url", "http://127.0.0.1:1", "--window", "8k"] });
  expect(exitCode).toBe(2);
  expect(error).toContain('--window is "8k"; it must be a whole number of 1 or more, such as 128000');
});

test("a chat within a window summarises older turns when it fills, and continues", async () => {
  const model = ruleModel([
    { name: "sum up", when: ({ system }) => system !== "", answer: () => "They counted." },
    { name: "count", when: () => true, answer: () => "one two three four five six seven eight ".repeat(10) },
  ]);
  await using server = await loopbackServer({ model });
  const args = ["chat", "--base-url", server.url, "--window", "800"];
  const questions = Array.from({ length: 8 }, (_, index) => `count ${index}`);
  const { exitCode, error } = await run({ args, questions });
  expect(exitCode).toBe(0);
  expect(error).toContain("the model's window is filling up: 11 messages, about ");
  expect(JSON.stringify(server.requests.at(-1)?.body)).toMatch(
    /Earlier in this conversation:\\n\[Turns? 1( to \d)?\] They counted/,
  );
});

test("a chat talks to the server of the environment, with its key, and shows no secret", async () => {
  await using server = await loopbackServer({
    model: scriptedModel([reply("Hello.")]),
    apiKey: "sk-secret-0123456789",
  });
  const { exitCode, output, error } = await run({
    args: ["chat", "--model", "small", "--system", "Be brief."],
    environment: { OPENAI_API_KEY: "sk-secret-0123456789", OPENAI_BASE_URL: server.url },
    questions: ["Hi"],
  });
  expect(output).toBe("Hello.\n");
  expect(error).toContain(`small at ${server.url}; nothing is kept`);
  expect(error).not.toContain("secret");
  expect(exitCode).toBe(0);
  expect(server.requests[0]?.body).toMatchObject({
    model: "small",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ],
  });
});

test("the next run continues a stored chat, with a new system prompt if given", async () => {
  const model = ruleModel([
    { name: "count", when: () => true, answer: ({ messages, system }) => `${messages.length} messages, "${system}"` },
  ]);
  await using server = await loopbackServer({ model });
  const args = ["chat", "--base-url", server.url, "--store", join(folder, "chat.db"), "--thread", "kept"];
  const first = await run({ args: [...args, "--system", "One."], questions: ["a", "b"] });
  expect(first.output).toBe('2 messages, "One."\n4 messages, "One."\n');
  const second = await run({ args, questions: ["c"] });
  expect(second.output).toBe('6 messages, "One."\n');
  const third = await run({ args: [...args, "--system", "Two."], questions: ["d"] });
  expect(third.output).toBe('8 messages, "Two."\n');
});

test("a turn that failed makes the exit code of a pipe 1", async () => {
  await using server = await loopbackServer({
    model: scriptedModel([fails({ kind: "bad_request", status: 400 }), reply("Yes.")]),
  });
  const { exitCode, output, error } = await run({
    args: ["chat", "--base-url", server.url],
    questions: ["a", "b"],
  });
  expect(error).toMatch(/error: the model call failed \(bad_request\): .*\n/);
  expect(output).toBe("Yes.\n");
  expect(exitCode).toBe(1);
});
