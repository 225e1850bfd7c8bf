import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";
import { expect, test } from "vitest";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder } = testFolder();

/** An MCP server with two tools, of which one claims to be read-only, and a third that can't be declared. */
const script = join(folder, "a server.mjs");
writeFileSync(
  script,
  `import { createInterface } from "node:readline";
const tool = (name, readOnlyHint) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint } });
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools: [tool("look", true), tool("touch", false), { name: "odd", inputSchema: 4 }] }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: name + "ed in " + process.argv[2] }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  if (id === undefined) return;
  const error = { code: -32601, message: "no such method" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(answer === undefined ? { error } : { result: answer(params) }) }));
});
`,
);
const command = `${process.execPath} "${script}" 'the house'`;

/** Calls the tool that the user names. */
const model = ruleModel([
  {
    name: "done",
    when: ({ last }) => last?.role === "tool",
    answer: ({ toolResults }) => `It ${toolResults[0]?.text}.`,
  },
  { name: "call", when: () => true, answer: ({ lastUserText }) => toolCalls([{ name: lastUserText, arguments: {} }]) },
]);

const chat = (server: LoopbackServer, ...args: readonly string[]) => run("chat", "--base-url", server.url, ...args);

test("tools of an MCP server run if they are allowed or approved, whatever the server claims of them", async () => {
  await using server = await loopbackServer({ model });
  for (const tool of ["look", "touch"])
    expect(await chat(server, tool, "--mcp", command)).toMatchObject({ exitCode: 4, output: "" });
  const looked = await chat(server, "look", "--mcp", command, "--allow-tools");
  expect(looked).toMatchObject({ exitCode: 0, output: "It looked in the house.\n" });
  expect(looked.error).toMatch(/the tool odd of .* is left out: /);
  const quiet = await chat(server, "look", "--mcp", command, "--allow-tools", "--quiet");
  expect(quiet).toMatchObject({ exitCode: 0, output: "It looked in the house.\n", error: "" });
  const allowed = await chat(server, "touch", "--mcp", command, "--allow-tools");
  expect(allowed).toMatchObject({ exitCode: 0, output: "It touched in the house.\n" });
});

test("two servers with tools of one name need names", async () => {
  await using server = await loopbackServer({ model });
  const refused = await chat(server, "look", "--mcp", command, "--mcp", command);
  expect(refused).toMatchObject({ exitCode: 2, output: "" });
  expect(refused.error).toContain(
    'two tools are named "look": leave one of the --tools out, or put a name before one of the servers: --mcp NAME=…',
  );
  const named = await chat(server, "b_look", "--mcp", command, "--mcp", `b=${command}`, "--allow-tools");
  expect(named).toMatchObject({ exitCode: 0, output: "It looked in the house.\n" });
});

test("--react has the model say what it knows before it calls tools", async () => {
  await using server = await loopbackServer({ model });
  await chat(server, "look", "--react", "--system", "Be brief.", "--mcp", command, "--allow-tools");
  expect(server.requests[0]?.body).toMatchObject({
    messages: [{ content: expect.stringMatching(/^Be brief\.\n\nBefore each tool call, say/) }, { content: "look" }],
  });
});
