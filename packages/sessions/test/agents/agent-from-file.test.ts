import { join } from "node:path";
import { expect, test } from "vitest";
import { agentFromFile } from "../../src/agents/index.ts";
import { folderOf, problemsOf } from "./agent-files.ts";

const wholeFile = `# An agent.
version: 1
name: weather
description: Knows the weather.
model: gpt-4o-mini
modelParameters: { temperature: 0, stop: [a, b] }
instructions: |
  You know the weather.
  Be brief.
signature:
  inputs: { question: string }
  outputs: { answer: string, sure: { type: number, description: "from 0 to 1" } }
tools: [./tools.ts]
subagents:
  - ./below/helper.yaml
  - { file: ./below/helper.yaml, name: second, description: Another one., memory: own }
memory: { maxTurns: 3, compression: verbose }
limits: { steps: 1 }
`;

const tool = `export default { declaration: { name: "forecast", description: "", parameters: {} }, schema: null, needsApproval: null, run: () => "rain" };`;

test("an agent is what its file says", async () => {
  const folder = folderOf({ "agent.yaml": wholeFile, "tools.ts": tool, "below/helper.yaml": "name: helper" });
  const agent = await agentFromFile(join(folder, "agent.yaml"), { allowTools: true });
  expect(agent).toMatchObject({
    name: "weather",
    description: "Knows the weather.",
    model: "gpt-4o-mini",
    modelParameters: { temperature: 0, stop: ["a", "b"] },
    instructions: "You know the weather.\nBe brief.\n",
    signature: {
      inputs: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
      outputs: {
        properties: { answer: { type: "string" }, sure: { type: "number", description: "from 0 to 1" } },
        required: ["answer", "sure"],
        additionalProperties: false,
      },
    },
    memory: { maxTurns: 3, compression: "verbose" },
    limits: { steps: 1 },
  });
  expect(agent.tools.map(({ declaration }) => declaration.name)).toEqual(["forecast"]);
  expect(agent.subagents).toMatchObject([
    { name: "helper", description: "Asks the agent helper.", memory: "parent" },
    { name: "second", description: "Another one.", memory: "own" },
  ]);
  expect(agent.subagents[0]?.agent).toBe(agent.subagents[1]?.agent);
  expect(agent.subagents[0]?.agent.file).toBe(join(folder, "below/helper.yaml"));
  expect(Object.isFrozen(agent) && Object.isFrozen(agent.modelParameters) && Object.isFrozen(agent.memory)).toBe(true);
});

test("what a file leaves out has defaults", async () => {
  const folder = folderOf({ "agent.yml": "name: helper" });
  expect(await agentFromFile(join(folder, "agent.yml"))).toEqual({
    file: join(folder, "agent.yml"),
    name: "helper",
    description: null,
    model: null,
    modelParameters: {},
    instructions: null,
    signature: null,
    tools: [],
    subagents: [],
    memory: { maxTurns: 20, compression: "concise" },
    limits: { steps: 20 },
  });
});

test("Markdown has front matter, and its instructions once", async () => {
  const doubled = "---\nname: a\ninstructions: One.\n---\nTwo.";
  expect(await problemsOf({ "agent.md": doubled }, "agent.md")).toEqual([
    "agent.md:3:15: instructions is there, and so is a body, which is the same; leave one of them out",
  ]);
  const without = [
    "agent.md:1:1: Markdown begins with no front matter; begin with a line ---, fields such as name: helper, and a line ---",
  ];
  for (const text of ["# You help", "---\nname: a\n", "", "----\nname: a\n----\n"])
    expect(await problemsOf({ "agent.md": text }, "agent.md")).toEqual(without);
  expect(await problemsOf({ "agent.md": "---\n---\nYou help." }, "agent.md")).toEqual([
    "agent.md:1:4: the file is empty; it must be a mapping of fields such as instructions",
  ]);
});

