import { expect, test } from "vitest";
import { asked, type Options, questions, seeing, sessionOf } from "../programs.ts";
import { fails, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { tool } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import * as z from "zod";

// Repeats the behaviour of DSPy's ConversationalAgent, from its own tests and from runs of it. If a session differs,
// the test's name says so.

/** Makes a session with summaries, and a function that waits for `count` of them. */
const summarising = (options: Options, program?: Parameters<typeof sessionOf>[0]) => {
  let ended = 0;
  let news: PromiseWithResolvers<void> = Promise.withResolvers();
  const made = (program === undefined ? seeing : (all: Options) => ({ qa: sessionOf(program, all), seen: [] }))({
    compression: "concise",
    ...options,
    host: {
      onObserverError: () => {},
      observers: [
        {
          signal: ({ type }) => {
            if (type !== "summary.completed" && type !== "summary.failed") return;
            ended += 1;
            news.resolve();
            news = Promise.withResolvers();
          },
        },
      ],
    },
  });
  const summaries = async (count: number): Promise<void> => {
    while (ended < count) await news.promise;
  };
  return { ...made, summaries };
};

test("48: without turns the text is exactly `No prior conversation context.`", async () => {
  const { qa, seen } = seeing();
  expect((await qa.memory()).text).toBe("No prior conversation context.");
  await asked(qa, 1);
  expect(seen[0]?.text).toBe("No prior conversation context.");
});

test("49: summaries stand one on a line, under the numbers of their turns", async () => {
  const { qa, seen, summaries } = summarising({ summariser: numbered() });
  await asked(qa, 1);
  await summaries(1);
  await asked(qa, 2);
  await summaries(2);
  await asked(qa, 3);
  expect(seen[2]?.text).toBe("[Turn 1] S1\n[Turn 2] S2");
  expect(seen[2]?.exchanges).toEqual([]);
});

test("49: each turn has one summary in the list, also where a summary has several lines", async () => {
  const written = ["S1\n[Turn 9] still S1", "S2"];
  const { qa, summaries } = summarising({ summariser: () => written.shift() ?? "" });
  expect(await qa.summaries()).toEqual([]);
  await asked(qa, 1);
  await summaries(1);
  await asked(qa, 2);
  await summaries(2);
  expect(await qa.summaries()).toEqual([
    { turn: 1, text: "S1\n[Turn 9] still S1" },
    { turn: 2, text: "S2" },
  ]);
  await qa.reset();
  expect(await qa.summaries()).toEqual([]);
});

test("49: the list and the text of a memory say the same, with a seed, a window and turns that have no summary", async () => {
  const seed = [{ inputs: { q: "Hi" }, outputs: { a: "Hello!" } }];
  // The second summary is still being written when the memory is read.
  const summariser = ({ text, signal }: { readonly text: string; readonly signal: AbortSignal }) =>
    text.includes("Q2")
      ? new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))))
      : "S";
  const windows: readonly Options[] = [{ seed }, { seed, maxTurns: 2 }, { excludeFields: ["a"] }, { maxTurns: 0 }];
  for (const window of windows) {
    const { qa, summaries } = summarising({ ...window, compression: "verbose", summariser });
    const { qa: plain } = seeing(window);
    for (const number of [1, 2, 3]) {
      await asked(qa, number);
      await asked(plain, number);
      if (number === 1 && window.maxTurns !== 0) await summaries(1);
    }
    for (const each of [qa, plain]) {
      const lines = (await each.summaries()).map(
        ({ turn, text }) => `[${turn === 0 ? "Before turn 1" : `Turn ${turn}`}] ${text}`,
      );
      expect(lines.join("\n") || "No prior conversation context.").toBe((await each.memory()).text);
    }
  }
});

test("50: two turns are two in both views, and after a reset none", async () => {
  const { qa } = seeing();
  await asked(qa, 1, 2);
  expect([await qa.count(), (await qa.memory()).exchanges.length]).toEqual([2, 2]);
  await qa.reset();
  expect([await qa.count(), (await qa.memory()).exchanges.length]).toEqual([0, 0]);
});

test("51: a checkpoint brings one turn back, is not changed by what comes later, and is listed", async () => {
  const { qa } = seeing();
  await asked(qa, 1);
  await qa.checkpoint("cp1");
  await asked(qa, 2);
  await qa.checkpoint("cp2");
  await qa.restore("cp1");
  expect(await qa.count()).toBe(1);
  await asked(qa, 3);
  await qa.restore("cp1");
  expect(await qa.count()).toBe(1);
  expect(new Set((await qa.checkpoints()).map(({ name }) => name))).toEqual(new Set(["cp1", "cp2"]));
});

test("52: another name is refused as not found, with the names that there are", async () => {
  const { qa } = seeing();
  await asked(qa, 1);
  await qa.checkpoint("cp1");
  await expect(qa.restore("nonexistent")).rejects.toThrow(/"nonexistent" was not found; there are: cp1/);
});

test("53: of three turns with two allowed two summaries are shown, as turns 2 and 3 (theirs begin at 1 again)", async () => {
  const { qa, summaries } = summarising({ summariser: numbered(), maxTurns: 2 });
  for (const number of [1, 2, 3]) {
    await asked(qa, number);
    await summaries(number);
  }
  expect((await qa.memory()).text).toBe("[Turn 2] S2\n[Turn 3] S3");
  expect(await qa.count()).toBe(3);
});

