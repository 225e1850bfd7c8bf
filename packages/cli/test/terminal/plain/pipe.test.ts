import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createHost, memoryStore } from "@colloquy/host";
import { conversationMachine, textOf } from "@colloquy/machine";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { fails, never, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { converse } from "../../../src/terminal/index.ts";
import { hold } from "./conversation.ts";

test("each line is a question, and is repeated before its answer", async () => {
  const usage = { totalTokens: 1050 };
  const model = scriptedModel([
    reply("Hello, Ada.", { expects: "I am Ada.", usage }),
    reply("Ada.", { expects: (prompt) => prompt.mentions("I am Ada."), usage }),
  ]);
  const { input, outcome, written } = hold(model);
  input.end("I am Ada.\n\n  \nWho am I?");
  expect(await outcome).toMatchObject({ threadId: "here", failures: 0 });
  expect(written()).toBe(`new thread here
> I am Ada.
Hello, Ada.
(0 ms, 1 step, 1.1k tokens)
> Who am I?
Ada.
(0 ms, 1 step, 1.1k tokens)
thread here: 2 turns, 2 steps, 2.1k tokens in 0 ms
`);
  model.assertComplete();
});

test("an error is told in a line, and the conversation goes on", async () => {
  const model = scriptedModel([
    fails({ kind: "auth", message: "wrong\nkey" }),
    fails({ kind: "network", message: "gone" }, { partial: "I thi" }),
    reply("Yes."),
  ]);
  const { input, outcome, written } = hold(model, { machine: { retry: { attempts: 1 } } });
  input.end("One?\nTwo?\nThree?\n");
  expect((await outcome).failures).toBe(2);
  expect(written()).toContain("> One?\nerror: the model call failed (auth): wrong key (is OPENAI_API_KEY");
  expect(written()).toContain("> Two?\nI thi\nerror: the model call failed (network): gone (");
  expect(written()).toContain("> Three?\nYes.\n(0 ms, 1 step, ? tokens)\n");
});

test("a limit is told with the way out", async () => {
  const { input, outcome, written } = hold(scriptedModel([]), { machine: { limits: { steps: 0 } } });
  input.end("One?\n");
  expect((await outcome).failures).toBe(1);
  expect(written()).toContain("error: the turn ended at its limit of 0 (steps); ask again to go on\n");
});

test("costs and limits are shown in units of the currency", async () => {
  const machine = {
    pricing: { name: "flat", version: 1, options: {}, price: () => ({ nano: 25_000_000, currency: "EUR" }) },
  };
  const told = hold(scriptedModel([reply("Yes.", { usage: { totalTokens: 10 } })]), { machine });
  told.input.end("One?\n");
  await told.outcome;
  expect(told.written()).toContain("(0 ms, 1 step, 10 tokens, 0.025 EUR)\n");
  expect(told.written()).toContain("thread here: 1 turn, 1 step, 10 tokens, 0.025 EUR in 0 ms\n");
  const limited = hold(scriptedModel([]), { machine: { ...machine, limits: { costNano: 0 } } });
  limited.input.end("One?\n");
  await limited.outcome;
  expect(limited.written()).toContain("the turn ended at its limit of 0 (cost); ask again to go on\n");
});

test("tool calls are shown in a line each, their results only when they did not succeed", async () => {
  const model = scriptedModel([
    toolCalls([{ name: "look", arguments: { at: "the\nsky" } }], { content: "Let me see." }),
    reply("Blue."),
  ]);
  const { input, outcome, written } = hold(model);
  input.end("What colour?\n");
  await outcome;
  expect(written()).toContain(
    'Let me see.\n  look {"at":"the\\nsky"}\n  look refused: There is no tool "look". The tools are: none.\nBlue.\n',
  );
});

test("an attempt that is made again begins a line of its own", async () => {
  const model = scriptedModel([fails({ kind: "overloaded" }, { partial: "One, t" }), reply("One, two.")]);
  const { clock, input, outcome, until, written } = hold(model);
  input.end("Count.\n");
  await until("trying again");
  await clock.advance(1000);
  await outcome;
  expect(written()).toMatch(/One, t\n {2}overloaded: trying again at [\d:]{8} \(attempt 2\)\nOne, two\.\n\(/);
});

test("a model's text does not steer the terminal", async () => {
  const { input, outcome, written } = hold(scriptedModel([reply("a\u001b[2Jb\u0007\u009bc\td\r\ne")]));
  input.end("Hi\n");
  await outcome;
  expect(written()).toContain("a␛[2Jb␇<U+009B>c\td\ne\n");
});

test("a signal cancels the answer and ends the conversation", async () => {
  const ending = new AbortController();
  const { input, outcome, until, written } = hold(scriptedModel([never({ pieces: ["Well"] })]), {
    signal: ending.signal,
  });
  input.write("One?\nTwo?\n");
  await until("Well");
  ending.abort();
  expect((await outcome).failures).toBe(0);
  expect(written()).toMatch(/Well\ncancelled\n\(.*\)\nthread here: 1 turn, /);
  expect(written()).not.toContain("Two?");
});

test("a thread of which a turn is open says that somebody may be answering it", async () => {
  const ending = new AbortController();
  const first = hold(scriptedModel([never({ pieces: ["Well"] })]), { signal: ending.signal });
  first.input.write("One?\n");
  await first.until("Well");
  const output = new PassThrough();
  const { host } = first;
  await converse({ host, threadId: "here", input: Readable.from([]), output, isTerminal: false });
  output.end();
  expect(await text(output)).toContain(
    "another process is answering it, or died at it; the next question comes after it",
  );
  ending.abort();
  await first.outcome;
});

test("a thread that another process holds is handed over, and answered", async () => {
  const clock = runningClock();
  const store = memoryStore({ clock });
  const setting = { machine: conversationMachine(), store, clock, ids: sequentialIds() };
  const holder = createHost({ ...setting, llm: scriptedModel([reply("one")]), idleMs: 3_600_000 });
  await holder.ask("One?", { threadId: "here" });
  const host = createHost({ ...setting, llm: scriptedModel([reply("two")]) });
  const output = new PassThrough();
  const input = Readable.from(["Two?\n"]);
  expect(await converse({ host, threadId: "here", input, output, isTerminal: false })).toMatchObject({ failures: 0 });
  await host.close();
  await holder.close();
  output.end();
  expect(await text(output)).toMatch(/> Two\?\n[^]*\ntwo\n\(.*1 step/);
});

test("/undo and /clear change what is sent, and lose nothing", async () => {
  const model = scriptedModel(["one", "two", "three", "four"].map((word) => reply(word)));
  const { input, outcome, written } = hold(model);
  input.end("1\n2\n/undo\n3\n/clear\n4\n/undo\n/undo\n/usage\n");
  expect((await outcome).failures).toBe(1);
  expect(model.calls.map(({ messages }) => messages.map(textOf))).toEqual([
    ["1"],
    ["1", "one", "2"],
    ["1", "one", "3"],
    ["4"],
  ]);
  expect(written()).toContain("took back turn 2: 2\n");
  expect(written()).toContain("error: there is nothing to take back\n");
  expect(written()).toContain("> /usage\nthread here: 4 turns, 4 steps, ");
});

test("/thread, /new and /quit turn to another thread, to a new one, and to the end", async () => {
  const model = scriptedModel(["one", "two", "three"].map((word) => reply(word)));
  const { input, outcome, written } = hold(model);
  input.end("1\n/thread there\n2\n/new\n/thread here\n3\n/nonsense\n/thread\n/quit\n4\n");
  expect(await outcome).toMatchObject({ threadId: "here", failures: 2 });
  expect(written()).toContain("> /thread there\nnew thread there\n> 2\n");
  expect(written()).toContain(
    "> /new\nnew thread thread-1\n> /thread here\ncontinuing thread here: 1 turn, ? tokens\n",
  );
  expect(written()).toContain("error: there is no command /nonsense; /help lists them\n");
  expect(written()).toContain("error: /thread needs an id; the present one is here\n");
  expect(written()).not.toContain("> 4");
  expect(model.calls.at(-1)?.messages.map(textOf)).toEqual(["1", "one", "3"]);
});

test("a text in pieces is shown as it comes", async () => {
  const { clock, input, outcome, until, written } = hold(
    scriptedModel([streams(["Once ", { text: "upon", delayMs: 100 }])]),
  );
  input.end("A story, please.\n");
  await until("Once ");
  expect(written()).not.toContain("upon");
  await clock.advance(100);
  await outcome;
  expect(written()).toContain("Once upon\n(0.1 s, 1 step, ? tokens)\n");
});
