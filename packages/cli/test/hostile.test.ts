import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { createHost } from "@colloquy/host";
import { conversationMachine, type Json } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { fails, reply, ruleModel, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../src/command.ts";
import { commands } from "../src/commands.ts";
import { openStore } from "../src/kept-threads.ts";
import { named, oneLine, printable, printableJson } from "@colloquy/cli/terminal";
import { slashCommands } from "@colloquy/cli/terminal";
import { type Ran, runIn } from "./run-command.ts";
import { runs } from "../../../test/runs.ts";
import { testFolder } from "./test-folder.ts";

const { folder, write } = testFolder();

/** Adds sequences that write to the clipboard, clear the screen, reverse the writing, overwrite text and hide a tag. */
const hostile = (word: string): string =>
  `${word}\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m\u009d0;x\u009c\u0000\r\b\u007f\u202Eeno\u2066\u200B\u200F\u061C\uFEFF\u{E0041}`;

/** Does the same for a path, which may have no NUL. */
const hostilePath = (word: string): string => hostile(word).replaceAll("\0", "");

/** Returns whether a character must not be printed. Independent of the code that removes it. */
const isSteering = (character: string): boolean => {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return code !== 0x09 && code !== 0x0a;
  return steeringRanges.some(([from, to]) => code >= from && code <= to);
};

const steeringRanges = [
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe007f],
] as const;

/** Returns the control characters of a text, in hexadecimal. */
const steeringIn = (shown: string): readonly string[] =>
  Array.from(shown)
    .filter(isSteering)
    .map((character) => (character.codePointAt(0) ?? 0).toString(16));

const id = `${hostile("id")}\nforged  9 entries`;
const storePath = join(folder, "kept.db");

const run = (args: readonly string[], questions: readonly string[] = []): Promise<Ran> =>
  runIn({ input: Readable.from(questions.map((question) => `${question}\n`)) }, ...args);

/** Stores a conversation in which every text from outside is hostile. */
beforeAll(async () => {
  const store = await openStore(storePath);
  const host = createHost({
    machine: conversationMachine(),
    store,
    llm: scriptedModel([
      toolCalls([{ name: hostile("look"), arguments: { [hostile("at")]: hostile("sky") } }], {
        content: hostile("Let me see."),
      }),
      reply(hostile("It is blue, says the needle.")),
    ]),
    clock: virtualClock(),
    ids: sequentialIds(),
    thread: { system: hostile("Be brief."), metadata: { [hostile("title")]: hostile("Sky") } },
  });
  await host.ask(hostile("What colour?"), { threadId: id });
  await host.close();
  await store.close();
  const { output } = await run(["export", id, "--store", storePath]);
  mkdirSync(join(folder, "journals"));
  write(join("journals", `${hostilePath("named")}\n.jsonl`), output);
});

const journals = join(folder, "journals");
const offline = ["--base-url", "http://127.0.0.1:9"];
const kept = ["--store", storePath];
const other = ["--store", join(folder, "other.db")];
const chatMessages = (content: string): string =>
  JSON.stringify([
    { role: "user", content, [hostile("odd")]: hostile("value") },
    { role: "assistant", content: hostile("Yes."), audio: { id: hostile("sound") } },
  ]);

