import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { journalOf, linesOf } from "./journal.ts";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder, write } = testFolder();

const store = join(folder, "kept.db");

const weather = { name: "weather", args: { city: "Oslo" } };
const call = { id: "c", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } };

/** The contents of files with the same conversation in each format. */
const files: Readonly<Record<string, unknown>> = {
  "journal.jsonl": linesOf(journalOf("kept", ["Oslo?", "Rain."])),
  "chat.json": [
    { role: "user", content: "Oslo?" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c", content: "rain" },
    { role: "assistant", content: "Rain." },
  ],
  "chat-parts.json": [
    { role: "user", content: [{ type: "text", text: "Oslo?" }] },
    { role: "assistant", content: "Rain." },
  ],
  "responses.json": [
    { role: "user", content: "Oslo?" },
    { type: "function_call", call_id: "c", name: "weather", arguments: '{"city":"Oslo"}' },
    { type: "function_call_output", call_id: "c", output: "rain" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Rain." }] },
  ],
  "responses-input.json": [
    { role: "user", content: [{ type: "input_text", text: "Oslo?" }] },
    { role: "assistant", content: "Rain." },
  ],
  "model.json": [
    { role: "user", content: [{ type: "text", text: "Oslo?" }] },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "weather", input: weather.args }] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "c", toolName: "weather", output: { type: "text", value: "rain" } }],
    },
    { role: "assistant", content: [{ type: "text", text: "Rain." }] },
  ],
  "ui.json": [
    { id: "1", role: "user", parts: [{ type: "text", text: "Oslo?" }] },
    { id: "2", role: "assistant", parts: [{ type: "text", text: "Rain." }] },
  ],
  "langchain-stored.json": [
    { type: "human", data: { content: "Oslo?", additional_kwargs: {}, response_metadata: {} } },
    { type: "ai", data: { content: "", tool_calls: [{ ...weather, id: "c" }] } },
    { type: "tool", data: { content: "rain", tool_call_id: "c", name: "weather" } },
    { type: "ai", data: { content: "Rain." } },
  ],
  "langchain-serialised.json": [
    { lc: 1, type: "constructor", id: ["langchain_core", "messages", "HumanMessage"], kwargs: { content: "Oslo?" } },
    {
      lc: 1,
      type: "constructor",
      id: ["langchain", "schema", "messages", "AIMessage"],
      kwargs: { content: "Rain.", type: "ai" },
    },
  ],
  "langchain-dumped.json": [
    { content: "Oslo?", additional_kwargs: {}, response_metadata: {}, type: "human", name: null, id: null },
    { content: "Rain.", additional_kwargs: {}, type: "ai", tool_calls: [], invalid_tool_calls: [] },
  ],
  "dspy-session.json": {
    version: 2,
    exclude_fields: ["history"],
    turns: [{ index: 0, inputs: { question: "Oslo?" }, outputs: { answer: "Rain." }, history_snapshot: {} }],
  },
  "sft.jsonl": linesOf([
    {
      messages: [
        { role: "user", content: "Oslo?" },
        { role: "assistant", content: "Rain." },
      ],
    },
  ]),
  "sft-pretty.json": {
    messages: [
      { role: "user", content: "Oslo?" },
      { role: "assistant", content: "Rain." },
    ],
  },
  "dpo.jsonl": linesOf([
    {
      input: { messages: [{ role: "user", content: "Oslo?" }] },
      preferred_output: [{ role: "assistant", content: "Rain." }],
      non_preferred_output: [{ role: "assistant", content: "Sun." }],
    },
  ]),
  "trl.jsonl": linesOf([
    { prompt: [{ role: "user", content: "Oslo?" }], completion: [{ role: "assistant", content: "Rain." }] },
  ]),
};

