import { join } from "node:path";
import { expect, test } from "vitest";
import { agentFromFile } from "../../src/agents/index.ts";
import { folderOf, problemsIn, problemsOf } from "./agent-files.ts";

/** The file in the docs of DSPy's ConversationalAgent, with a JavaScript tool in place of the Python one. */
const shown = `signature: "question -> answer"
model: "openai/gpt-4o-mini"

tools:
  - tools/search_tool.mjs

compression: verbose
max_context_turns: 30
`;

const toolNamed = (name: string, exported: string): string =>
  `${exported} { declaration: { name: "${name}", description: "", parameters: {} }, schema: null, needsApproval: null, run: () => "found" };`;

const text = (...fields: readonly string[]) => ({
  properties: Object.fromEntries(fields.map((field) => [field, { type: "string" }])),
  required: fields,
});

test("the file that DSPy's ConversationalAgent shows is an agent, called after its file", async () => {
  const folder = folderOf({
    "agent.yaml": shown,
    "tools/search_tool.mjs": `const helper = 1;\n${toolNamed("search", "export const search =")}\nexport { helper };`,
  });
  const agent = await agentFromFile(join(folder, "agent.yaml"), { allowTools: true });
  expect(agent).toMatchObject({
    name: "agent",
    model: "openai/gpt-4o-mini",
    signature: { inputs: text("question"), outputs: text("answer") },
    memory: { maxTurns: 30, compression: "verbose" },
  });
  expect(agent.tools.map(({ declaration }) => declaration.name)).toEqual(["search"]);
});

/** Returns the JSON Schema of lists of a type, nested to this number of levels. */
const listOf = (type: string, levels = 1): object =>
  levels === 0 ? { type } : { type: "array", items: listOf(type, levels - 1) };

test.each([
  ["a -> b", { a: { type: "string" } }, { b: { type: "string" } }],
  ["a,b:int->c : bool", { a: { type: "string" }, b: { type: "integer" } }, { c: { type: "boolean" } }],
  ["a: float, b: number -> c: str", { a: { type: "number" }, b: { type: "number" } }, { c: { type: "string" } }],
  [
    `a: list[list[int]] -> b: Literal["x, y", 'z -> "w"']`,
    { a: { type: "array", items: { type: "array", items: { type: "integer" } } } },
    { b: { type: "string", enum: ["x, y", 'z -> "w"'] } },
  ],
  ["_a1 : string , b->c:list[ bool ]", { _a1: { type: "string" }, b: { type: "string" } }, { c: listOf("boolean") }],
  [`a -> b: ${"list[".repeat(8)}int${"]".repeat(8)}`, { a: { type: "string" } }, { b: listOf("integer", 8) }],
])("the signature %j has the fields and types that DSPy gives it", async (signature, inputs, outputs) => {
  const folder = folderOf({ "agent.yaml": `signature: ${JSON.stringify(signature)}` });
  const { signature: read } = await agentFromFile(join(folder, "agent.yaml"));
  expect([read?.inputs.properties, read?.outputs.properties]).toEqual([inputs, outputs]);
});

const mustBe = (signature: string, message: string): string =>
  `agent.yaml:1:12: signature is ${JSON.stringify(signature)}; it must be ${message}`;

test.each([
  ["question", ["inputs, one arrow and outputs, such as question -> answer"]],
  ["a -> b -> c", ["inputs, one arrow and outputs, such as question -> answer"]],
  ["-> b", ['made of fields such as name or name: type ("" is not one)']],
  [
    "a b, c, c -> d-e",
    [
      'made of fields such as name or name: type ("a b" is not one)',
      'made of fields with different names ("c" is there twice)',
      'made of fields such as name or name: type ("d-e" is not one)',
    ],
  ],
  [
    "a: Foo -> b: Literal[1]",
    [
      'made of types such as str, int, float, bool, list[str] or Literal["a", "b"] (that of "a" is "Foo"); write it as { inputs, outputs } for any other',
      'made of types such as str, int, float, bool, list[str] or Literal["a", "b"] (that of "b" is "Literal[1]"); write it as { inputs, outputs } for any other',
    ],
  ],
])("the signature %j is refused for all that is wrong with it", async (signature, messages) => {
  expect(await problemsOf({ "agent.yaml": `signature: ${JSON.stringify(signature)}` })).toEqual(
    messages.map((message) => mustBe(signature, message)),
  );
});

