import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { journalOf, linesOf } from "./journal.ts";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder, write } = testFolder();

const parsed = (text: string): readonly unknown[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

describe.each(["kept.db", "kept/"])("threads in %s", (name) => {
  const store = join(folder, name);

  test("a journal comes out as it went in, under its own id or another", async () => {
    const journal = linesOf(journalOf("tea", ["What is in the pot?", "Tea."]));
    const path = write("tea.jsonl", journal);
    expect(await run("import", path, "--store", store)).toMatchObject({ exitCode: 0, output: "tea\n" });
    const { output } = await run("export", "tea", "--store", store);
    expect(parsed(output)).toEqual(parsed(journal));
    const other = await run("import", path, "--store", store, "--thread", "other");
    expect(other).toMatchObject({ exitCode: 0, output: "other\n" });
  });

  test("an existing thread is not overwritten", async () => {
    const again = await run(
      "import",
      write("tea.jsonl", linesOf(journalOf("tea", ["Again?", "Tea."]))),
      "--store",
      store,
    );
    expect(again).toMatchObject({
      exitCode: 1,
      error: expect.stringMatching(/"tea" exists already; .* another id with --thread/),
    });
  });

  test("messages of another format make a thread, and come out again", async () => {
    const said = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi." },
    ];
    const path = write("chat.json", JSON.stringify(said));
    const made = await run("import", path, "--from", "chat", "--store", store, "--thread", "chat");
    expect(made).toMatchObject({ exitCode: 0, output: "chat\n", error: "" });
    const out = await run("export", "chat", "--as", "chat", "--store", store);
    expect(JSON.parse(out.output)).toEqual(said);
  });

  test("messages of which a call has no result are refused with the way out, and mended with it", async () => {
    const call = { id: "c", type: "function", function: { name: "look", arguments: "{}" } };
    const said = [
      { role: "user", content: "Look." },
      { role: "assistant", content: null, tool_calls: [call] },
    ];
    const args = ["import", write("torn.json", JSON.stringify(said)), "--store", store, "--thread", "torn"];
    const refused = await run(...args, "--from", "chat");
    expect(refused).toMatchObject({
      exitCode: 1,
      error: expect.stringMatching(/no result.*; or give --repair\n$/),
    });
    const mended = await run(...args, "--from", "chat", "--repair");
    expect(mended).toMatchObject({ exitCode: 0, output: "torn\n", error: expect.stringMatching(/"c" of "look"/) });
    const stray = await run(...args, "--from", "journal", "--repair");
    expect(stray).toMatchObject({
      exitCode: 2,
      error: expect.stringMatching(/--repair cannot be used with .*journal/),
    });
  });

  test("all stored threads are listed, with the facts of their first entry", async () => {
    const { output } = await run("threads", "--store", store);
    expect(output.split("\n").filter((line) => line.startsWith("tea"))).toEqual([
      'tea  3 entries  from 1970-01-01T00:00:00.000Z  to 1970-01-01T00:00:02.000Z  {"user":"ada"}',
    ]);
    expect(output).toContain("\nother  3 entries");
  });

  test("an unknown thread, format or file gets an error with a remedy", async () => {
    expect((await run("export", "nobody", "--store", store)).error).toMatch(/no thread "nobody".*colloquy threads/);
    expect((await run("export", "tea", "--as", "xml", "--store", store)).error).toMatch(/"xml"; it must be one of/);
    const orphan = write("orphan.json", JSON.stringify([{ role: "tool", tool_call_id: "x", content: "?" }]));
    const refused = await run("import", orphan, "--from", "chat", "--store", store, "--thread", "orphan");
    expect(refused.exitCode).toBe(1);
    expect((await run("export", "orphan", "--store", store)).error).toMatch(/no thread "orphan"/);
  });
});

test("search finds words in a store, and names their thread", async () => {
  const { output } = await run("threads", "--find", "pot in", "--store", join(folder, "kept.db"));
  expect(output).toMatch(/^(tea|other) {2}entry 1 .*What is in the pot\?\n(tea|other) {2}entry 1 /);
});

test.each(["missing/kept.db", "missing/folder/"])("the folder around %s is not made", async (name) => {
  const path = write("around.jsonl", linesOf(journalOf("tea", ["What is in the pot?", "Tea."])));
  const { exitCode, error } = await run("import", path, "--store", join(folder, name));
  expect({ exitCode, error }).toEqual({
    exitCode: 2,
    error: expect.stringContaining(`the folder "${join(folder, "missing")}" does not exist; create it first`),
  });
  expect(readdirSync(folder)).not.toContain("missing");
});

test("reading an unused path does not create it", async () => {
  expect((await run("threads", "--store", join(folder, "nowhere.db"))).error).toMatch(/no file or folder/);
  expect((await run("threads")).error).toMatch(/--store is missing/);
  expect(readdirSync(folder)).not.toContain("nowhere.db");
});
