import { PassThrough, Readable } from "node:stream";
import { fails, never, reply, ruleModel, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";
import { describe, expect, test } from "vitest";
import type { CommandSetting } from "../src/command-context.ts";
import { runIn } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { at, write } = testFolder();

const asked = ({ requests }: LoopbackServer): readonly unknown[] => requests.map(({ body }) => body);

/** Answers with the number of messages in its prompt, and the last of them. */
const counting = ruleModel([
  {
    name: "count",
    when: () => true,
    answer: ({ messages, lastUserText }) => `${messages.length} messages, ${lastUserText}`,
  },
]);

/** Runs a chat with a server, with input from a pipe and without a terminal. */
const chat = (
  server: { readonly url: string },
  args: readonly string[],
  piped = "",
  setting: Partial<CommandSetting> = {},
) => runIn({ input: Readable.from([piped]), ...setting }, "chat", "--base-url", server.url, ...args);

/** A tool that needs approval. Its result has the text that it wrote. */
const mailer = write(
  "mailer.mjs",
  `export default [{
  declaration: { name: "mail", description: "Sends.", parameters: { type: "object" }, approval: "always" },
  schema: null, needsApproval: null, run: ({ to }) => "sent to " + to,
}];`,
);

const mailing = ruleModel([
  { name: "done", when: ({ last }) => last?.role === "tool", answer: ({ toolResults }) => `${toolResults[0]?.text}.` },
  {
    name: "mail",
    when: () => true,
    answer: () => toolCalls([{ name: "mail", arguments: { to: "ada" } }], { content: "I will." }),
  },
]);

test.each(["quit", "/quit", "QUIT"])(
  "%s in a pipe ends the chat, and the lines after it are not sent",
  async (line) => {
    await using server = await loopbackServer({ model: counting });
    const { exitCode, output } = await chat(server, [], `One?\n${line}\nTwo?\nThree?\n`);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: "1 messages, One?\n" });
    expect(asked(server)).toHaveLength(1);
  },
);

