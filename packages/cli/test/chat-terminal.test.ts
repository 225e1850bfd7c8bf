import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runIn } from "./run-command.ts";

const model = ruleModel([
  {
    name: "call",
    when: ({ last, lastUserText }) => last?.role === "user" && lastUserText.includes("look"),
    answer: () => toolCalls([{ name: "look", arguments: { at: "x".repeat(100) } }]),
  },
  { name: "count", when: () => true, answer: ({ messages }) => `${messages.length} messages` },
]);
const server: { current: LoopbackServer | null } = { current: null };
beforeAll(async () => {
  server.current = await loopbackServer({ model });
});
afterAll(() => server.current?.close());

/** Runs a chat at a dumb terminal, and types each line when the prompt is there. */
const typed = async (lines: readonly string[], ...args: readonly string[]): Promise<string> => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = "";
  let prompts = 0;
  output.on("data", (piece: Buffer) => {
    shown += piece.toString();
    const seen = shown.split("> ").length - 1;
    if (seen === prompts || prompts > lines.length) return;
    prompts = seen;
    input.write(`${lines[prompts - 1] ?? "/quit"}\r`);
  });
  const setting = { input, output, isTerminal: true, environment: { NO_COLOR: "1", TERM: "dumb" } };
  const { exitCode } = await runIn(setting, "chat", "--base-url", server.current?.url ?? "", ...args);
  expect(exitCode).toBe(0);
  return shown;
};

test("--multi-turn asks its question within the conversation", async () => {
  const shown = await typed(["And?"], "Hi?", "--multi-turn");
  expect(shown).toMatch(/new thread chat\n1 messages\n\(.*\)\n[^]*3 messages\n/);
});

test("at the end it says how the thread is resumed, if something was said and is kept", async () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-resume-"));
  const store = join(folder, "it's kept.db");
  const url = server.current?.url ?? "";
  const told = (threadId: string): string =>
    `resume with \`colloquy chat --store '${folder}/it'\\''s kept.db' --resume ${threadId} --base-url ${url}\``;
  expect(await typed(["Hi?"], "--store", store)).toContain(told("chat"));
  expect(await typed(["/thread other", "Hi?"], "--store", store)).toContain(told("other"));
  expect(await typed(["/thread empty"], "--store", store)).not.toContain("resume with");
  expect(await typed(["Hi?"])).not.toContain("resume with");
  expect(await typed(["Hi?"], "--store", store, "--quiet")).not.toContain("resume with");
  const session = join(folder, "session.db");
  const given = ["--model", "m", "--system", "Be short.", "--max-turns", "3"];
  expect(await typed(["Hi?"], "--session", session, ...given)).toContain(
    `chat --session ${session} --resume chat --base-url ${url} --model m --system 'Be short.' --max-turns 3\``,
  );
});

test("the command that resumes has no secrets of addresses, and all of a text that has one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-resume-"));
  const url = server.current?.url ?? "";
  const system = "Link to https://example.org/@ada?page=2#top.";
  const given = ["--session", join(folder, "s.db"), "--system", system];
  const shown = await typed(["Hi?"], ...given, "--base-url", `${url}?key=secret`);
  expect(shown).toContain(`--base-url ${url} --system '${system}'\``);
});

test("/model asks another model of the provider, and says which the server lists", async () => {
  const before = server.current?.requests.length ?? 0;
  const shown = await typed(["Hi?", "/model large", "Hi?", "/model"], "--model", "small");
  expect(shown).toContain("the model is large\n");
  expect(shown).toContain("the model is large; there are small, loopback\n");
  expect(server.current?.requests.slice(before).flatMap(({ body }) => Object(body).model ?? [])).toEqual([
    "small",
    "large",
  ]);
});

test("--verbose, --quiet and --debug mean in a conversation what they mean for an answer", async () => {
  const call = `look {"at":"${"x".repeat(100)}"}`;
  expect(await typed(["look"])).not.toContain(call);
  expect(await typed(["look"], "--verbose")).toContain(`${call}\n`);
  const quiet = await typed(["look"], "--quiet");
  expect(quiet).toContain("3 messages\n");
  expect(quiet).not.toContain("gpt-4o-mini");
  expect(quiet).not.toContain("look {");
  expect(await typed(["Hi?"], "--debug")).toMatch(/prompt of turn 1, step 1: 1 messages, .*\n {2}\{.*"Hi\?".*\n/);
});