/** By command, arguments that make it print texts of others. */
const cases: Readonly<Record<string, () => readonly (readonly string[])[]>> = {
  // The conversation has its own test below.
  chat: () => [["chat", "--base-url", hostile("nowhere")]],
  compare: () => [
    ["compare", journals],
    ["compare", write(hostilePath("torn"), `${hostile("{")}\n`)],
    ["compare", hostilePath("nowhere.jsonl")],
    ["compare", journals, "--after", write("thrower.mjs", `throw new Error(${JSON.stringify(hostile("no"))})`)],
  ],
  explain: () => [["explain", join(journals, `${hostilePath("named")}\n.jsonl`)]],
  rerun: () => [
    ["rerun", journals, ...offline, "--model", hostile("large")],
    ["rerun", journals, "--base-url", hostile("nowhere")],
    ["rerun", journals, ...offline, "--history", hostile("own")],
    ["rerun", hostilePath("nowhere.jsonl"), ...offline],
  ],
  replay: () => [
    ["replay", journals, "--system", hostile("Be brief.")],
    ["replay", journals, "--options", hostilePath("nowhere.ts")],
    ["replay", journals, "--from", hostile("xml")],
    ["replay", write("bad-log.jsonl", `${hostile("{")}\n`)],
    ["replay", write("said-log.json", chatMessages(hostile("Hi"))), "--system", "Be brief."],
  ],
  serve: () => [
    ["serve", "--port", hostile("80")],
    ["serve", ...offline, "--host", hostile("nowhere")],
    ["serve", "--token-file", write(hostilePath("token"), "a b")],
    ["serve", ...offline, "--host", hostile("nowhere"), "--token-file", write("token", "token-of-16-letters")],
  ],
  studio: () => [
    ["studio", hostile("threads.db")],
    ["studio", "--store", hostile("threads.db")],
    ["studio", ...kept, "--port", hostile("80")],
    ["studio", ...kept, "--options", hostile("machine.ts")],
    ["studio", ...kept, "--base-url", hostile("nowhere")],
  ],
  telemetry: () => [
    ["telemetry", journals, "--to", join(folder, hostilePath("spans"))],
    ["telemetry", hostile("nobody"), ...kept, "--to", join(folder, "none.jsonl")],
    ["telemetry", write("torn.jsonl", `${hostile("{")}\n`), "--to", join(folder, "torn-spans.jsonl")],
    ["telemetry", journals, "--to", `http://${hostile("nowhere")}`],
    ["telemetry", journals, "--to", "http://127.0.0.1:9", "--header-file", write("odd-headers", hostile("name"))],
  ],
  threads: () => [
    ["threads", ...kept],
    ["threads", ...kept, "--find", "needle"],
    ["threads", "--store", hostilePath("nowhere")],
  ],
  export: () => [
    ...["journal", "chat", "responses", "model", "ui", hostile("xml")].map((as) => ["export", id, "--as", as, ...kept]),
    ...["sft", "dpo", "trl", "trl-messages"].map((as) => ["export", id, "--as", as, "--per", "step", ...kept]),
    ["export", id, "--as", "sft", "--per", hostile("word"), ...kept],
    ["export", hostile("nobody"), "--as", "sft", ...kept],
    ["export", hostile("nobody"), ...kept],
    ["export", "--all", "--to", join(folder, "out"), ...kept],
  ],
  import: () => [
    ["import", journals, ...other],
    ["import", journals, ...other],
    ["import", write("bad.jsonl", `${hostile("{")}\n`), ...other],
    ["import", write("said.json", chatMessages(hostile("Hi"))), "--from", "chat", ...other],
    ...[
      hostile("{"),
      JSON.stringify({ messages: [{ role: "user", content: hostile("Hi") }], [hostile("odd")]: 1 }),
    ].map((line, index) => ["import", write(`rows-${index}.jsonl`, line), "--from", "sft", ...other]),
    ["import", write("bad.json", hostile("[")), "--from", "chat", ...other],
  ],
};

describe("what others wrote does not steer the terminal", () => {
  test("every command has a case", () => {
    expect(Object.keys(cases).toSorted()).toEqual(Object.keys(commands).toSorted());
  });

  test.each(Object.keys(cases))("colloquy %s", async (name) => {
    for (const args of cases[name]?.() ?? []) {
      const { output, error } = await run(args);
      expect(output + error).not.toBe("");
      expect(steeringIn(output + error)).toEqual([]);
    }
  });

  test("in arguments that are refused", async () => {
    for (const args of [[hostile("cmd")], [`--${hostile("opt")}`], ["chat", "--keys", hostile("now")]]) {
      const { exitCode, error } = await run(args);
      expect(exitCode).toBe(2);
      expect(steeringIn(error)).toEqual([]);
    }
  });

  test("an id with a line break forges no line", async () => {
    const { output } = await run(["threads", ...kept]);
    expect(output.trimEnd().split("\n")).toHaveLength(1);
    expect(output).toContain(String.raw`"id\u001b]52;c;aGk=\u0007`);
  });

  test("an exported journal equals the stored one", async () => {
    const store = await openStore(storePath);
    const kept = await store.read(id);
    await store.close();
    const { output } = await run(["export", id, "--store", storePath]);
    const parsed = output
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(parsed).toEqual(kept);
  });
});

const slashLines: Readonly<Record<string, string>> = {
  "/thread": `/thread ${hostile("other")}`,
  // Not written, since the file exists.
  "/export": `/export ${hostile("package.json")}`,
};