describe("one question", () => {
  test("is answered on the output alone, all else is on the error output", async () => {
    await using server = await loopbackServer({ model: counting });
    const { exitCode, output, error } = await chat(server, ["What", "is", "tea?"]);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: "1 messages, What is tea?\n" });
    expect(error).toMatch(/^gpt-4o-mini at http:.*; nothing is kept .*; thread chat\n\(.* 1 step, .*\)\n$/);
    expect((await chat(server, ["Tea?", "--quiet"])).error).toBe("");
  });

  test("has what comes from the pipe as its attachment, which is text of a bounded size", async () => {
    await using server = await loopbackServer({ model: counting });
    await chat(server, ["Sum up"], "one\ntwo\n");
    expect(asked(server)).toMatchObject([
      {
        messages: [
          {
            content: [
              { type: "text", text: "Sum up" },
              { type: "text", text: "# Attached: standard input\n\none\ntwo\n" },
            ],
          },
        ],
      },
    ]);
    const refused = await chat(server, ["Sum up"], "\0PNG");
    expect(refused).toMatchObject({ exitCode: 2, output: "" });
    expect(refused.error).toContain("what comes from the pipe is binary");
    expect((await chat(server, ["Sum up"], "a".repeat(1_000_001))).error).toContain("more than 1,000,000 bytes");
    expect(server.requests).toHaveLength(1);
  });

  test("--multi-turn goes on with the lines of the pipe", async () => {
    await using server = await loopbackServer({ model: counting });
    const { output } = await chat(server, ["one", "--multi-turn"], "two\nthree\n");
    expect(output).toBe("1 messages, one\n3 messages, two\n5 messages, three\n");
  });

  test("is shown as it comes where a person reads, and whole with --no-stream", async () => {
    const model = ruleModel([{ name: "streams", when: () => true, answer: () => streams(["One ", "two."]) }]);
    await using server = await loopbackServer({ model });
    const written = async (...args: readonly string[]): Promise<readonly string[]> => {
      const pieces: string[] = [];
      const output = new PassThrough();
      output.setEncoding("utf8").on("data", (piece: string) => pieces.push(piece));
      await runIn({ output, outputIsTerminal: true }, "chat", "Count", "--base-url", server.url, ...args);
      return pieces;
    };
    expect(await written("--no-color")).toEqual(["One ", "two.", "\n"]);
    expect(await written("--no-stream")).toEqual(["One two.", "\n"]);
    expect(server.requests.map(({ body }) => Reflect.get(Object(body), "stream"))).toEqual([true, undefined]);
  });

  test("--debug shows the prompt as it was sent, and --verbose what tools were given and gave", async () => {
    await using server = await loopbackServer({ model: counting });
    const { error } = await chat(server, ["Tea?", "--system", "Be brief.", "--debug"]);
    expect(error).toMatch(/prompt of turn 1, step 1: 2 messages, .*\n {2}\{.*"Be brief\.".*\n {2}\{.*"Tea\?".*\n/);
    const tools = write(
      "long.mjs",
      `export default { declaration: { name: "long", description: "", parameters: { type: "object" } }, schema: null, needsApproval: null, run: () => "${"x".repeat(200)}end" };`,
    );
    const model = ruleModel([
      { name: "done", when: ({ last }) => last?.role === "tool", answer: () => "Done." },
      { name: "call", when: () => true, answer: () => toolCalls([{ name: "long", arguments: {} }]) },
    ]);
    await using other = await loopbackServer({ model });
    expect((await chat(other, ["Go", "--tools", tools])).error).not.toContain("xend");
    expect((await chat(other, ["Go", "--tools", tools, "--verbose"])).error).toContain("long completed: xxx");
    expect((await chat(other, ["Go", "--tools", tools, "--verbose"])).error).toContain("xend\n");
  });

  test("--max-turns limits the turns that the model sees; zero shows none", async () => {
    await using server = await loopbackServer({ model: counting });
    const lines = (given: string) => chat(server, ["--max-turns", given], "a\nb\nc\n");
    expect((await lines("0")).output).toBe("1 messages, a\n1 messages, b\n1 messages, c\n");
    expect((await lines("1")).output).toBe("1 messages, a\n3 messages, b\n3 messages, c\n");
    expect(await lines("-1")).toMatchObject({
      exitCode: 2,
      error: 'colloquy: --max-turns is "-1"; it must be a whole number of 0 or more, such as 20\n',
    });
  });
});

describe("the output as JSON", () => {
  test("is one object for each answer", async () => {
    await using server = await loopbackServer({
      model: scriptedModel([reply("Yes."), fails({ kind: "bad_request", status: 400 })]),
    });
    const { output, exitCode } = await chat(server, ["--output-format", "json"], "a\nb\n");
    expect(exitCode).toBe(1);
    const [first, second] = output
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(first).toMatchObject({
      status: "completed",
      answer: "Yes.",
      thread: "chat",
      turn: 1,
      usage: { calls: 1 },
      cost: null,
    });
    expect(second).toMatchObject({
      status: "failed",
      answer: null,
      turn: 2,
      error: expect.stringContaining("bad_request"),
    });
  });

  test("stream-json is a part a line, without control characters, and then the result", async () => {
    const model = ruleModel([{ name: "streams", when: () => true, answer: () => streams(["One\u001b[2J ", "two."]) }]);
    await using server = await loopbackServer({ model });
    const { output } = await chat(server, ["Count", "--output-format", "stream-json"]);
    expect(output).not.toContain("\u001b");
    const parts = output
      .trimEnd()
      .split("\n")
      .map((line): { readonly type: string } => JSON.parse(line));
    expect(parts.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["turn.started", "text.delta", "turn.ended", "result"]),
    );
    expect(parts.at(-1)).toMatchObject({ type: "result", status: "completed", answer: "One\u001b[2J two." });
  });

  test("another format is refused", async () => {
    const { exitCode, error } = await chat({ url: "http://127.0.0.1:1" }, ["a", "--output-format", "xml"]);
    expect(exitCode).toBe(2);
    expect(error).toContain('--output-format is "xml"; it must be one of: text, json, stream-json');
  });
});