test.each([
  "Literal[]",
  'Literal["a", b]',
  "Literal[\"a']",
  "list[Foo]",
  "list",
  "List[int]",
  `${"list[".repeat(9)}int${"]".repeat(9)}`,
])("agentFromFile rejects the signature type %s", async (type) => {
  const [problem, ...others] = await problemsOf({ "agent.yaml": `signature: ${JSON.stringify(`a -> b: ${type}`)}` });
  expect([problem, others]).toEqual([expect.stringContaining(`(that of "b" is ${JSON.stringify(type)})`), []]);
});

test("a signature that is nested without end is refused in time", async () => {
  const [problem] = await problemsOf({ "agent.yaml": `signature: "a: ${"list[".repeat(20_000)} -> b"` });
  expect(problem).toMatch(/signature is .*; it must be/);
});

test("a file whose own name cannot name an agent is refused, unless it has the field name", async () => {
  expect(await problemsOf({ "9a.yaml": "model: m" }, "9a.yaml")).toEqual([
    '9a.yaml:1:1: name is missing, and the file is called "9a.yaml", which gives none; it must be a name of at most 64 letters, digits, - and _ that begins with a letter',
  ]);
  expect(await problemsOf({ "9a.yaml": "name: a" }, "9a.yaml")).toEqual([]);
  const folder = folderOf({ "helper.agent.md": "---\n{}\n---\nYou help." });
  expect((await agentFromFile(join(folder, "helper.agent.md"))).name).toBe("helper");
});

test("a tool without an export is the default one, or else the only one", async () => {
  const problemsWith = (module: string): Promise<readonly string[]> =>
    problemsOf({ "agent.yaml": "tools: [t.mjs]", "t.mjs": module }, "agent.yaml", { allowTools: true });
  const [one, two] = [toolNamed("one", "export const one ="), toolNamed("two", "export const two =")];
  expect(await problemsWith(`${one}\n${toolNamed("three", "export default")}`)).toEqual([]);
  expect(await problemsWith(one)).toEqual([]);
  expect(await problemsWith(`${one}\n${two}`)).toEqual([
    'agent.yaml:1:9: tool "t.mjs": its export "default" is missing; its tools are one, two; name one, as in t.mjs#one',
  ]);
  expect(await problemsWith(`${one}\nexport default 3;`)).toEqual([
    'agent.yaml:1:9: tool "t.mjs": its export "default" is not a tool; its tools are one; name one, as in t.mjs#one',
  ]);
});

/** Subagents as in DSPy, each with a file or inline. */
const orchestrator = `signature: "question -> answer"
subagents:
  - name: researcher
    description: "Delegate research to this agent."
    agent:
      signature: "question -> answer"
      tools:
        - tools/search_tool.mjs
      subagents:
        - name: writer
          description: Writes.
          agent: { instructions: You write. }

  - name: math_expert
    description: "Delegate math to this agent."
    agent:
      signature: "question -> answer"
      max_iters: 10

  - name: reader
    description: "Reads."
    agent: ./reader.yaml
`;

test("subagents are written out in the file of their caller, or in files of their own", async () => {
  const folder = folderOf({
    "agent.yaml": orchestrator,
    "reader.yaml": "instructions: You read.",
    "tools/search_tool.mjs": toolNamed("search", "export default"),
  });
  const { subagents } = await agentFromFile(join(folder, "agent.yaml"), { allowTools: true });
  expect(subagents).toMatchObject([
    {
      name: "researcher",
      description: "Delegate research to this agent.",
      memory: "parent",
      agent: {
        name: "researcher",
        file: join(folder, "agent.yaml"),
        signature: { inputs: text("question") },
        tools: [{ declaration: { name: "search" } }],
        subagents: [{ name: "writer", agent: { instructions: "You write." } }],
      },
    },
    { name: "math_expert", agent: { name: "math_expert", limits: { steps: 10 }, tools: [] } },
    { name: "reader", agent: { name: "reader", file: join(folder, "reader.yaml"), instructions: "You read." } },
  ]);
});