test.each([
  [
    "name: [a]",
    '1:7: name is ["a"]; it must be a name of at most 64 letters, digits, - and _ that begins with a letter',
  ],
  ["name: 9a", '1:7: name is "9a"; it must be a name of at most 64 letters, digits, - and _ that begins with a letter'],
  ["- name", '1:1: the file is ["name"]; it must be a mapping of fields such as instructions'],
  ["# A list.\n- name", '2:1: the file is ["name"]; it must be a mapping of fields such as instructions'],
  ["", "1:1: the file is empty; it must be a mapping of fields such as instructions"],
  ["# Nothing.\n", "1:1: the file is empty; it must be a mapping of fields such as instructions"],
  ["name: a\nversion: 2", "2:10: version is 2; it must be 1"],
  ["name: a\nmodelParameters: { t: .inf }", "2:23: modelParameters.t is Infinity; it must be a JSON value"],
  ["name: a\nmemory:\n  maxTurns: -1", "3:13: memory.maxTurns is -1; it must be a whole number of 0 or more"],
  [
    "name: a\nmemory:\n  compression: brief",
    '3:16: memory.compression is "brief"; it must be one of concise, verbose, none',
  ],
  ["name: a\nmemory: 3", "2:9: memory is 3; it must be { maxTurns, compression }"],
  ["name: a\nmemory: { turns: 3 }", '2:11: there is no field "memory.turns"; there are maxTurns, compression'],
  ["name: a\nlimits: { steps: 1.5 }", "2:18: limits.steps is 1.5; it must be a whole number of 1 or more"],
  ["name: a\nlimits: { steps: 0 }", "2:18: limits.steps is 0; it must be a whole number of 1 or more"],
  ["name: a\nmax_iters: 0", "2:12: max_iters is 0; it must be a whole number of 1 or more"],
  ['name: a\nmodel: ""', '2:8: model is ""; it must be the name of a model, or left out for that of the host'],
  ["name: a\nsignature: 3", "2:12: signature is 3; it must be question -> answer, or { inputs, outputs }"],
  [
    "name: a\nsignature: q => a",
    '2:12: signature is "q => a"; it must be inputs, one arrow and outputs, such as question -> answer',
  ],
  [
    "name: a\nsignature: { inputs: { q: str }, outputs: { a: string } }",
    '2:27: signature.inputs.q is "str"; it must be one of string, number, integer, boolean, or a mapping that is a JSON schema',
  ],
  [
    "name: a\nsignature: { inputs: { q: { type: text } }, outputs: { a: string } }",
    '2:27: signature.inputs.q is {"type":"text"}; it must be a JSON schema that can be checked (properties.q: type must be one or some of string, number, integer, boolean, object, array, null (got "text"))',
  ],
  [
    "name: a\nsignature: { inputs: { q: { $ref: '#/$defs/t', $defs: { t: {} } } }, outputs: { a: string } }",
    '2:27: signature.inputs.q is {"$ref":"#/$defs/t","$defs":{"t":{}}}; it must be a JSON schema that can be checked (properties.q: $ref "#/$defs/t": it leads to no place in the schema)',
  ],
  [
    "name: a\nsignature: { inputs: {}, outputs: { a: string } }",
    "2:22: signature.inputs is {}; it must be a mapping of at least one name to its type, such as { question: string }",
  ],
  [
    "name: a\nsignature: { inputs: { q: string } }",
    "2:12: signature.outputs is missing; it must be a mapping of at least one name to its type, such as { question: string }",
  ],
  ["name: a\ntools: ./x.ts", '2:8: tools is "./x.ts"; it must be a list of ./file.ts or ./file.ts#export'],
  ["name: a\ntools:\n  - { mcp: x }", '3:5: tools.0 is {"mcp":"x"}; it must be ./file.ts or ./file.ts#export'],
  [
    "name: a\nsubagents: [3]",
    "2:13: subagents.0 is 3; it must be ./file.yaml, or { file or agent, name, description, memory }",
  ],
  [
    "name: a\nsubagents: [{ name: b }]",
    "2:13: it has neither file nor agent; name the file of the agent, or write its fields under agent",
  ],
  [
    "name: a\nsubagents: [{ name: b, file: ./b.yaml, agent: ./b.yaml }]",
    "2:47: agent and file both say which agent it is; leave one of them out",
  ],
  [
    "name: a\nsubagents: [{ agent: { model: m } }]",
    "2:13: an agent within the file of another has no name of its own; add name beside agent",
  ],
  [
    "name: a\nsubagents: [{ agent: { name: b }, memory: some }]",
    '2:43: subagents.0.memory is "some"; it must be one of parent, own, none',
  ],
  [
    "name: a\nsubagents: [{ agent: { name: b, compression: none, memory: { compression: none } } }]",
    "2:46: compression is another word for memory.compression, which is there too; leave one of them out",
  ],
  [
    "name: a\nsubagents: [{ agent: { name: b, memory: { prompt: 1 } } }]",
    '2:43: there is no field "subagents.0.agent.',
  ],
  [
    "name: a\nsignature: { inputs: { q: string }, outputs: { a: string }, more: 1 }",
    '2:61: there is no field "signature.more"; there are inputs, outputs',
  ],
  [
    "name: a\nsubagents: { a: 1 }",
    '2:12: subagents is {"a":1}; it must be a list of ./file.yaml, or { file or agent, ',
  ],
  ["name: a\nmodelParameters: [1]", "2:18: modelParameters is [1]; it must be a mapping of names to JSON values"],
  ["7: a", '1:1: there is no field "7"; there are version, name, description'],
  ["name: a\nsystem_prompt: b", "2:1: there is no field system_prompt; here it is instructions"],
  ["name: a\nmodel_parameters: {}", "2:1: there is no field model_parameters; here it is modelParameters"],
  ["name: a\nsub_agents: []", "2:1: there is no field sub_agents; here it is subagents"],
  ["name: a\nmax_turns: 1", "2:1: there is no field max_turns; here it is memory: { maxTurns }"],
  ["name: a\ntoString: b", '2:1: there is no field "toString"; there are version, name, '],
  ["name: a\nmemory: { prompt: b }", '2:11: there is no field "memory.prompt"; there are maxTurns, compression'],
  [
    "name: a\nsubagents: [{ name: b, agent: { prompt: c } }]",
    "2:33: there is no field subagents.0.agent.prompt; here it is instructions",
  ],
  // As JSON, the first value has 60 characters, and the second has 61.
  [`version: ${"a".repeat(58)}`, `1:10: version is "${"a".repeat(58)}"; it must be 1`],
  [`version: ${"a".repeat(59)}`, `1:10: version is "${"a".repeat(58)}…; it must be 1`],
  ["name: a\nname: b", "2:1: this field is there twice; leave one of them out"],
  ["name: a\n b: c", "1:7: it is no YAML: "],
  ["name: *a", "1:7: *a is an alias; write out what it stands for"],
])("%j is refused", async (text, problem) => {
  const [line, ...others] = await problemsOf({ "agent.yaml": text });
  expect(line).toContain(`agent.yaml:${problem}`);
  expect(others).toEqual([]);
});

