import type { Clock, LlmHandler } from "@colloquy/host";
import { type Event, textOf } from "@colloquy/machine";
import { runningClock } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, it } from "vitest";
import { rerun } from "../../../src/datasets/index.ts";
import { addedJournal } from "../journal.ts";
import { stage } from "../stage.ts";

const clock = runningClock();

const added = (content: string | readonly object[]): Event => ({
  type: "turn.added",
  at: 1,
  // Cast: the tests give content parts.
  messages: [
    { role: "user", content: content as string },
    { role: "assistant", content: "A" },
  ],
});

it("rerun cancels the turn that is open when its signal aborts, and asks no further one", async () => {
  const stop = new AbortController();
  let calls = 0;
  const llm: LlmHandler = async () => {
    calls += 1;
    stop.abort("enough");
    return { type: "completed", reply: { content: "A" }, finishReason: "stop" };
  };
  const journal = addedJournal([added("Q1"), added("Q2")]);
  const { conversations } = await rerun([journal], { clock, llm, signal: stop.signal });
  expect([calls, conversations[0]?.problem]).toEqual([1, "enough"]);
  expect(conversations[0]?.turns.map(({ after }) => [after.status, after.why])).toEqual([["cancelled", "enough"]]);
});

it("rerun asks a turn under the system prompt at its start, however often that changed between turns", async () => {
  const changed = (content: string): Event => ({ type: "system.changed", at: 1, system: { role: "system", content } });
  const events = [
    added("Q1"),
    changed("Second:"),
    changed("Third:"),
    added("Q2"),
    changed("Fourth:"),
    changed("Last:"),
  ];
  const journal = addedJournal(events, "t", { role: "system", content: "First:" });
  const prompts: (readonly string[])[] = [];
  const llm: LlmHandler = async ({ messages }) => {
    prompts.push(messages.map(textOf));
    return { type: "completed", reply: { content: "A" }, finishReason: "stop" };
  };
  await rerun([journal], { clock, llm, history: "own" });
  expect(prompts).toEqual([
    ["First:", "Q1"],
    ["Third:", "Q1", "A", "Q2"],
  ]);
});

it("rerun asks a question with all its contents, data and parts of other formats among them", async () => {
  const content = [
    { type: "text", text: "Look:" },
    { type: "data", field: "city", value: "Oslo" },
    { type: "image", url: "https://example.org/a.png" },
    { type: "opaque", value: { type: "input_audio" } },
  ];
  const given: unknown[] = [];
  const model = scriptedModel([reply("A")]);
  const llm: LlmHandler = (call, context) => {
    given.push(...call.messages.map(({ parts }) => parts));
    return model(call, context);
  };
  await rerun([addedJournal([added(content)])], { clock, llm });
  expect(given).toEqual([content]);
});

it("rerun asks the question of a turn that failed before its first reply", async () => {
  const { host, journal } = stage(scriptedModel([fails({ kind: "bad_request" })]));
  await expect(host.ask("Q", { threadId: "t" })).rejects.toThrow("bad_request");
  await host.close();
  const { conversations } = await rerun([await journal("t")], { clock, llm: scriptedModel([reply("A")]) });
  expect(conversations[0]?.turns).toMatchObject([
    { question: "Q", before: { status: "failed", why: "the script says: bad_request" }, after: { answer: "A" } },
  ]);
});

it("rerun reports why a recorded turn gave no output", async () => {
  const { host, journal } = stage(scriptedModel(Array.from({ length: 10 }, () => reply("no JSON"))));
  const output = { schema: { jsonSchema: { type: "object" } }, name: "made" } as const;
  await expect(host.ask("Q", { threadId: "t", output })).rejects.toThrow("JSON");
  await host.close();
  const { conversations } = await rerun([await journal("t")], { clock, llm: scriptedModel([reply("A")]) });
  expect(conversations[0]?.turns[0]?.before).toMatchObject({ status: "failed", why: expect.stringContaining("JSON") });
});

it("rerun leaves no timer of its hosts", async () => {
  const timers = new Set<object>();
  const counting: Clock = {
    now: () => clock.now(),
    wakeAt: (dueAt, callback, kind) => {
      const timer = {};
      timers.add(timer);
      const fired = (): void => {
        timers.delete(timer);
        callback();
      };
      const cancel = clock.wakeAt(dueAt, fired, kind);
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
  };
  await rerun([addedJournal([added("Q")])], { clock: counting, llm: scriptedModel([reply("A")]) });
  expect(timers.size).toBe(0);
});