test("agents that are written out end at eight levels, and may not lead back to their file", async () => {
  const nested = (levels: number): string =>
    levels === 0 ? "{ model: m }" : `{ subagents: [{ name: a${levels}, agent: ${nested(levels - 1)} }] }`;
  expect(await problemsOf({ "agent.yaml": nested(7) })).toEqual([]);
  expect(await problemsOf({ "agent.yaml": nested(8) })).toEqual([
    expect.stringMatching(/^agent\.yaml:1:\d+: subagent "a1": there are more than 8 levels of agents: agent\.yaml$/),
  ]);
  expect(await problemsOf({ "agent.yaml": "subagents: [{ name: b, agent: { subagents: [./agent.yaml] } }]" })).toEqual([
    'agent.yaml:1:45: subagent "./agent.yaml": it leads back to itself: agent.yaml → agent.yaml; an agent can\'t be its own subagent',
  ]);
});

test("all that is wrong with a file, its subagents and its tools is named in one round, each in its place", async () => {
  const folder = folderOf({
    "agent.yaml": `signature: "a: Foo -> b"
model: 4
model: 5
instructions: *there
tools:
  - ./none.mjs
  - 3
  - /etc/passwd
subagents:
  - ./wrong.yaml
  - name: inline
    agent:
      system_prompt: You help.
      tools: [./gone.mjs]
      memory: { maxTurns: -1 }
      compression: brief
      subagents:
        - { name: deep, agent: { signature: x, limits: { steps: 1 }, max_iters: 2 } }
  - { name: inline, agent: { modelParameters: { t: .inf } } }
  - { name: both, file: ./wrong.yaml, agent: ./wrong.yaml }
  - { name: odd, file: ./wrong.yaml, memory: some }
`,
    "wrong.yaml": "modle: m\ntools: [./lost.mjs]",
  });
  const problems = await problemsIn(folder, "agent.yaml", { allowTools: true });
  const places = problems.map(
    (problem) => /^(\S+:\d+:\d+): (.*?)(?=;| \()/.exec(`${problem};`)?.slice(1).join(" ") ?? "",
  );
  expect(places.toSorted()).toEqual([
    "agent.yaml:13:7 there is no field subagents.1.agent.system_prompt",
    'agent.yaml:14:15 tool "./gone.mjs": there is no such file',
    "agent.yaml:15:27 subagents.1.agent.memory.maxTurns is -1",
    'agent.yaml:16:20 subagents.1.agent.compression is "brief"',
    'agent.yaml:18:45 subagents.1.agent.subagents.0.agent.signature is "x"',
    "agent.yaml:18:81 max_iters is another word for limits.steps, which is there too",
    'agent.yaml:19:5 there are two tools called "inline"',
    "agent.yaml:19:52 subagents.2.agent.modelParameters.t is Infinity",
    'agent.yaml:1:12 signature is "a: Foo -> b"',
    "agent.yaml:20:46 agent and file both say which agent it is",
    'agent.yaml:21:46 subagents.4.memory is "some"',
    "agent.yaml:2:8 model is 4",
    "agent.yaml:3:1 this field is there twice",
    "agent.yaml:4:15 *there is an alias",
    'agent.yaml:6:5 tool "./none.mjs": there is no such file',
    "agent.yaml:7:5 tools.1 is 3",
    'agent.yaml:8:5 tool "/etc/passwd": it must be a path relative to the agent\'s file, with plain slashes, such as ./passwd.ts',
    'wrong.yaml:1:1 there is no field "modle"',
    'wrong.yaml:2:9 tool "./lost.mjs": there is no such file',
  ]);
});
