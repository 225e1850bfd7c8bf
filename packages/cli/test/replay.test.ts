import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const logs = join(import.meta.dirname, "../../../examples/docs/logs");
const { folder, write } = testFolder();

describe("colloquy replay", () => {
  test.each(["messages.json", "exchanges.jsonl", "ui-messages.json"])(
    "says that %s is the same, and names another system prompt with its words",
    async (name) => {
      const same = await run("replay", join(logs, name));
      expect(same).toMatchObject({ exitCode: 0, output: expect.stringMatching(/: the same\n$/), error: "" });
      const other = await run("replay", join(logs, name), "--system", "Be polite.");
      expect(other).toMatchObject({ exitCode: 1, output: expect.stringMatching(/turn 1, step 1.*Be polite\./) });
    },
  );

  test("compares policy and tools under the options of a module", async () => {
    const tools = `[{ name: "tide", description: "Tides." }]`;
    const module = write("tools.mjs", `export default { tools: ${tools} };`);
    const described = await run("replay", join(logs, "exchanges.jsonl"), "--options", module);
    expect(described).toMatchObject({ exitCode: 1, output: expect.stringMatching(/the tools that are offered/) });
    const same = await run("replay", join(logs, "messages.json"), "--options", module);
    expect(same).toMatchObject({ exitCode: 0 });
  });

  test("says which file it cannot read, and why, and reads the others", async () => {
    const broken = write("broken.jsonl", '{"request":{"messages":[]},"response":{}}\n{"request"\n');
    const pair = write("pairs.jsonl", '{"prompt":[{"role":"user","content":"A?"}]}\n');
    const { exitCode, output, error } = await run("replay", broken, pair, join(logs, "messages.json"));
    expect(exitCode).toBe(1);
    expect(output).toMatch(/: the same\n$/);
    expect(error).toMatch(/broken\.jsonl.*line 2 is not JSON/);
    const formats = "journal, exchanges, langchain, ui, responses, model, chat";
    expect(error).toContain(`pairs.jsonl: its format is not recognised; name it with --from: ${formats}\n`);
    expect(await run("replay", pair, "--from", "trl")).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining(`--from is "trl"; it must be one of: ${formats}\n`),
    });
    const { output: help } = await run("replay", "--help");
    expect(help).not.toMatch(/dspy|sft|dpo|trl/);
  });

  test("refuses a log in which an older reply was changed, and reports a log without its first line", async () => {
    const log = readFileSync(join(logs, "exchanges.jsonl"), "utf8").trimEnd().split("\n");
    const last = (log.at(-1) ?? "").replace("At 18:05.", "At noon.");
    const tampered = write("tampered.jsonl", [...log.slice(0, -1), last].join("\n"));
    expect(await run("replay", tampered)).toMatchObject({
      exitCode: 1,
      error: expect.stringMatching(/item 2: message 4 .*At noon\..* item 1 was .*At 18:05\./),
    });
    const torn = write("torn.jsonl", log.slice(1).join("\n"));
    expect(await run("replay", torn)).toMatchObject({
      exitCode: 0,
      error: `${torn}: item 0: its request has 1 reply that no earlier response gave\n`,
    });
  });

  test("names what it takes if there is no file, and its option for a call without a result", async () => {
    expect(await run("replay", "nofile.json")).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining('no file or folder "nofile.json"; give journals, messages, or logged requests\n'),
    });
    const call = { id: "c", type: "function", function: { name: "tide", arguments: "{}" } };
    const torn = [
      { role: "user", content: "Look." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "user", content: "Well?" },
    ];
    const refused = await run("replay", write("torn.json", JSON.stringify(torn)));
    expect(refused).toMatchObject({ exitCode: 1, error: expect.stringMatching(/no result.*; or give --repair\n$/) });
  });

  test("needs a file", async () => {
    expect(await run("replay")).toMatchObject({ exitCode: 2, error: expect.stringContaining("none is named") });
  });
});

test("colloquy import makes a thread of each conversation in a log of requests", async () => {
  const store = join(folder, "threads.db");
  const imported = await run("import", join(logs, "exchanges.jsonl"), "--store", store);
  expect(imported).toMatchObject({ exitCode: 0, error: "" });
  const exported = await run("export", imported.output.trim(), "--store", store);
  expect(exported.output).toContain('"promptDigest"');
});

test("a thread of logged requests has the time of its responses, and its line in `threads` stays short", async () => {
  const store = join(folder, "dated.db");
  const tool = (name: string): object => ({ type: "function", function: { name, parameters: { type: "object" } } });
  const tools = Array.from({ length: 20 }, (_, index) => tool(`tool_${index}`));
  const messages = [{ role: "user", content: "A?" }];
  const response = { created: 1_700_000_000, choices: [{ message: { role: "assistant", content: "a" } }] };
  const log = write("dated.jsonl", JSON.stringify({ request: { messages, tools }, response }));
  const rows = write(
    "rows-with-tools.jsonl",
    JSON.stringify({ messages: [...messages, response.choices[0]?.message], tools }),
  );
  expect(await run("import", log, rows, "--store", store)).toMatchObject({ exitCode: 0, error: "" });
  const { output } = await run("threads", "--store", store);
  const lines = output.trimEnd().split("\n");
  expect(lines[1]).toContain("from 2023-11-14T22:13:20.000Z  to 2023-11-14T22:13:20.000Z");
  expect(lines[0]).toMatch(/ {2}\{"tools":\[.{80,100}…$/);
  expect(output).not.toContain("1970-01");
});
