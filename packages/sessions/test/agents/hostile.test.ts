import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentFromFile, type ToolReference } from "../../src/agents/index.ts";
import { folderOf, problemsIn, problemsOf } from "./agent-files.ts";
import { forecast, lookUp, notATool } from "./files/tools.ts";

const bomb = [
  "name: &a [x, x, x, x, x, x, x, x, x]",
  ..."bcdefgh".split("").map((each, index) => {
    const before = "abcdefgh"[index] ?? "";
    return `${each}: &${each} [${Array(9).fill(`*${before}`).join(", ")}]`;
  }),
].join("\n");

test("a path of 200,000 blanks is refused without reading it again from each blank", async () => {
  const text = `name: a\ntools: ["${" ".repeat(200_000)}x"]`;
  const problems = await problemsOf({ "agent.yaml": text });
  expect(problems.map((problem) => problem.replaceAll(/ +/g, " "))).toEqual([
    `agent.yaml:2:9: tool " x": there is no such file`,
  ]);
});

test("aliases are refused, each where it stands, and never followed", async () => {
  const problems = await problemsOf({ "agent.yaml": bomb });
  expect(problems[0]).toBe("agent.yaml:2:8: *a is an alias; write out what it stands for");
  expect(problems).toHaveLength(51);
  expect(problems.at(-1)).toBe("and 21 more");
});