describe("import without --from", () => {
  test.each(Object.entries(files))("reads %s by its form, and makes a thread of it", async (name, content) => {
    const path = write(name, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    const { exitCode, output, error } = await run("import", path, "--store", store);
    expect({ exitCode, error: error.replace(/^.*not carried.*\n/gm, "") }).toEqual({ exitCode: 0, error: "" });
    const { output: chat } = await run("export", output.trim(), "--as", "chat", "--store", store);
    expect(chat).toContain("Oslo?");
    expect(chat).toContain("Rain.");
  });

  test("names each option of a dspy-session file that a thread cannot carry", async () => {
    const path = write(
      "options.json",
      JSON.stringify({ version: 2, max_turns: 6, exclude_fields: ["notes"], turns: [] }),
    );
    const { exitCode, error } = await run("import", path, "--store", store);
    expect({ exitCode, error }).toEqual({
      exitCode: 0,
      error: [
        `${path}: not carried: maxTurns 6: a thread has no such option; give it to session()\n`,
        `${path}: not carried: excludeFields ["notes"]: a thread has no such option; give it to session()\n`,
      ].join(""),
    });
  });

  test("asks for the format of a file that it does not recognise, and names all formats", async () => {
    const path = write("unknown.json", JSON.stringify({ said: "Oslo?" }));
    const { exitCode, error } = await run("import", path, "--store", store);
    const names = "journal, exchanges, langchain, ui, responses, model, dspy-session, sft, dpo, trl, chat";
    expect({ exitCode, error }).toEqual({
      exitCode: 1,
      error: `colloquy: ${path}: its format is not recognised; name it with --from: ${names}\n`,
    });
  });

  test.each([
    ["import", "--from"],
    ["export", "--as"],
  ])("the help of %s names each format that %s takes", async (command, option) => {
    const { error } = await run(command, "x", option, "none", "--store", store);
    const names = error.match(/must be one of: (.*)/)?.[1]?.split(", ") ?? [];
    expect(names.length).toBeGreaterThan(8);
    const { output } = await run(command, "--help");
    expect(names.filter((name) => !new RegExp(`[ :,]${name}[ ,;\\n]`).test(output))).toEqual([]);
  });

  test.each([
    ["", "the file is empty"],
    ['[{"role":"user","content":"A?"}]\n{"messages"', 'the last line, 2, is cut off: "{\\"messages\\""'],
    [
      '{"model":"m","messages":[{"role":"user","content":"A?"}],"tools":[]}',
      /these are requests without responses; log both/,
    ],
    [
      '{"request":{"model":"m","messages":[{"role":"user","content":"A?"}]}}',
      /these are requests without responses; log both/,
    ],
    [
      '{"signature":{"instructions":"Answer.","fields":[{"prefix":"Q:"}]},"demos":[],"lm":null}',
      /this is a program that DSPy saved .* agent file/,
    ],
    [
      '{"predict":{"demos":[],"lm":null,"signature":{"instructions":"Answer.","fields":[]}},"metadata":{}}',
      /this is a program that DSPy saved .* agent file/,
    ],
    ['[{"role":"user"}]', /item 0 is a user message without content; content must be a text or a list/],
  ])("says of the file %j what it is", async (content, reason) => {
    const path = write("odd.json", content);
    for (const command of [
      ["import", path, "--store", store],
      ["replay", path],
    ]) {
      const { exitCode, output, error } = await run(...command);
      expect({ exitCode, output }).toEqual({ exitCode: 1, output: "" });
      expect(error.slice(`colloquy: ${path}: `.length)).toMatch(reason);
      expect(error.match(/\n/g)).toHaveLength(1);
    }
  });

  const conversations: readonly string[] = [
    "chat.json",
    "responses.json",
    "model.json",
    "ui.json",
    "langchain-dumped.json",
  ];

  test.each(conversations)("reads one conversation of the messages of %s from each line", async (name) => {
    const lists = [files[name], files[name]];
    const inLines = write("lists.jsonl", linesOf(lists));
    const inRows = write("rows.jsonl", linesOf(lists.map((messages, id) => ({ id, messages }))));
    for (const path of [inLines, inRows]) {
      const replayed = await run("replay", path);
      expect(replayed).toMatchObject({ exitCode: 0, output: expect.stringMatching(/1: the same\n.* 2: the same\n$/) });
      const { exitCode, output } = await run("import", path, "--store", store);
      expect({ exitCode, threads: output.trimEnd().split("\n").length }).toEqual({ exitCode: 0, threads: 2 });
      const { output: chat } = await run("export", output.split("\n")[1] ?? "", "--as", "chat", "--store", store);
      expect(chat).toContain("Oslo?");
      expect(chat).toContain("Rain.");
    }
  });

  test("reports the fields that a row has beside its messages, and takes --thread for one conversation only", async () => {
    const path = write("rows.jsonl", linesOf([1, 2].map((id) => ({ id, messages: files["ui.json"] }))));
    const { error } = await run("import", path, "--store", store);
    const lost = (line: number): string =>
      `${path}: not carried: line ${line}: the field "id": a thread has no place for it\n`;
    expect(error).toContain(lost(1));
    expect(error).toContain(lost(2));
    const named = await run("import", path, "--store", store, "--thread", "one");
    expect(named).toMatchObject({ exitCode: 1, error: expect.stringContaining("the file has 2 conversations") });
  });

  test("names the line of a file that is not JSON", async () => {
    const path = write("torn.txt", "\nOslo?\n");
    const { exitCode, error } = await run("import", path, "--store", store);
    expect({ exitCode, error }).toEqual({
      exitCode: 1,
      error: `colloquy: ${path}: line 2 is not JSON: "Oslo?"\n`,
    });
  });

  test("refuses an option that has no meaning for the detected format, and says why", async () => {
    const journal = write("kept.jsonl", linesOf(journalOf("mended", ["Oslo?", "Rain."])));
    const { exitCode, error } = await run("import", journal, "--repair", "--store", store);
    expect({ exitCode, error }).toEqual({
      exitCode: 1,
      error: `colloquy: ${journal}: --repair cannot be used with the format journal: it mends messages of other libraries; leave it out\n`,
    });
  });
});

test("export --as langchain writes messages that import reads back", async () => {
  const path = write("there.json", JSON.stringify(files["langchain-stored.json"]));
  await run("import", path, "--thread", "there", "--store", store);
  const { output } = await run("export", "there", "--as", "langchain", "--store", store);
  const back = write("back.json", output);
  expect(await run("import", back, "--thread", "back", "--store", store)).toMatchObject({ exitCode: 0, error: "" });
  const again = await run("export", "back", "--as", "langchain", "--store", store);
  expect(JSON.parse(again.output)).toEqual(JSON.parse(output));
});
