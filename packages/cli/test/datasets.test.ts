import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { conversationMachine, type Entry, type Event, start, transition } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder } = testFolder();

const inFolder = (name: string): string => join(folder, name);

const written = (name: string, content: string): string => {
  writeFileSync(inFolder(name), content);
  return inFolder(name);
};

const lines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");

const linesOf = (text: string): readonly unknown[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

/** Returns the journal of a turn with two scored branches and one without a score. */
const journalOf = (threadId: string, question: string): readonly Entry[] => {
  const machine = conversationMachine();
  const begun = start(machine, { threadId, at: 0 });
  let { state } = begun;
  const branch = (answer: string): Event => ({
    type: "turn.added",
    at: 1,
    messages: [
      { role: "user", content: question },
      { role: "assistant", content: answer },
    ],
  });
  const events: readonly Event[] = [
    branch("bad"),
    { type: "turn.annotated", at: 1, turn: 1, name: "score", value: 0.2 },
    { type: "head.moved", at: 1, to: 0 },
    branch("good"),
    { type: "turn.annotated", at: 1, turn: 2, name: "score", value: 0.9 },
  ];
  const later = events.map((event) => {
    const step = transition(machine, state, event);
    if (!step.handled) throw new Error(step.refusal.reason);
    ({ state } = step);
    return step.entry;
  });
  return [begun.entry, ...later];
};

describe("data sets", () => {
  const store = inFolder("kept.db");
  const hostile = "tea\u001b[2J\u202e";

  test("threads are exported to one file, with a report of everything left out", async () => {
    const files = [
      written("tea.jsonl", lines(journalOf("tea", "Tea?"))),
      written("hostile.jsonl", lines(journalOf(hostile, `Coffee ${hostile}?`))),
    ];
    await run("import", ...files, "--store", store);
    const to = inFolder("sft.jsonl");
    const { exitCode, output, error } = await run("export", "--all", "--as", "sft", "--to", to, "--store", store);
    expect([exitCode, output]).toEqual([0, ""]);
    expect(error).toBe(
      "2 rows of 2 examples\n29 tokens in the examples, 2 of them trained (by estimate@1)\nleft out: 2 undone\n",
    );
    expect(linesOf(readFileSync(to, "utf8"))).toContainEqual({
      messages: [
        { role: "user", content: "Tea?" },
        { role: "assistant", content: "good" },
      ],
    });
    expect(await run("export", "--all", "--as", "sft", "--to", to, "--store", store)).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining("exists already"),
    });
  });

  test("a terminal is not steered by them, and they parse to what was said", async () => {
    const { output } = await run("export", hostile, "--as", "trl", "--store", store);
    expect(output).not.toContain("\u001b");
    expect(output).not.toContain("\u202e");
    expect(linesOf(output)).toEqual([
      {
        prompt: [{ role: "user", content: `Coffee ${hostile}?` }],
        completion: [{ role: "assistant", content: "good" }],
      },
    ]);
  });

  test("branches are exported as pairs, and imported as branches", async () => {
    const to = inFolder("dpo.jsonl");
    expect(await run("export", "tea", "--as", "dpo", "--to", to, "--store", store)).toMatchObject({ exitCode: 0 });
    const back = await run("import", to, "--from", "dpo", "--store", store);
    expect(back).toMatchObject({ exitCode: 0, error: "" });
    const again = await run("export", back.output.trim(), "--as", "dpo", "--store", store);
    expect(again.output).toBe(readFileSync(to, "utf8"));
  });

  test("an unreadable line is named, and the others are imported", async () => {
    const row = {
      messages: [
        { role: "user", content: "Q" },
        { role: "assistant", content: "A" },
      ],
      topic: "x\u001b",
    };
    const path = written("broken.jsonl", `{\n${lines([row])}`);
    const { exitCode, output, error } = await run("import", path, "--from", "sft", "--store", store);
    expect(exitCode).toBe(1);
    expect(output.trim().split("\n")).toHaveLength(1);
    expect(error).toBe(
      `${path}: line 1: it is not JSON: "{"\n${path}: not carried: line 2: the field "topic": a thread has no place for it\n`,
    );
  });

  test("an empty store is reported", async () => {
    const { exitCode, error } = await run("export", "--all", "--as", "sft", "--store", mkdtempSync(inFolder("none-")));
    expect({ exitCode, last: error.trim().split("\n").at(-1) }).toEqual({
      exitCode: 1,
      last: "colloquy: the store keeps no threads: nothing was written",
    });
  });

  test("no file is written if there are no rows", async () => {
    const to = inFolder("none.jsonl");
    const none = await run("export", "tea", "--as", "sft", "--min-score", "2", "--to", to, "--store", store);
    expect(none).toMatchObject({
      exitCode: 1,
      error:
        "0 rows of 0 examples\n0 tokens in the examples, 0 of them trained (by estimate@1)\nleft out: 1 undone, 1 belowScore\n",
    });
    const unscored = ["--score", "other", "--min-score", "0"];
    expect((await run("export", "tea", "--as", "sft", ...unscored, "--to", to, "--store", store)).exitCode).toBe(1);
    expect(() => readFileSync(to)).toThrow("ENOENT");
  });

  test.each([
    [["export", "tea", "--as", "chat", "--per", "step"], "--per is for data sets: export --as sft, dpo, trl"],
    [["export", "tea", "--as", "sft", "--per", "word"], '--per is "word"; it must be one of: turn, step'],
    [["export", "tea", "--as", "sft", "--min-score", "high"], '--min-score is "high"; it must be a number'],
    [["export", "--as", "sft"], "export takes threads, or --all; none is named"],
    [
      ["export", "tea", "--as", "csv"],
      "it must be one of: journal, chat, responses, model, ui, langchain, sft, dpo, trl, trl-messages",
    ],
    [["import", "x", "--from", "sft", "--repair"], "--repair cannot be used with the format sft"],
    [["import", "x", "--from", "trl", "--thread", "a"], "--thread cannot be used with the format trl"],
  ])("%j is refused in words", async (args, reason) => {
    const { exitCode, error } = await run(...args, "--store", store);
    expect([exitCode, error]).toEqual([2, expect.stringContaining(reason)]);
  });
});