test.each([
  ["name: !!js/function 'x'", "1:7: ", /Unresolved tag: .*js\/function; write the value without a tag/],
  ["name: !secret x", "1:7: ", /Unresolved tag: !secret; write the value without a tag/],
  ["name: a\nmodelParameters: !!binary aGk=", "2:18: ", /write the value without a tag/],
  ["name: a\n---\nname: b", "2:1: ", /another document begins here/],
  ["%YAML 1.1\n---\nname: a", "1:1: ", /%YAML is 1\.1; it must be 1\.2/],
  ["name: a\nmodelParameters:\n  <<: { b: 1 }", "3:3: ", /"<<" can't be a field here/],
  ["name: a\n__proto__: { description: b }", "2:1: ", /"__proto__" can't be a field here/],
  ["name: a\nmodelParameters: { constructor: { prototype: 1 } }", "2:20: ", /"constructor" can't be a field here/],
  ["name: a\nsignature: { inputs: { __proto__: string }, outputs: { b: string } }", "2:24: ", /"__proto__" can't/],
  ["name: a\n? [b]\n: c", "2:3: ", /it is no YAML: With stringKeys, all keys must be strings/],
  ["name: a\nmodelParameters: { b: 1, b: 2 }", "2:26: ", /this field is there twice/],
])("%j is refused", async (text, place, message) => {
  const problems = await problemsOf({ "agent.yaml": text });
  expect(problems[0]).toContain(`agent.yaml:${place}`);
  expect(problems[0]).toMatch(message);
  expect(({} as { readonly description?: string }).description).toBeUndefined();
});

test.each([40, 1_000, 10_000])("%i levels are refused", async (levels) => {
  for (const [open, close] of [
    ["[", "]"],
    ["{ a: ", "}"],
  ] as const) {
    const nested = `name: a\nmodelParameters: { b: ${open.repeat(levels)}${close.repeat(levels)} }`;
    const [problem] = await problemsOf({ "agent.yaml": nested });
    expect(problem).toMatch(/^agent\.yaml:\d+:\d+: it is nested more deeply than 32 levels/);
  }
});

test.each([
  ["[", "]"],
  ["{ a: ", "}"],
])("agentFromFile accepts a value that nests %s to 32 levels, and none that is deeper", async (open, close) => {
  const nested = (levels: number) =>
    problemsOf({ "agent.yaml": `name: a\nmodelParameters: { b: ${open.repeat(levels)}${close.repeat(levels)} }` });
  expect(await nested(31)).toEqual([]);
  expect(await nested(32)).toEqual([expect.stringContaining("more deeply than 32 levels")]);
});

test.each([
  [
    "a value that is nested too deeply",
    `modelParameters: { b: ${"[".repeat(40)}${"]".repeat(40)} }`,
    /more deeply than 32/,
  ],
  ["a syntax error", "modelParameters: [", /it is no YAML: /],
])("agentFromFile reports %s alone, because it checks no further", async (_, line, message) => {
  const problems = await problemsOf({ "agent.yaml": `name: 9\n${line}` });
  expect(problems).toEqual([expect.stringMatching(message)]);
});

test("agentFromFile reports an unsupported version of YAML alone, because it checks no further", async () => {
  const problems = await problemsOf({ "agent.yaml": "%YAML 1.1\n---\nname: 9" });
  expect(problems).toEqual([expect.stringContaining("%YAML is 1.1; it must be 1.2")]);
});

test("a huge file is refused before it is read", async () => {
  const huge = `name: a\ninstructions: ${"b".repeat(300_000)}`;
  expect(await problemsOf({ "agent.yaml": huge })).toEqual([
    "agent.yaml: it is larger than 262144 bytes, more than an agent takes",
  ]);
});

test.each([
  ["fields", (index: number) => `f${index}: 1`, /there is no field "f0"/],
  ["doubled fields", () => "f: 1", /this field is there twice/],
  ["aliases", () => "- *a", /is no YAML|is an alias/],
])("thousands of %s take no longer than so many lines", async (_, line, message) => {
  const lines = Array.from({ length: 20_000 }, (__, index) => line(index));
  const problems = await problemsOf({ "agent.yaml": lines.join("\n") });
  expect(problems.join("\n")).toMatch(message);
  expect(problems.at(-1)).toMatch(/^and \d+ more$/);
});

test("what is no file is refused, and what is no text", async () => {
  const folder = folderOf({
    "latin.yaml": Buffer.from("name: a\ndescription: caf\xe9", "latin1"),
    "wide.yaml": Buffer.from("\uFEFFname: a", "utf16le"),
    "folder.yaml/x": "",
    "caller.yaml":
      "name: a\nsubagents:\n  - ./pipe.yaml\n  - ./folder.yaml\n  - ./latin.yaml\n  - ./device.yaml\n  - ./none.yaml",
  });
  execFileSync("mkfifo", [join(folder, "pipe.yaml")]);
  symlinkSync("/dev/zero", join(folder, "device.yaml"));
  expect(await problemsIn(folder, "pipe.yaml")).toEqual([
    "pipe.yaml: it is a pipe or a device; name the file of an agent",
  ]);
  expect(await problemsIn(folder, "folder.yaml")).toEqual(["folder.yaml: it is a folder; name the file of an agent"]);
  expect(await problemsIn(folder, "latin.yaml")).toEqual([
    "latin.yaml: it is not text in UTF-8; save it in that encoding",
  ]);
  expect(await problemsIn(folder, "wide.yaml")).toEqual([
    "wide.yaml: it is not text in UTF-8; save it in that encoding",
  ]);
  expect(await problemsIn(folder, "none.yaml")).toEqual(["none.yaml: there is no such file"]);
  expect(await problemsIn(folder, "agent.toml")).toEqual([
    'agent.toml: it ends in ".toml"; the file of an agent ends in one of .yaml, .yml, .md',
  ]);
  expect(await problemsIn(folder, "caller.yaml")).toEqual([
    'caller.yaml:3:5: subagent "./pipe.yaml": it is a pipe or a device; name the file of an agent',
    'caller.yaml:4:5: subagent "./folder.yaml": it is a folder; name the file of an agent',
    'caller.yaml:5:5: subagent "./latin.yaml": it is not text in UTF-8; save it in that encoding',
    'caller.yaml:6:5: subagent "./device.yaml": it lies outside of FOLDER; move it there, or give a folder around both as the option root',
    'caller.yaml:7:5: subagent "./none.yaml": there is no such file',
  ]);
});

test("a problem has one line, whatever a key or a module says, and is named once for all who name its file", async () => {
  const forged = 'name: a\nmodelParameters: { "x\\nagent.yaml:9:9: forged": .nan }';
  expect(await problemsOf({ "agent.yaml": forged })).toEqual([expect.stringMatching(/^agent\.yaml:2:.* is NaN; /)]);
  const twice = { "agent.yaml": "name: a\nsubagents: [./b.yaml, { file: ./b.yaml, name: c }]", "b.yaml": "name: 4" };
  expect(await problemsOf(twice)).toEqual([expect.stringContaining("b.yaml:1:7: name is 4; ")]);
});

test("a byte order mark and lines that end in CR LF change nothing", async () => {
  const folder = folderOf({
    "agent.yaml": "\uFEFFname: a\r\ndescription: b\r\ninstructions: |\r\n  One.\r\n  Two.\r\n",
  });
  expect(await agentFromFile(join(folder, "agent.yaml"))).toMatchObject({
    name: "a",
    description: "b",
    instructions: "One.\nTwo.\n",
  });
  const markdown = folderOf({ "agent.md": "\uFEFF---\r\nname: a\r\n---\r\nOne.\r\nTwo.\r\n" });
  expect(await agentFromFile(join(markdown, "agent.md"))).toMatchObject({ instructions: "One.\nTwo." });
  expect(await problemsOf({ "agent.yaml": "\uFEFFname: a\r\nmodle: b\r\n" })).toEqual([
    expect.stringContaining('agent.yaml:2:1: there is no field "modle"'),
  ]);
});

const ran = "globalThis.colloquyRan = true; export const a = 1;";

test.each([
  ["/etc/passwd#x", "it must be a path relative to the agent's file"],
  ["C:/tools.mjs#x", "it must be a path relative to the agent's file"],
  ["//host/tools.mjs#x", "it must be a path relative to the agent's file"],
  ["#x", "it must be a path relative to the agent's file"],
  ["linked/outside.mjs#a", "it lies outside of in"],
  ["node:fs#rm", "it must be a path relative to the agent's file"],
  ["data:text/javascript,export default 1", "it must be a path relative to the agent's file"],
  ["file:///etc/passwd#x", "it must be a path relative to the agent's file"],
  ["./..\\\\outside.mjs#a", "it must be a path relative to the agent's file"],
  ["./%2e%2e%2Foutside.mjs#a", "it must be a path relative to the agent's file"],
  ["./%5coutside.mjs#a", "it must be a path relative to the agent's file"],
  ["./tools.mjs\\0.txt#a", "it must be a path relative to the agent's file"],
  ["./%2e%2e/outside.mjs#a", "there is no such file"],
  ["../outside.mjs#a", "it lies outside of in"],
  ["./link.mjs#a", "it lies outside of in"],
  ["./linked/outside.mjs#a", "it lies outside of in"],
  ["./none.mjs#a", "there is no such file"],
  ["./data.json#a", 'it ends in ".json"; it must be one of .ts, .mts, .js, .mjs'],
  ["./tools.mjs#a#b", "it must be ./file.ts or ./file.ts#export"],
  ["./tools.mjs#", "it must be ./file.ts or ./file.ts#export"],
])("the tool %s is refused, and nothing is loaded", async (reference, message) => {
  const folder = folderOf({
    "in/agent.yaml": `name: a\ntools: ["${reference}"]`,
    "in/tools.mjs": ran,
    "in/data.json": "{}",
    "outside.mjs": ran,
  });
  symlinkSync(join(folder, "outside.mjs"), join(folder, "in/link.mjs"));
  symlinkSync(folder, join(folder, "in/linked"));
  const [problem, ...others] = await problemsIn(folder, "in/agent.yaml", { allowTools: true });
  expect(problem).toContain("in/agent.yaml:2:9: tool ");
  expect(problem).toContain(message);
  expect(others).toEqual([]);
  expect(Reflect.has(globalThis, "colloquyRan")).toBe(false);
});

test("a subagent lies in the root, which may be a wider one", async () => {
  const folder = folderOf({ "in/agent.yaml": "name: a\nsubagents: [../b.yaml]", "b.yaml": "name: b" });
  expect(await problemsIn(folder, "in/agent.yaml")).toEqual([
    'in/agent.yaml:2:13: subagent "../b.yaml": it lies outside of in; move it there, or give a folder around both as the option root',
  ]);
  expect(await problemsIn(folder, "in/agent.yaml", { root: folder })).toEqual([]);
});

test("tools have to be allowed, and none is loaded while anything is wrong", async () => {
  const files = {
    "agent.yaml": "name: a\ntools: [./tools.mjs]\nsubagents: [./b.yaml]",
    "tools.mjs": ran,
    "b.yaml": "name: b\nx: 1",
  };
  const notAllowed =
    'agent.yaml:2:9: tool "./tools.mjs": it is not allowed: loading it runs its code. If you trust it, allow it by allowTools (on the command line --allow-tools)';
  expect((await problemsOf(files))[0]).toBe(notAllowed);
  expect((await problemsOf(files, "agent.yaml", { allowTools: () => false }))[0]).toBe(notAllowed);
  // Cast: a function in JavaScript may be asynchronous, and its promise must not count as true.
  const later = (async () => false) as unknown as () => boolean;
  expect((await problemsOf(files, "agent.yaml", { allowTools: later }))[0]).toBe(notAllowed);
  const asked: ToolReference[] = [];
  const allowTools = (reference: ToolReference): boolean => asked.push(reference) > 0;
  expect(await problemsOf(files, "agent.yaml", { allowTools })).toEqual([expect.stringContaining("b.yaml:2:1")]);
  expect(asked).toEqual([
    {
      reference: "./tools.mjs",
      export: "default",
      path: expect.stringMatching(/\/tools\.mjs$/) as string,
      agent: expect.stringMatching(/\/agent\.yaml$/) as string,
    },
  ]);
  expect(Reflect.has(globalThis, "colloquyRan")).toBe(false);
});

test("what is exported has to be a tool, and be the module's own", async () => {
  const folder = join(import.meta.dirname, "files");
  const refused = async (reference: string): Promise<string | undefined> => {
    const agent = folderOf({ "agent.yaml": `name: a\ntools: ["${reference}"]` });
    return (await problemsIn(agent, "agent.yaml", { allowTools: true, root: "/" }))[0];
  };
  const names = Object.keys({ forecast, lookUp }).join(", ");
  // It has a tool's name.
  expect(notATool.name).toBe(forecast.declaration.name);
  const tools = `./${"../../".repeat(12)}${folder}/tools.ts`;
  expect(await refused(`${tools}#forecast`)).toBeUndefined();
  expect(await refused(`${tools}#notATool`)).toContain(
    `its export "notATool" is not a tool; its tools are ${names}; name one, as in tools.ts#forecast`,
  );
  for (const name of ["none", "__proto__", "constructor", "toString"])
    expect(await refused(`${tools}#${name}`)).toContain(
      `its export "${name}" is missing; its tools are ${names}; name one, as in tools.ts#forecast`,
    );
  const broken = {
    "agent.yaml": "name: a\ntools: [./a.mjs, ./b.mjs, ./c.mjs#a]",
    "a.mjs": "throw new Error('no')",
    "b.mjs": "export const b = ;\n\n\n",
    "c.mjs": "export const a = 1",
  };
  const problems = await problemsOf(broken, "agent.yaml", { allowTools: true });
  expect(problems[0]).toBe('agent.yaml:2:9: tool "./a.mjs": its module can\'t be loaded: no');
  expect(problems[1]).toMatch(/2:18: tool ".\/b\.mjs": its module can't be loaded: /);
  expect(problems.at(-1)).toContain('its export "a" is not a tool; it exports no tool, which tool({ name, … }) makes');
});

test("levels of subagents end, and siblings of siblings are read once each", async () => {
  const chain = (levels: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: levels }, (_, level) => [
        level === 0 ? "agent.yaml" : `${level}.yaml`,
        `name: a${level}\nsubagents: [${level + 1 < levels ? `./${level + 1}.yaml` : ""}]`,
      ]),
    );
  expect(await problemsOf(chain(8))).toEqual([]);
  const [problem] = await problemsOf(chain(9));
  expect(problem).toMatch(
    /^7\.yaml:2:13: subagent ".\/8\.yaml": there are more than 8 levels of agents: agent\.yaml → 1\.yaml/,
  );
  const wide = (level: number): string =>
    Array.from({ length: 50 }, (_, index) => `{ file: ./${level}.yaml, name: n${index} }`).join(", ");
  const fan = Object.fromEntries(
    Array.from({ length: 8 }, (_, level) => [
      level === 0 ? "agent.yaml" : `${level}.yaml`,
      `name: a\nsubagents: [${level < 7 ? wide(level + 1) : ""}]`,
    ]),
  );
  expect(await problemsOf(fan)).toEqual([]);
});

test("agentFromFile also counts the levels of subagents below a file that it read before", async () => {
  const to = (name: string, ...below: readonly string[]) =>
    `name: ${name}\nsubagents: [${below.map((each) => `./${each}.yaml`).join(", ")}]`;
  const files = {
    "agent.yaml": to("a", "b1", "c1"),
    "b1.yaml": to("b1", "b2"),
    "b2.yaml": to("b2", "b3"),
    "b3.yaml": to("b3", "b4"),
    "b4.yaml": "name: b4",
    "c1.yaml": to("c1", "c2"),
    "c2.yaml": to("c2", "c3"),
    "c3.yaml": to("c3", "b1"),
  };
  expect(await problemsOf(files)).toEqual([]);
  expect(await problemsOf({ ...files, "c3.yaml": to("c3", "c4"), "c4.yaml": to("c4", "b1") })).toEqual([
    expect.stringMatching(
      /^c4\.yaml:2:13: subagent "\.\/b1\.yaml": there are more than 8 levels of agents: agent\.yaml → c1/,
    ),
  ]);
});

test("the name of a file does not choose where problems stand", async () => {
  const folder = folderOf({});
  writeFileSync(join(folder, "a:1:1: b.yaml"), "name: [");
  expect((await problemsIn(folder, "a:1:1: b.yaml"))[0]).toMatch(/^a:1:1: b\.yaml:1:\d+: it is no YAML/);
});