describe("exit codes", () => {
  test("3: the window, and a limit", async () => {
    await using server = await loopbackServer({
      model: ruleModel([
        { name: "again", when: () => true, answer: () => toolCalls([{ name: "mail", arguments: {} }]) },
      ]),
    });
    const unfit = await chat(server, ["word ".repeat(500), "--window", "100", "--output-format", "json"]);
    expect(unfit.exitCode).toBe(3);
    expect(JSON.parse(unfit.output)).toMatchObject({ status: "limit", answer: null });
    const free = write(
      "free.mjs",
      `import tools from "./mailer.mjs"; const [{ declaration: { approval, ...declaration }, ...rest }] = tools; export default { ...rest, declaration };`,
    );
    const limited = await chat(server, ["Go", "--react", "--tools", free]);
    expect(limited.exitCode).toBe(3);
    expect(limited.error).toContain("its limit of 10 (steps)");
    expect(limited.output).toBe("");
    expect(server.requests).toHaveLength(10);
  });

  test("4: a call waits for approval, and is answered by another run, or denied", async () => {
    await using server = await loopbackServer({ model: mailing });
    const kept = ["--store", at("mail.db"), "--tools", mailer];
    const waiting = await chat(server, ["Write to Ada", "--output-format", "json", ...kept]);
    expect(waiting.exitCode).toBe(4);
    const { approvals } = JSON.parse(waiting.output) as { approvals: readonly { readonly id: string }[] };
    expect(approvals).toEqual([{ id: "chat/1.1.0!approval-1", name: "mail", arguments: { to: "ada" } }]);
    expect(waiting.error).toContain('waits for approval: mail {"to":"ada"}, as chat/1.1.0!approval-1\n');
    expect(waiting.error).toContain(`--store ${at("mail.db")} and --approve ID, or --deny ID`);
    // A question meanwhile does not wait.
    const behind = await chat(server, ["And now?", ...kept]);
    expect(behind).toMatchObject({ exitCode: 4, output: "" });
    const wrong = await chat(server, ["--approve", "chat/9.9.0!approval-1", ...kept]);
    expect(wrong).toMatchObject({ exitCode: 2, output: "" });
    expect(wrong.error).toContain(
      "no tool call of thread chat waits for approval as chat/9.9.0!approval-1; there are: chat/1.1.0!approval-1",
    );
    const approved = await chat(server, ["--approve", "chat/1.1.0!approval-1", ...kept]);
    expect(approved).toMatchObject({ exitCode: 0, output: "sent to ada.\n" });
    await chat(server, ["Write again", ...kept, "--thread", "other"]);
    const denied = await chat(server, ["--deny", "other/1.1.0!approval-1", "--reason", "not now", ...kept]);
    expect(denied.exitCode).toBe(0);
    expect(denied.output).toMatch(/not approved: not now/);
  });

  test("130: interrupted, and what had come is kept", async () => {
    const ending = new AbortController();
    const model = scriptedModel([never({ pieces: ["It was "] })]);
    await using server = await loopbackServer({ model });
    const output = new PassThrough();
    output.on("data", () => ending.abort("SIGINT"));
    const setting = { output, signal: ending.signal };
    const { exitCode, error } = await chat(server, ["Tell", "--output-format", "stream-json"], "", setting);
    expect(exitCode).toBe(130);
    expect(error).toMatch(/cancelled\n$/);
  });

  test("0: who reads no further has what they wanted", async () => {
    const ending = new AbortController();
    await using server = await loopbackServer({ model: scriptedModel([never({ pieces: ["It was "] })]) });
    const output = new PassThrough();
    output.on("data", () => ending.abort("EPIPE"));
    const { exitCode, error } = await chat(server, ["Tell", "--quiet", "--output-format", "stream-json"], "", {
      output,
      signal: ending.signal,
    });
    expect({ exitCode, error }).toEqual({ exitCode: 0, error: "" });
  });
});

