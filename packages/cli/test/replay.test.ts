import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { run } from "./run-command.ts";

const logs = join(import.meta.dirname, "../../../examples/docs/logs");
const folder = mkdtempSync(join(tmpdir(), "colloquy-replay-"));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

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
    const row = write("rows.jsonl", '{"messages":[{"role":"user","content":"A?"}]}\n');
    const { exitCode, output, error } = await run("replay", broken, row, join(logs, "messages.json"));
    expect(exitCode).toBe(1);
    expect(output).toMatch(/: the same\n$/);
    expect(error).toMatch(/broken\.jsonl.*line 2 is not JSON/);
    expect(error).toMatch(/rows\.jsonl.*the format sft holds no model calls/);
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