test("siblings may name the same file; a file may not lead back to itself", async () => {
  const diamond = {
    "agent.yaml": "name: a\nsubagents: [./b.yaml, ./c.yaml]",
    "b.yaml": "name: b\nsubagents: [./d.yaml]",
    "c.yaml": "name: c\nsubagents: [./d.yaml]",
    "d.yaml": "name: d",
  };
  expect(await problemsOf(diamond)).toEqual([]);
  expect(await problemsOf({ ...diamond, "d.yaml": "name: d\nsubagents: [./d.yaml, ./b.yaml]" })).toEqual([
    'd.yaml:2:13: subagent "./d.yaml": it leads back to itself: agent.yaml → b.yaml → d.yaml → d.yaml; an agent can\'t be its own subagent (a subagent: agent.yaml → b.yaml → d.yaml)',
    'd.yaml:2:23: subagent "./b.yaml": it leads back to itself: agent.yaml → b.yaml → d.yaml → b.yaml; an agent can\'t be its own subagent (a subagent: agent.yaml → b.yaml → d.yaml)',
  ]);
});

test.each([
  { path: 7, options: {}, says: "agentFromFile: path must be a text that is not empty (got 7)" },
  { path: "a.yaml", options: { allowTools: "yes" }, says: "allowTools must be true, false or a function" },
  { path: "a.yaml", options: { root: 7 }, says: "root must be a text that is not empty (got 7)" },
  { path: "a.yaml", options: { allow: true }, says: 'agentFromFile has no option "allow"' },
])("agentFromFile rejects an invalid argument: $says", async ({ path, options, says }) => {
  // Cast: a caller in JavaScript could pass this.
  await expect(agentFromFile(path as string, options as object)).rejects.toThrow(says);
});

test.each([
  [50, "agent.yaml:50:1: "],
  [51, "and 1 more"],
])("the error for %i problems lists at most 50 of them", async (count, last) => {
  const lines = Array.from({ length: count }, (_, index) => `f${index}: 1`);
  const problems = await problemsOf({ "agent.yaml": lines.join("\n") });
  expect(problems.at(-1)).toContain(last);
});