test("54: with none allowed nothing is shown (theirs keeps all)", async () => {
  const { qa, seen } = seeing({ maxTurns: 0 });
  await asked(qa, 1, 2);
  expect(seen[1]).toEqual({ exchanges: [], messages: [], text: "No prior conversation context." });
});

test("55: another level is refused, and both that there are named", () => {
  // @ts-expect-error not one of the levels
  const medium = () => sessionOf(() => ({ a: "" }), { compression: "medium", summariser: () => "" });
  expect(medium).toThrow(ConfigurationError);
  expect(medium).toThrow(/"concise", "verbose".*\(got "medium"\)/su);
  expect(() => sessionOf(() => ({ a: "" }), { compression: "verbose" })).toThrow(/give llm, or a summariser/);
});

test("56: memory and summaries say which tools were used by a model that the program called", async () => {
  const read: string[] = [];
  const { llm, tools } = weather();
  const { qa, summaries } = summarising({ llm, tools, summariser: ({ text }) => `S${read.push(text)}` }, react);
  expect(await qa.call({ q: "Weather?" })).toEqual({ a: "It is sunny." });
  await summaries(1);
  expect(read[0]).toContain('Tools used: get_weather({"city":"Paris"}) -> sunny;');
  expect(read[0]).toContain("a: It is sunny.");
  const plain = sessionOf(react, weather());
  await asked(plain, 1);
  expect((await plain.memory()).text).toBe(
    '[Turn 1] Asked: q: Q1 Tools used: get_weather({"city":"Paris"}) -> sunny; Answered: a: It is sunny.',
  );
});

test("57: what `describe` says stands in place of the outputs, and it sees no memory", async () => {
  const given: unknown[] = [];
  const read: string[] = [];
  const { qa, summaries } = summarising({
    describe: (...all) => {
      given.push(all);
      return "Custom: 42";
    },
    summariser: ({ text }) => `S${read.push(text)}`,
  });
  await asked(qa, 1);
  await summaries(1);
  expect(given).toEqual([[{ q: "Q1" }, { a: "A" }]]);
  expect(read[0]).toContain("Turn 1\nInput:\nq: Q1\nOutput:\nCustom: 42\nTool use:\nNone");
  expect((await qa.turns())[0]?.outputs).toEqual({ a: "A" });
  const { qa: plain } = seeing({ describe: () => "Custom: 42" });
  await asked(plain, 1);
  expect((await plain.memory()).text).toBe("[Turn 1] Asked: q: Q1 Answered: Custom: 42");
  expect(questions(await plain.memory())).toEqual([[1, "Q1"]]);
});

test("57: and where it throws, the answer is as it was", async () => {
  const errors: string[] = [];
  const { qa } = seeing({
    describe: () => {
      throw new Error("hook");
    },
    host: { onObserverError: (_, where) => void errors.push(where) },
  });
  expect(await qa.call({ q: "Q1" })).toEqual({ a: "A" });
  expect(errors).toEqual(["describe"]);
});

test("58: a summariser that fails costs neither the answer nor the turn, which is then a line made by rule", async () => {
  const tried: string[] = [];
  const { qa, seen, summaries } = summarising({
    summariser: ({ text }) => {
      tried.push(/Q\d/u.exec(text)?.[0] ?? "");
      throw new Error("no summary");
    },
  });
  expect(await qa.call({ q: "Q1" })).toEqual({ a: "A" });
  await summaries(1);
  expect(await qa.call({ q: "Q2" })).toEqual({ a: "A" });
  await summaries(2);
  await asked(qa, 3);
  expect(await qa.count()).toBe(3);
  expect(questions(seen[1])).toEqual([[1, "Q1"]]);
  expect(seen[2]?.text.split("\n")[0]).toBe("[Turn 1] Asked: q: Q1 Answered: a: A");
  expect(tried.slice(0, 2)).toEqual(["Q1", "Q1"]);
});

test("the session does not retry a summary at once after its model failed", async () => {
  const model = scriptedModel([fails({ kind: "rate_limit" }), reply("S1"), reply("S2")]);
  const { qa, summaries } = summarising({ llm: model });
  await asked(qa, 1);
  await summaries(1);
  expect(model.calls).toHaveLength(1);
});

test("summaries are written by the model where there is no summariser, by an instruction of one's own", async () => {
  const model = scriptedModel([reply("S1")]);
  const { qa, summaries } = summarising({ compression: { instruction: "In one word." }, llm: model });
  await asked(qa, 1);
  await summaries(1);
  expect((await qa.memory()).text).toBe("[Turn 1] S1");
  expect(model.calls[0]?.messages[0]?.parts).toEqual([{ type: "text", text: "In one word." }]);
});

const numbered = () => {
  let written = 0;
  return () => `S${(written += 1)}`;
};

const weather = () => ({
  llm: scriptedModel([toolCalls([{ name: "get_weather", arguments: { city: "Paris" } }]), reply("It is sunny.")]),
  tools: [
    tool({
      name: "get_weather",
      description: "The weather.",
      input: z.object({ city: z.string() }),
      run: () => "sunny",
    }),
  ],
});

const react: Parameters<typeof sessionOf>[0] = async ({ q }, { ask }) => ({ a: (await ask("react", q)).text });