const script = () =>
  ruleModel([
    {
      name: "fails",
      when: ({ lastUserText }) => lastUserText.includes("fail"),
      answer: () => fails({ kind: "bad_request", status: 400, message: hostile("no") }),
    },
    {
      name: "calls",
      when: ({ last, lastUserText }) => lastUserText.includes("look") && last?.role !== "tool",
      answer: () => toolCalls([{ name: hostile("look"), arguments: { at: hostile("sky") } }]),
    },
    { name: "streams", when: () => true, answer: () => streams([hostile("One "), hostile("two.")]) },
  ]);

describe("a chat", () => {
  const questions = ["look", "fail", hostile("say")];

  test.each([
    ["a thread", "chat"],
    ["a thread with a hostile id", hostile("thread")],
  ])("over a pipe, on %s", async (_, threadId) => {
    await using server = await loopbackServer({ model: script() });
    const slash = slashCommands.map(({ name }) => name).filter((name) => name !== "/quit");
    const lines = [
      ...questions,
      "/context",
      ...slash.map((name) => slashLines[name] ?? name),
      hostile("/what"),
      ...questions,
    ];
    const args = ["chat", "--base-url", server.url, "--model", hostile("model"), "--thread", threadId];
    const { output, error } = await run(args, lines);
    expect(output).toMatch(/One .*two\./s);
    expect(error).toContain("error: the model call failed");
    expect(steeringIn(output + error)).toEqual([]);
  });

  test("in a terminal, where readline alone steers", async () => {
    await using server = await loopbackServer({ model: script() });
    const [input, output, error] = [new PassThrough(), new PassThrough(), new PassThrough()];
    let shown = "";
    const watchers = new Set<() => void>();
    output.setEncoding("utf8").on("data", (piece: string) => {
      shown += piece;
      for (const watch of watchers) watch();
    });
    const until = (words: string) =>
      new Promise<void>((resolve) => {
        const watch = (): void => void (shown.includes(words) && (watchers.delete(watch), resolve()));
        watchers.add(watch);
        watch();
      });
    const done = runCommand(["chat", "--base-url", server.url, "--thread", hostile("thread")], {
      input,
      output,
      error,
      isTerminal: true,
      environment: { NO_COLOR: "1" },
      signal: new AbortController().signal,
    });
    await until("> ");
    input.write("look\rfail\r/usage\r/undo\r/context\r/nonsense\r");
    await until("there is no command /nonsense");
    input.write("/quit\r");
    expect(await done).toBe(0);
    expect(shown).toContain("two.");
    const others = shown.replaceAll(keys, "").replaceAll("\r\n", "\n");
    expect(steeringIn(others)).toEqual([]);
  });
});

/** Matches readline's sequences: they move the cursor and clear after it. */
const keys = new RegExp(String.raw`\u001B\[(?:\d+G|0J|\d*[ABCD])`, "g");

describe("the one function", () => {
  const anyText = fc.string({
    unit: fc.oneof(fc.constantFrom(...Array.from(hostile("a\n\t "))), fc.string({ unit: "binary", maxLength: 1 })),
  });
  const fixed = { seed: 9, numRuns: runs(300) };

  test("leaves nothing that steers, and all that shows", () => {
    fc.assert(
      fc.property(anyText, (given) => {
        expect(steeringIn(printable(given))).toEqual([]);
        expect(oneLine(given)).not.toMatch(/[\n\t]/);
      }),
      fixed,
    );
    const said = "Grüße 世界 👩‍👧 می‌خواهم עברית\tend\n";
    expect(printable(said)).toBe(said);
  });

  test("tells names apart that would look the same", () => {
    expect(named("ada")).toBe("ada");
    expect(named("a b")).toBe("a b");
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        expect(steeringIn(named(left))).toEqual([]);
        expect(named(left) === named(right)).toBe(left === right);
      }),
      fixed,
    );
    expect(named(named("a\u001B"))).not.toBe(named("a\u001B"));
    expect(named("ad\u200Dmin")).toBe(String.raw`"ad\u200dmin"`);
  });

  test("keeps what JSON says", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: fc.constantFrom(...Array.from(hostile("a\u2028\uD800"))) }), (value) => {
        const written = printableJson(value, 1);
        expect(steeringIn(written)).toEqual([]);
        expect(JSON.parse(written) as Json).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      fixed,
    );
  });
});
