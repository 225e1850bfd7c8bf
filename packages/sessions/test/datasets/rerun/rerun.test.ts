import { type LlmHandler, tool } from "@colloquy/host";
import { type Entry, type JsonObject, type MachineOptions, textOf, toolResultOf } from "@colloquy/machine";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { lastTurns } from "@colloquy/machine/policies";
import { runningClock } from "@colloquy/runtime-test";
import { fails, reply, ruleModel, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { rerun, type RerunOptions, rerunTable } from "../../../src/datasets/index.ts";
import { addedJournal } from "../journal.ts";
import { stage, weather } from "../stage.ts";

const clock = runningClock();

/** Looks up the weather, and answers with it and the system prompt. */
const forecaster = (city = "Oslo"): LlmHandler =>
  ruleModel([
    {
      name: "looks it up",
      when: ({ last }) => last?.role === "user",
      answer: () => toolCalls([{ name: "weather", arguments: { city } }]),
    },
    {
      name: "says it",
      when: ({ last }) => last?.role === "tool",
      answer: ({ system, last }) => `${system} ${last?.text ?? ""}`,
    },
  ]);

const askedAgain = async (recordings: readonly NamedJournal[], options: Omit<RerunOptions, "clock">) =>
  rerun(recordings, { clock, ...options });

const machine = { tools: [weather.declaration] };

describe("a recorded conversation that is asked again", () => {
  let recorded: NamedJournal;

  beforeAll(async () => {
    const { host, journal } = stage(forecaster(), {}, [weather]);
    const thread = host.thread("t");
    await thread.start({ system: "Briefly:" });
    await thread.ask("How is it?");
    await thread.changeSystem("At length:");
    await thread.ask("And now?");
    await host.close();
    recorded = await journal("t");
  });

  it("goes as it was recorded where nothing is another, tools and the system prompt of each turn included", async () => {
    for (const history of ["recorded", "own"] as const) {
      const { conversations, before, after } = await askedAgain([recorded], { llm: forecaster(), machine, history });
      expect(conversations[0]?.problem).toBeNull();
      expect(conversations[0]?.turns.map(({ same, after: { answer } }) => [same, answer])).toEqual([
        [true, "Briefly: clear in Oslo"],
        [true, "At length: clear in Oslo"],
      ]);
      expect(after).toEqual(before);
      expect(after).toMatchObject({ turns: 2, completed: 2, toolCalls: 2, usage: { calls: 4 } });
    }
  });

  it("takes tools whose schemas cannot be checked in bounds, as those of other validators may be", async () => {
    const parameters = { type: "object", properties: { city: { type: "string", pattern: "(s)\\1" } } };
    const { conversations } = await askedAgain([recorded], {
      llm: forecaster(),
      machine: { tools: [{ ...weather.declaration, parameters }] },
    });
    expect(conversations[0]?.problem).toBeNull();
    expect(conversations[0]?.turns.map(({ after: { status } }) => status)).toEqual(["completed", "completed"]);
  });

  it("is asked under another system prompt, and scored on both sides", async () => {
    const { conversations, before, after } = await askedAgain([recorded], {
      llm: forecaster(),
      machine,
      system: "In one word:",
      metric: ({ answer }, { answer: then }) => answer !== then,
    });
    const [first] = conversations[0]?.turns ?? [];
    expect(first?.after.answer).toBe("In one word: clear in Oslo");
    expect([first?.same, before.score, after.score]).toEqual([false, 0, 1]);
  });

  it("ends a turn, in words, whose call the recording has no result of", async () => {
    const { conversations, after } = await askedAgain([recorded], { llm: forecaster("Bergen"), machine });
    const why = 'the recording has no result of weather({"city":"Bergen"})';
    expect(conversations[0]?.turns.map(({ after: { status, why: said } }) => [status, said])).toEqual([
      ["cancelled", why],
      ["cancelled", why],
    ]);
    expect(after.completed).toBe(0);
  });

  it("has the whole question, and gives equal calls of a turn their results in order, further ones the last", async () => {
    let rolls = 0;
    const dice = tool({ name: "dice", description: "Rolls.", input: z.object({}), run: () => String((rolls += 1)) });
    const rolling = (times: number): LlmHandler => {
      const steps = Array.from({ length: times }, () => toolCalls([{ name: "dice", arguments: {} }]));
      return scriptedModel([...steps, reply("Done.")]);
    };
    const { host, journal } = stage(rolling(3), {}, [dice]);
    const image = { type: "image", url: "https://example.org/dice.png" } as const;
    await host.ask([{ type: "text", text: "Roll." }, image], { threadId: "t" });
    const machine = { tools: [dice.declaration] };
    const given: unknown[] = [];
    const model = rolling(4);
    const llm: LlmHandler = (request, context) => {
      const last = request.messages.at(-1);
      given.push(last?.role === "user" ? last.parts : last && textOf(last));
      return model(request, context);
    };
    await askedAgain([await journal("t")], { llm, machine });
    expect(given).toEqual([[{ type: "text", text: "Roll." }, image], "1", "2", "3", "3"]);
  });

  it("rerun answers a call with recorded results of its turn, or else of the newest earlier turn, failures included", async () => {
    let rolls = 0;
    const dice = tool({
      name: "dice",
      description: "Rolls.",
      input: z.object({}),
      run: () => {
        rolls += 1;
        if (rolls === 3) throw new Error(`lost ${rolls}`);
        return String(rolls);
      },
    });
    /** Returns a model that rolls this many times in each turn. */
    const rolling = (...turns: readonly number[]): LlmHandler => {
      const roll = () => toolCalls([{ name: "dice", arguments: {} }]);
      return scriptedModel(turns.flatMap((times) => [...Array.from({ length: times }, roll), reply("Done.")]));
    };
    const { host, journal } = stage(rolling(1, 2, 0, 1), {}, [dice]);
    for (const question of ["Q1", "Q2", "Q3", "Q4"]) await host.ask(question, { threadId: "t" });
    await host.close();
    const results: string[] = [];
    const model = rolling(1, 3, 1, 1);
    const llm: LlmHandler = (call, context) => {
      const last = call.messages.at(-1);
      const result = last === undefined ? undefined : toolResultOf(last);
      if (last !== undefined && result !== undefined) results.push(`${textOf(last)} ${result.outcome}`);
      return model(call, context);
    };
    const { after } = await askedAgain([await journal("t")], { llm, machine: { tools: [dice.declaration] } });
    const [one, two, four] = ["1", "2", "4"].map((result) => `${result} completed`);
    expect([results, after.completed]).toEqual([[one, two, ...Array(3).fill("lost 3 failed"), four], 4]);
  });

  it("rerun has no result for a call that only the machine answered in the recording", async () => {
    const { host, journal } = stage(forecaster());
    await host.ask("How is it?", { threadId: "t" });
    await host.close();
    const { conversations } = await askedAgain([await journal("t")], { llm: forecaster(), machine });
    expect(conversations[0]?.turns[0]?.after.why).toBe('the recording has no result of weather({"city":"Oslo"})');
  });

  it("is not asked a turn that begins with a greeting and has no question", async () => {
    const said = (role: "assistant" | "user", content: string) => ({ role, content });
    const journal = addedJournal([
      { type: "turn.added", at: 1, messages: [said("assistant", "Welcome!")] },
      { type: "turn.added", at: 2, messages: [said("user", "Hi"), said("assistant", "Hello")] },
    ]);
    const { conversations } = await askedAgain([journal], { llm: scriptedModel([reply("Hey")]) });
    expect(conversations[0]?.turns.map(({ turn, after }) => [turn, after.answer])).toEqual([[2, "Hey"]]);
  });

  it("ends one that calls a tool which is not declared", async () => {
    const { conversations } = await askedAgain([recorded], { llm: forecaster() });
    const why = `the machine's options do not declare the tool of weather({"city":"Oslo"})`;
    // Only one of two calls was made.
    expect(
      conversations[0]?.turns.map(({ after }) => [after.why, after.tools.length, after.usage.totalTokens.reported]),
    ).toEqual([
      [why, 1, 1],
      [why, 1, 1],
    ]);
  });

  it("stands behind what was recorded, or behind its own answers", async () => {
    const remembering: LlmHandler = async ({ messages }) => ({
      type: "completed",
      reply: { content: messages.map((message) => textOf(message)).join(" | ") },
      finishReason: "stop",
    });
    const journal = addedJournal(
      ["Q1", "Q2"].map((content) => ({
        type: "turn.added",
        at: 1,
        messages: [
          { role: "user", content },
          { role: "assistant", content: `recorded ${content}` },
        ],
      })),
    );
    const answers = async (options: Partial<RerunOptions>) =>
      (await askedAgain([journal], { llm: remembering, ...options })).conversations[0]?.turns.map(
        ({ after }) => after.answer,
      );
    expect(await answers({})).toEqual(["Q1", "Q1 | recorded Q1 | Q2"]);
    expect(await answers({ history: "own" })).toEqual(["Q1", "Q1 | Q1 | Q2"]);
    expect(await answers({ machine: { policy: lastTurns(0) } })).toEqual(["Q1", "Q2"]);
  });

  it("is asked with the thread's parameters, and others laid over them", async () => {
    const seen: JsonObject[] = [];
    const llm: LlmHandler = async ({ model }) => {
      seen.push(model);
      return { type: "completed", reply: { content: "A" }, finishReason: "stop" };
    };
    const { host, journal } = stage(llm);
    await host.thread("t").start({ model: { temperature: 0, model: "old" } });
    await host.ask("Q", { threadId: "t" });
    await host.close();
    await askedAgain([await journal("t")], { llm, model: { model: "new" } });
    expect(seen).toEqual([
      { temperature: 0, model: "old" },
      { temperature: 0, model: "new" },
    ]);
  });

  it("rerun sends the model the recorded names, metadata, roles and all messages of one turn", async () => {
    const journal = addedJournal(
      [
        {
          type: "turn.added",
          at: 1,
          messages: [
            { role: "user", name: "ada", content: "Q1", metadata: { from: "phone" } },
            { role: "user", content: "Q2", provider: { kind: "x" } },
            { role: "assistant", content: "A" },
          ],
        },
      ],
      "t",
      { role: "developer", content: "Briefly:" },
    );
    const seen: unknown[] = [];
    const llm: LlmHandler = async ({ messages }) => {
      seen.push(...messages.map(({ id: _, digest: __, ...message }) => message));
      return { type: "completed", reply: { content: "A" }, finishReason: "stop" };
    };
    const { conversations } = await askedAgain([journal], { llm });
    const text = (words: string) => [{ type: "text", text: words }];
    expect(seen).toEqual([
      { role: "developer", parts: text("Briefly:") },
      { role: "user", name: "ada", parts: text("Q1"), metadata: { from: "phone" } },
      { role: "user", parts: text("Q2"), provider: { kind: "x" } },
    ]);
    expect(conversations[0]?.turns.map(({ question, same }) => [question, same])).toEqual([["Q1\nQ2", true]]);
  });

  it("rerun hides secrets of the model's handler in a failure", async () => {
    const failure = { kind: "unknown", message: "refused: hush-hush", retryable: false } as const;
    const llm: LlmHandler = Object.assign(async () => ({ type: "failed", failure }) as const, {
      secrets: () => ["hush-hush"],
    });
    const { conversations } = await askedAgain([recorded], { llm, machine });
    expect(conversations[0]?.turns[0]?.after.why).toMatch(/^refused: (?!hush)/);
  });

  it("fails by itself: a broken journal, a model that fails, a metric that throws stop nothing else", async () => {
    const broken = { name: "broken", entries: recorded.entries.filter(({ seq }: Entry) => seq !== 1) };
    const llm = scriptedModel([fails({ kind: "bad_request" }), reply("A")]);
    const report = await askedAgain([broken, recorded], {
      llm,
      concurrency: 1,
      metric: () => {
        throw new Error("no idea");
      },
    });
    expect(report.conversations[0]?.problem).toContain("stands where 1 should");
    expect(
      report.conversations[1]?.turns.map(({ after: { why, answer, metricFailed } }) => [why, answer, metricFailed]),
    ).toEqual([
      ["the script says: bad_request", "", null],
      [null, "A", "no idea"],
    ]);
    expect(rerunTable(report)).toContain("no score: no idea");
  });

  it.each([
    [Number.NaN, "NaN"],
    ["high", "a value of type string"],
  ])("notes a metric that gives %j", async (given, words) => {
    // Cast: a metric may be written in JavaScript.
    const metric = (() => given) as unknown as NonNullable<RerunOptions["metric"]>;
    const { conversations } = await askedAgain([recorded], { llm: forecaster(), machine, metric });
    expect(conversations[0]?.turns[0]?.after.metricFailed).toBe(
      `it gave ${words}; a score is a finite number, true, false or null`,
    );
  });

  it("is not asked what was taken out of it", async () => {
    const { host, journal } = stage(forecaster(), {}, [weather]);
    await host.ask("My name is Ada.", { threadId: "t" });
    await host.ask("How is it?", { threadId: "t" });
    await host.thread("t").redact({ turn: 1 });
    await host.close();
    const { conversations } = await askedAgain([await journal("t")], { llm: forecaster(), machine });
    expect(conversations[0]?.turns.map(({ question }) => question)).toEqual(["How is it?"]);
  });

  it.each<readonly [object, string]>([
    [{ sytem: "Be brief." }, 'rerun has no option "sytem"'],
    [{ llm: undefined }, 'rerun needs the option "llm", and it is missing'],
    [{ clock: { now: () => 0 } }, "rerun: clock must be a clock, such as systemClock"],
    [{ machine: 7 }, "rerun: machine must be an object (got 7)"],
    [{ system: 7 }, "rerun: system must be a text, content parts, or null for none (got 7)"],
    [{ model: "large" }, "rerun: model must be an object"],
    [{ history: "new" }, 'rerun: history must be "recorded" or "own" (got "new")'],
    [{ metric: 1 }, "rerun: metric must be a function (got 1)"],
    [{ signal: {} }, "rerun: signal must be"],
  ])("rerun rejects the invalid options %j", async (options, says) => {
    await expect(askedAgain([recorded], { llm: forecaster(), ...options })).rejects.toThrow(says);
  });

  it.each<readonly [NonNullable<RerunOptions["system"]> | null, string]>([
    [null, " clear in Oslo"],
    ["", " clear in Oslo"],
    [{ role: "developer", content: "Now:" }, "Now: clear in Oslo"],
    [{ role: "system", content: [{ type: "text", text: "Now:" }] }, "Now: clear in Oslo"],
  ])("rerun asks the model with the system prompt %j", async (system, answer) => {
    const { conversations } = await askedAgain([recorded], { llm: forecaster(), machine, system });
    expect(conversations[0]?.turns.map(({ after }) => after.answer)).toEqual([answer, answer]);
  });

  it("is asked so many at a time", async () => {
    let now = 0;
    let most = 0;
    const llm: LlmHandler = async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      await new Promise<void>((resolve) => {
        clock.wakeAt(clock.now() + 10, resolve);
      });
      now--;
      return { type: "completed", reply: { content: "A" }, finishReason: "stop" };
    };
    const recordings = Array.from({ length: 6 }, () => recorded);
    await askedAgain(recordings, { llm });
    expect(most).toBe(4);
    most = 0;
    const { conversations } = await askedAgain(recordings, { llm, concurrency: 3 });
    expect(most).toBe(3);
    expect(conversations.map(({ turns }) => turns.length)).toEqual([2, 2, 2, 2, 2, 2]);
    await expect(askedAgain([], { llm, concurrency: 0 })).rejects.toThrow(
      "concurrency must be a whole number ≥ 1 (got 0)",
    );
  });

  it("stops where its signal says so", async () => {
    const { conversations } = await askedAgain([recorded], { llm: forecaster(), signal: AbortSignal.abort("enough") });
    expect(conversations).toEqual([{ name: "t", problem: "enough", turns: [] }]);
  });

  it("has what it cost then beside what it costs now", async () => {
    const usage = { inputTokens: 3, outputTokens: 2 };
    const priced = (nano: number): MachineOptions => ({
      pricing: { name: "flat", version: 1, options: { nano }, price: () => ({ nano, currency: "USD" }) },
    });
    const { host, journal } = stage(scriptedModel([reply("A1", { usage })]), priced(3_000_000));
    await host.ask("Q1", { threadId: "t" });
    await host.close();
    const options = { llm: scriptedModel([reply("B1", { usage })]), machine: priced(1_000_000) };
    const report = await askedAgain([await journal("t")], options);
    expect(report.before.usage.cost["USD"]?.sum).toBe(3_000_000);
    expect(report.after.usage.cost["USD"]?.sum).toBe(1_000_000);
    expect(rerunTable(report)).toMatch(/cost \(USD\) +0\.003 +0\.001 +-0\.002/u);
  });

  it("is a table for a person", async () => {
    const report = await askedAgain([recorded], { llm: forecaster(), machine, system: "Now:", metric: () => 1 });
    expect(rerunTable(report)).toBe(`t: 2 turns asked again, 2 otherwise
  turn 1: How is it?
    recorded  weather({"city":"Oslo"}), "Briefly: clear in Oslo", score 1
    now       weather({"city":"Oslo"}), "Now: clear in Oslo", score 1
  turn 2: And now?
    recorded  weather({"city":"Oslo"}), "At length: clear in Oslo", score 1
    now       weather({"city":"Oslo"}), "Now: clear in Oslo", score 1

               recorded  now  change
turns                 2    2
completed             2    2
tool calls            2    2
model calls           4    4
input tokens        170  164      -6
output tokens        24   22      -2
mean score            1    1`);
  });
});