test("--schema has the model asked again until an answer fits", async () => {
  const schema = write("city.json", `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`);
  const model = scriptedModel([reply("Oslo."), reply(`{"city":"Oslo"}`)]);
  const server = await loopbackServer({ model });
  const { output, exitCode } = await chat(server, ["Where?", "--schema", schema, "--quiet"]);
  expect([output, exitCode]).toEqual([`{"city":"Oslo"}\n`, 0]);
  expect(asked(server)).toMatchObject([
    { response_format: { json_schema: { name: "city", schema: { required: ["city"] } } } },
    {},
  ]);
  await server.close();
});

test("a --schema of no object is told to the model in words", async () => {
  const schema = write("number.json", `{"type":"number"}`);
  const server = await loopbackServer({ model: scriptedModel([reply("7")]) });
  expect((await chat(server, ["How many?", "--schema", schema, "--quiet"])).output).toBe("7\n");
  expect(JSON.stringify(asked(server))).toContain("JSON Schema");
  await server.close();
});

test.each([
  ["nonsense", '--schema "FILE" has no JSON Schema; one is an object such as {"type":"object"}'],
  ["[1]", '--schema "FILE" has no JSON Schema'],
])("--schema with %s is refused before anything is asked", async (text, problem) => {
  const schema = write("wrong.json", text);
  const { error, exitCode } = await chat({ url: "http://127.0.0.1:9/v1" }, ["Where?", "--schema", schema]);
  expect(exitCode).toBe(2);
  expect(error).toContain(problem.replace("FILE", schema));
});

test("--extract shows the first block of code of an answer, and an answer without one as it is", async () => {
  const answer = "Like so:\n\n1. Run\n\n   ```sh\n   ls -la\n   ```\n\n```sh\nrm x\n```\n";
  const server = await loopbackServer({ model: scriptedModel([reply(answer), reply(answer), reply("No code.")]) });
  expect((await chat(server, ["How?", "--extract", "--quiet"])).output).toBe("ls -la\n");
  const json = await chat(server, ["How?", "--extract", "--output-format", "json"]);
  expect(JSON.parse(json.output)).toMatchObject({ status: "completed", answer: "ls -la" });
  expect((await chat(server, ["How?", "--extract", "--quiet"])).output).toBe("No code.\n");
  await server.close();
  const screen = await chat(server, ["--extract"], "", { isTerminal: true });
  expect(screen.error).toContain("--extract shows code without a conversation around it");
});

test("files that a question names go along with it, also from a pipe; one that is not there is refused before anything is asked", async () => {
  write("sheep.md", "Buy sheep.");
  const server = await loopbackServer({ model: counting });
  const setting = { folder: at(".") };
  await chat(server, ["What is in @sheep.md?"], "", setting);
  await chat(server, [], "And in @sheep.md?\n", setting);
  const parts = (text: string) => [
    { type: "text", text },
    { type: "text", text: "# Attached: sheep.md\n\nBuy sheep." },
  ];
  expect(asked(server)).toMatchObject([
    { messages: [{ content: parts("What is in @sheep.md?") }] },
    { messages: [{ content: parts("And in @sheep.md?") }] },
  ]);
  const { error, exitCode } = await chat(server, ["And @lost/sheep.md?"], "", setting);
  expect([error, exitCode]).toEqual([expect.stringContaining('there is no file "lost/sheep.md" to attach'), 2]);
  const piped = await chat(server, [], "And @lost/sheep.md?\nHello?\n", setting);
  expect(piped.error).toContain('error: there is no file "lost/sheep.md" to attach');
  expect(piped.output).toContain("messages, Hello?");
  await server.close();
});
