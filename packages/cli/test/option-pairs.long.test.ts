import { ruleModel } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commands } from "../src/commands.ts";
import { exclusive } from "../src/options.ts";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { at, write } = testFolder();

// Also JSON, for --schema.
const model = ruleModel([{ name: "answer", when: () => true, answer: () => '{"is":"Yes."}' }]);
const server: { current: LoopbackServer | null } = { current: null };
beforeAll(async () => {
  server.current = await loopbackServer({ model });
  for (const store of ["--store", "--session"]) await run(...chat, "--thread", "kept", store, at(`${store}.db`));
});
afterAll(() => server.current?.close());

const chat = ["chat", "Hi?"];
const tools = write(
  "tools.mjs",
  `export default { declaration: { name: "look", description: "", parameters: { type: "object" } }, schema: null, needsApproval: null, run: () => "" };`,
);
const agent = ["--agent", write("agent.yaml", "name: a\ncompression: none\n")];
const store = ["--store", at("--store.db")];
const template = write(
  "format.json",
  JSON.stringify({
    user: { role: "User", role_sep: ":", pre: "", suf: "\n" },
    agent: { role: "Agent", role_sep: ":", pre: "", suf: "\n" },
    system_prompt: { pre: "", suf: "\n" },
    prompt: { pre: "", suf: "" },
  }),
);

/** The arguments that make each option work alone, unless the other option provides what it needs. */
const samples: Readonly<Record<string, readonly string[] | ((other: string) => readonly string[])>> = {
  thread: ["--thread", "kept"],
  store,
  session: ["--session", at("--session.db")],
  continue: (other) => ["--continue", ...(other === "session" ? [] : store)],
  resume: (other) => ["--resume", "kept", ...(other === "session" ? [] : store)],
  "multi-turn": ["--multi-turn"],
  model: ["--model", "m"],
  provider: ["--provider", "openai-responses"],
  "base-url": [],
  template: (other) => ["--template", template, ...(other === "provider" ? [] : ["--provider", "completion"])],
  system: ["--system", "S"],
  window: ["--window", "8000"],
  "max-turns": ["--max-turns", "2"],
  agent,
  "allow-tools": ["--allow-tools", ...agent],
  tools: ["--tools", tools],
  react: (other) => ["--react", ...(other === "tools" ? [] : ["--tools", tools])],
  reason: (other) => ["--reason", "not now", ...(other === "approve" ? [] : ["--deny", "kept/1.1.0!approval-1"])],
  debug: ["--debug"],
  verbose: ["--verbose"],
  quiet: ["--quiet"],
  "no-stream": ["--no-stream"],
  schema: ["--schema", write("answer.json", `{"type":"object"}`)],
  extract: ["--extract"],
  "output-format": ["--output-format", "json"],
  keys: ["--keys", "seed"],
  theme: ["--theme", "light"],
  "screen-reader": ["--screen-reader"],
  "no-color": ["--no-color"],
  approve: ["--approve", "kept/1.1.0!approval-1"],
  deny: ["--deny", "kept/1.1.0!approval-1"],
};

/** The options without `mcp`: it starts a server each time, and has its own test. */
const names = Object.keys(commands["chat"]?.options ?? {}).filter((name) => name !== "mcp");

test("there is a sample of each option", () => {
  expect(Object.keys(samples).toSorted()).toEqual(names.toSorted());
});

const given = (option: string, other: string): readonly string[] => {
  const sample = samples[option] ?? [];
  return typeof sample === "function" ? sample(other) : sample;
};

/** Returns the problem of two options together, or null. */
const problemOf = async (one: string, other: string): Promise<string | null> => {
  const args = [...given(one, other), ...given(other, one), "--base-url", server.current?.url ?? ""];
  const answers = args.includes("--approve") || args.includes("--deny");
  const { exitCode, error, output } = await run("chat", ...(answers ? [] : ["Hi?"]), ...args);
  const there = Object.keys(samples).filter((name) => args.includes(`--${name}`));
  const excluded = exclusive.some((pair) => pair.every((name) => there.includes(name)));
  const named = there.filter((name) => error.includes(`--${name}`)).length > 1;
  const works = exitCode === 0 && output.includes("Yes.") && !excluded;
  const refused = exitCode === 2 && output === "" && named;
  // No call waits here.
  const answered = answers && !excluded && error.includes("waits for approval as kept/1.1.0!approval-1");
  return works || refused || answered ? null : `--${one} and --${other}: ${exitCode}, ${output}, ${error}`;
};

test.each(names)("--%s works with any other option, or both are named", async (one) => {
  const problems: (string | null)[] = [];
  for (const other of names.slice(names.indexOf(one) + 1)) problems.push(await problemOf(one, other));
  expect(problems.filter((problem) => problem !== null)).toEqual([]);
});
