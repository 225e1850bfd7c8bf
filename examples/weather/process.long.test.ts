import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { ruleModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "colloquy-weather-"));
const program = join(import.meta.dirname, "main.ts");
const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...withoutServer } = process.env;

afterAll(() => rmSync(folder, { recursive: true }));

interface Run {
  readonly store: string;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Absent if there is no input at all. */
  readonly questions?: readonly string[];
}

const run = async ({ store, args = [], environment = {}, questions }: Run) => {
  const child = spawn(process.execPath, [program, "--store", join(folder, store), ...args], {
    env: { ...withoutServer, ...environment },
    stdio: [questions === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(questions?.map((question) => `${question}\n`).join(""));
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [output, error] = await Promise.all([read(child.stdout), read(child.stderr)]);
  return { exitCode: await exit, output, error };
};

const read = (stream: Readable | null): Promise<string> => (stream === null ? Promise.resolve("") : text(stream));

/** Returns the answer to a question: the lines after it up to its figures, without tool calls. */
const answerTo = (question: string, output: string): string => {
  const [, answer = ""] = output.split(`> ${question}\n`);
  const lines = answer.split("\n");
  const end = lines.findIndex((line) => /^\(.*, \d+ steps?, .*\)$/.test(line));
  return lines
    .slice(0, end)
    .filter((line) => !line.startsWith("  "))
    .join("\n");
};

const questions = ["What's the weather in Seattle?", "What about tomorrow?", "Should I bring an umbrella?"];

test("a question continues the topic before it, also in the next run, but not on a fresh thread", async () => {
  const first = await run({ store: "new/weather.db", questions });
  expect(first).toMatchObject({ exitCode: 0, error: "" });
  expect(first.output).toContain("its rule-based model at http://127.0.0.1:");
  expect(first.output).toContain("new thread weather\n");
  expect(first.output).toMatch(/\nall of its weather is made up, .*; today is \w+day, \d{4}-\d\d-\d\d\n/);
  expect(answerTo(questions[0] ?? "", first.output)).toMatch(/^Seattle today .*: /);
  expect(answerTo(questions[1] ?? "", first.output)).toMatch(/^Seattle tomorrow .*: /);
  expect(answerTo(questions[2] ?? "", first.output)).toMatch(/umbrella in Seattle tomorrow: /);
  expect(first.output).toMatch(/\nthread weather: 3 turns, 6 steps, [\d.]+k tokens in .*\n$/);

  const second = await run({ store: "new/weather.db", questions: ["And in two days?", "What about tomorrow?"] });
  expect(second.output).toMatch(/\ncontinuing thread weather: 3 turns, [\d.]+k tokens\n/);
  expect(answerTo("What about tomorrow?", second.output)).toContain("Seattle");

  const fresh = await run({ store: "new/weather.db", args: ["--new"], questions: ["What about tomorrow?"] });
  expect(fresh.output).toContain("\nnew thread weather-2\n");
  expect(answerTo("What about tomorrow?", fresh.output)).toMatch(/^Which city do you mean\?/);

  const newest = await run({ store: "new/weather.db", questions: ["Oslo, then?"] });
  expect(newest.output).toContain("\ncontinuing thread weather-2: 1 turn, ");

  await run({ store: "new/weather.db", args: ["--thread", "weather"], questions: ["Rome, then?"] });
  const again = await run({ store: "new/weather.db", questions: ["And tomorrow?"] });
  expect(again.output).toContain("\ncontinuing thread weather: 6 turns, ");
});

test("an unknown command from a pipe makes the exit code 1", async () => {
  const { exitCode, output } = await run({ store: "command.db", questions: ["/what", "Thanks!"] });
  expect(exitCode).toBe(1);
  expect(output).toContain("there is no command /what");
  expect(answerTo("Thanks!", output)).toBe("You're welcome!");
});

test("without any input it asks itself, and says so", async () => {
  const { exitCode, output } = await run({ store: "demonstration.db" });
  expect(exitCode).toBe(0);
  expect(output).toContain("this is a demonstration");
  for (const question of questions) expect(answerTo(question, output)).toContain("Seattle");
});

test("with OPENAI_BASE_URL it talks to that server, with the tools, and the exit code reports a failed turn", async () => {
  const model = ruleModel([
    { name: "hot", when: ({ lastUserText }) => /hot/.test(lastUserText), answer: () => "Very." },
  ]);
  await using server = await loopbackServer({ model, models: ["some-model"] });
  const environment = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "some-model" };
  const { exitCode, output } = await run({ store: "other.db", environment, questions: ["Is it hot?", "Is it cold?"] });
  expect(output).toContain(`talking to some-model at 127.0.0.1:${server.port}\n`);
  expect(answerTo("Is it hot?", output)).toBe("Very.");
  expect(answerTo("Is it cold?", output)).toMatch(/^error: the model call failed \(.*no rule is meant for this prompt/);
  expect(exitCode).toBe(1);
  expect(JSON.stringify(server.requests[0]?.body)).toMatch(/"role":"system","content":"[^"]*weather is made up/);
  expect(server.requests[0]?.body).toMatchObject({ tools: [{ function: { name: "get_weather" } }, {}, {}] });
});

test("invalid options are refused in one line", async () => {
  const { exitCode, error } = await run({ store: "refused.db", args: ["--pace", "slow"] });
  expect(exitCode).toBe(1);
  expect(error).toBe('weather: --pace is "slow"; give a whole number of milliseconds\n');
});

test("when asked to end, it cancels the answer, keeps the shown text, and releases the thread", async () => {
  const child = spawn(process.execPath, [program, "--store", join(folder, "ended.db"), "--pace", "200"], {
    env: withoutServer,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stdin.write("What's the weather in Oslo?\n");
  let output = "";
  for await (const piece of child.stdout.setEncoding("utf8")) {
    if (!output.includes("Oslo today") && `${output}${piece}`.includes("Oslo today")) child.kill("SIGTERM");
    output += piece;
  }
  expect(await exit).toBe(1);
  expect(output).toMatch(/Oslo today.*\ncancelled\n.*\nthread weather: 1 turn, /);
  const next = await run({ store: "ended.db", questions: ["What about tomorrow?"] });
  expect(next).toMatchObject({ exitCode: 0 });
  expect(answerTo("What about tomorrow?", next.output)).toContain("Oslo");
});
