import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, expect, test } from "vitest";
import { runIn } from "./run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-cli-agent-"));
const agent = join(folder, "agent.yaml");

writeFileSync(
  agent,
  "name: guide\nmodel: large\nmodelParameters: { temperature: 0 }\ninstructions: Guide.\ncompression: none\nsubagents: [./clerk.md]\n",
);
writeFileSync(join(folder, "clerk.md"), "---\nname: clerk\nmodel: small\ncompression: none\n---\nLook things up.\n");

afterAll(() => rmSync(folder, { recursive: true }));

const model = ruleModel([
  {
    name: "clerk",
    when: ({ system }) => system === "Look things up.",
    answer: ({ lastUserText }) => `it is ${lastUserText}`,
  },
  {
    name: "answer",
    when: ({ toolResults }) => toolResults.length > 0,
    answer: ({ toolResults }) => `So ${toolResults[0]?.text}.`,
  },
  {
    name: "ask",
    when: () => true,
    answer: ({ lastUserText }) => toolCalls([{ name: "clerk", arguments: { message: lastUserText } }]),
  },
]);

const chat = (server: LoopbackServer, args: readonly string[], questions: readonly string[] = []) =>
  runIn(
    {
      input: Readable.from(questions.map((question) => `${question}\n`)),
      environment: { OPENAI_MODEL: "other" },
    },
    "chat",
    "--base-url",
    server.url,
    ...args,
  );

const asked = ({ requests }: LoopbackServer): readonly unknown[] => requests.map(({ body }) => body);

test("a chat with an agent follows its file, and shows its subagents' tokens", async () => {
  await using server = await loopbackServer({ model });
  const { exitCode, output, error } = await chat(server, ["--agent", agent], ["tea"]);
  expect(exitCode).toBe(0);
  expect(output).toBe("So it is tea.\n");
  expect(error).toContain(`guide: large at ${server.url}; nothing is kept`);
  expect(error).toMatch(/ {2}clerk \{"message":"tea"\}\n\(.* 2 steps, .*\)\n {2}clerk: 1 call, \d+ tokens\n/);
  expect(asked(server)).toMatchObject([
    { model: "large", temperature: 0, messages: [{ role: "system", content: "Guide." }, { content: "tea" }] },
    { model: "small", messages: [{ role: "system", content: "Look things up." }, { content: "tea" }] },
    { model: "large" },
  ]);
});

test("options of the command line override the file's, also on an existing thread", async () => {
  await using server = await loopbackServer({ model });
  const args = ["--agent", agent, "--store", join(folder, "kept.db")];
  await chat(server, args, ["tea"]);
  const { output, error } = await chat(
    server,
    [...args, "--model", "huge", "--system", "Be brief.", "--window", "4000"],
    ["/undo", "cake"],
  );
  expect(error).toContain("guide: huge at ");
  expect(output).toContain("So it is cake.");
  expect(asked(server).slice(3)).toMatchObject([
    { model: "huge", messages: [{ role: "system", content: "Be brief." }, { content: "cake" }] },
    // The turn before was undone.
    { model: "small", messages: [{}, { content: "cake" }] },
    { model: "huge" },
  ]);
});

test("each problem of an agent is reported in a line, and tools must be allowed", async () => {
  await using server = await loopbackServer({ model });
  const path = join(folder, "wrong.yaml");
  writeFileSync(path, "name: a\nmodle: b\nmodel: 1\n");
  const wrong = await chat(server, ["--agent", path]);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.error.split("\n")).toEqual([
    `${path}:3:8: model is 1; it must be a text`,
    expect.stringContaining(`${path}:2:1: there is no field "modle"; there are version, `),
    `colloquy: the agent in ${path} can't be used`,
    "",
  ]);
  writeFileSync(path, "name: a\ntools: [./tools.mjs#tea]\n");
  const tea =
    '{ declaration: { name: "tea", description: "", parameters: {} }, schema: null, needsApproval: null, run: () => "" }';
  writeFileSync(join(folder, "tools.mjs"), `export const tea = ${tea};`);
  expect((await chat(server, ["--agent", path])).error).toContain(
    `${path}:2:9: tool "./tools.mjs#tea": it is not allowed`,
  );
  expect(await chat(server, ["--agent", path, "--allow-tools"])).toMatchObject({ exitCode: 0 });
  expect((await chat(server, ["--allow-tools"])).error).toContain("--allow-tools is about the tools of an agent");
  expect((await chat(server, ["--agent", join(folder, "none.yaml")])).error).toContain(
    "none.yaml: there is no such file",
  );
});

test("a typed line is the one input of a signature, and its one output is the answer; other signatures are refused", async () => {
  const answers = ruleModel([{ name: "answer", when: () => true, answer: () => '{"answer":"It is tea."}' }]);
  await using server = await loopbackServer({ model: answers });
  const path = join(folder, "signed.yaml");
  writeFileSync(
    path,
    "name: a\ncompression: none\nsignature: { inputs: { question: string }, outputs: { answer: string } }\n",
  );
  const { exitCode, output } = await chat(server, ["--agent", path], ["tea"]);
  expect(exitCode).toBe(0);
  expect(output).toBe("It is tea.\n");
  expect(asked(server)).toMatchObject([{ messages: [{ role: "user", content: 'question: "tea"' }] }]);
  const json = await chat(server, ["--agent", path, "--output-format", "json"], ["tea"]);
  expect(JSON.parse(json.output)).toMatchObject({ answer: "It is tea." });
  writeFileSync(
    path,
    "name: a\nsignature: { inputs: { question: string, n: integer }, outputs: { answer: string } }\n",
  );
  expect((await chat(server, ["--agent", path])).error).toBe(
    'colloquy: the agent "a" takes question: {"type":"string"}, n: {"type":"integer"}; a chat can only give it one text\n',
  );
});

test("a saved DSPy program is refused with one error that names its kind", async () => {
  await using server = await loopbackServer({ model: ruleModel([]) });
  const path = join(folder, "program.json");
  const fields = [{ prefix: "Question:", description: "${question}" }];
  writeFileSync(path, JSON.stringify({ signature: { instructions: "Answer.", fields }, demos: [], lm: null }));
  const { exitCode, error } = await chat(server, ["--agent", path]);
  expect(exitCode).toBe(2);
  expect(error).toMatch(/^colloquy: .*program\.json: this is a program that DSPy saved .*\n$/);
});