test("agentFromFile reports all problems in an agent's files at once, each with its position", async () => {
  const files = {
    "agent.yaml": `name: 9
tools: [7, ./none.ts, ""]
subagents:
  - 7
  - { name: x, file: ./b.yaml, agent: ./b.yaml }
  - { name: [], agent: { nam: y, tools: [./none.ts], subagents: [./c.yaml], memory: { maxTurns: 1 }, max_context_turns: 2 } }
  - { name: z, agent: ./d.yaml }
  - { file: 7 }
  - { agent: [] }
  - ./d.yaml
  - { file: ./d.yaml, name: z }
compression: none
memory: { compression: none }
max_iters: 3
limits: { steps: 3 }
`,
    "b.yaml": "nam: b",
    "c.yaml": "nam: c",
    "d.yaml": "nam: d",
  };
  // The list of valid fields is cut out.
  expect((await problemsOf(files)).map((problem) => problem.replace(/there are version[\w, ]*\b/u, "…"))).toEqual([
    "agent.yaml:1:7: name is 9; it must be a name of at most 64 letters, digits, - and _ that begins with a letter",
    "agent.yaml:2:9: tools.0 is 7; it must be ./file.ts or ./file.ts#export",
    'agent.yaml:2:23: tools.2 is ""; it must be ./file.ts or ./file.ts#export',
    "agent.yaml:4:5: subagents.0 is 7; it must be ./file.yaml, or { file or agent, name, description, memory }",
    'agent.yaml:6:26: there is no field "subagents.2.agent.nam"; …',
    "agent.yaml:6:13: subagents.2.name is []; it must be a name of at most 64 letters, digits, - and _ that begins with a letter",
    "agent.yaml:8:13: subagents.4.file is 7; it must be a text",
    "agent.yaml:9:14: subagents.5.agent is []; it must be ./file.yaml, or { file or agent, name, description, memory }",
    "agent.yaml:12:14: compression is another word for memory.compression, which is there too; leave one of them out",
    "agent.yaml:14:12: max_iters is another word for limits.steps, which is there too; leave one of them out",
    "agent.yaml:5:39: agent and file both say which agent it is; leave one of them out",
    "agent.yaml:6:121: max_context_turns is another word for memory.maxTurns, which is there too; leave one of them out",
    'agent.yaml:2:12: tool "./none.ts": there is no such file',
    'agent.yaml:6:42: tool "./none.ts": there is no such file',
    'c.yaml:1:1: there is no field "nam"; … (a subagent: agent.yaml → c.yaml)',
    'd.yaml:1:1: there is no field "nam"; … (a subagent: agent.yaml → d.yaml)',
    'agent.yaml:11:5: there are two tools called "z"; give a subagent another by name',
  ]);
});

test.each<readonly [string, string | null]>([
  ["---\nname: a\n---", null],
  ["---  \nname: a\n--- \n\nHi \n", "Hi"],
  ["---\nname: a\ninstructions: b\n---\n  \n", "b"],
  ["---\nname: a\n---\nHi\n---\nyou", "Hi\n---\nyou"],
])("agentFromFile reads the file %j and returns the instructions %j", async (text, instructions) => {
  const folder = folderOf({ "agent.md": text });
  expect((await agentFromFile(join(folder, "agent.md"))).instructions).toBe(instructions);
});

test.each(["---\nname: a\n---x\nHi", "--- x\nname: a\n---\nHi", "\n---\nname: a\n---\n"])(
  "agentFromFile reports missing front matter in %j",
  async (text) => {
    expect(await problemsOf({ "agent.md": text }, "agent.md")).toEqual([
      expect.stringContaining("agent.md:1:1: Markdown begins with no front matter"),
    ]);
  },
);

test("agentFromFile rejects two tools of one name, whether they are modules or subagents", async () => {
  const files = { "one.ts": tool, "two.ts": tool, "forecast.yaml": "name: forecast" };
  const problemsWith = (fields: string) =>
    problemsOf({ ...files, "agent.yaml": `name: a\n${fields}` }, "agent.yaml", { allowTools: true });
  const twice = 'there are two tools called "forecast"; give a subagent another by name';
  expect(await problemsWith("tools: [./one.ts, ./two.ts]")).toEqual([`agent.yaml:2:19: ${twice}`]);
  expect(await problemsWith("tools: [./one.ts]\nsubagents: [./forecast.yaml]")).toEqual([`agent.yaml:3:13: ${twice}`]);
  const named = "{ file: ./forecast.yaml, name: b }";
  expect(await problemsWith(`tools: [./one.ts]\nsubagents: [${named}]`)).toEqual([]);
  expect(await problemsWith(`subagents: [${named}, ${named}]`)).toEqual([
    expect.stringContaining('two tools called "b"'),
  ]);
});

test("the error of agentFromFile holds its problems as data", async () => {
  const file = join(folderOf({ "agent.yaml": "name: 9" }), "agent.yaml");
  const message = expect.stringContaining("name is 9") as string;
  await expect(agentFromFile(file)).rejects.toMatchObject({
    problems: [{ file, line: 1, column: 7, message, chain: [] }],
  });
});
