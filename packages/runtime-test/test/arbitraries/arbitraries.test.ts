import { conversationMachine, outstanding, promptOf, type ReplyDraft } from "@colloquy/machine";
import { decodeJournal, fold } from "@colloquy/machine/journal";
import {
  composedPolicyArbitrary,
  entriesOf,
  failureArbitrary,
  failureKinds,
  handledSteps,
  journalArbitrary,
  jsonArbitrary,
  limitNames,
  limitsArbitrary,
  machineOptionsArbitrary,
  playArbitrary,
  replyArbitrary,
  reportedUsageArbitrary,
  runSchedule,
  stateArbitrary,
  textArbitrary,
  threadArbitrary,
  wilful,
} from "@colloquy/runtime-test/arbitraries";
import { differenceOf } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { runs } from "../../../../test/runs.ts";
import { describe, expect, test } from "vitest";

const sample = <Value>(arbitrary: fc.Arbitrary<Value>, numRuns = 400): readonly Value[] =>
  fc.sample(arbitrary, { numRuns, seed: 1 });

/** The texts and replies that several tests examine. */
const texts = sample(textArbitrary);
const replies = sample(replyArbitrary(["search"]));

describe("texts and values", () => {
  test.each<readonly [string, (text: string) => boolean]>([
    ["empty", (text) => text === ""],
    ["blank", (text) => text !== "" && text.trim() === ""],
    ["half a character", (text) => !text.isWellFormed()],
    ["beyond the basic plane", (text) => text.isWellFormed() && /[\u{10000}-\u{10ffff}]/u.test(text)],
    ["long", (text) => text.length > 1_000],
  ])("some text is %s", (_, matches) => {
    expect(texts.some(matches)).toBe(true);
  });

  test("every value survives JSON, and its objects are plain", () => {
    for (const value of sample(jsonArbitrary))
      expect(differenceOf(value, JSON.parse(JSON.stringify(value)))).toBeNull();
  });
});

describe("replies, failures, reports and limits", () => {
  const calls = (reply: ReplyDraft) => reply.toolCalls ?? [];
  test.each<readonly [string, (reply: ReplyDraft) => boolean]>([
    ["asks for nothing", (reply) => reply.toolCalls === undefined],
    ["asks for an empty list", (reply) => reply.toolCalls?.length === 0],
    ["asks for several tools at once", (reply) => calls(reply).length > 2],
    ["repeats a provider's id", (reply) => new Set(calls(reply).map(({ id }) => id)).size < calls(reply).length],
    ["has a call without an id", (reply) => calls(reply).some(({ id }) => id === null)],
    ["asks for a tool that there is not", (reply) => calls(reply).some(({ name }) => name !== "search")],
    ["has arguments that are no JSON", (reply) => calls(reply).some(({ arguments: written }) => written === "{")],
    ["is empty", (reply) => Object.keys(reply).length === 0],
  ])("some reply %s", (_, matches) => {
    expect(replies.some(matches)).toBe(true);
  });

  test("there are failures of all kinds, reports without each of their fields, limits of 0 of each name", () => {
    expect(new Set(sample(failureArbitrary).map(({ kind }) => kind))).toEqual(new Set(failureKinds));
    const reports = sample(reportedUsageArbitrary);
    for (const field of ["inputTokens", "outputTokens", "totalTokens", "reasoningTokens"] as const) {
      expect(reports.some((report) => report[field] === undefined)).toBe(true);
      expect(reports.some((report) => report[field] !== undefined)).toBe(true);
    }
    for (const name of limitNames) expect(sample(limitsArbitrary).some((limits) => limits[name] === 0)).toBe(true);
  });
});

describe("machines and schedules", () => {
  test("every configuration can be meant", () => {
    for (const options of sample(machineOptionsArbitrary, Math.max(50, runs(400))))
      expect(() => conversationMachine(options)).not.toThrow();
  });

  test("more than half of a schedule's moves are handled, but not all", () => {
    const traces = sample(playArbitrary, Math.max(30, runs(400))).map(({ options, schedule }) =>
      runSchedule(conversationMachine(options), schedule),
    );
    const told = traces.reduce((sum, { steps }) => sum + steps.length, 0);
    const handled = traces.reduce((sum, trace) => sum + handledSteps(trace).length, 0);
    expect(handled / told).toBeGreaterThan(0.5);
    expect(handled / told).toBeLessThan(0.95);
  });

  test("a schedule runs the same each time", () => {
    for (const { options, schedule } of sample(playArbitrary, 30)) {
      const [first, second] = [0, 1].map(() => runSchedule(conversationMachine(options), schedule));
      expect(first?.steps.map(({ event }) => event)).toEqual(second?.steps.map(({ event }) => event));
    }
  });

  test("an `answer` is taken while something is out, and asks when nothing is", () => {
    const machine = conversationMachine({ tools: [{ name: "search" }] });
    const answer = { afterMs: 1, move: "answer", pick: 0, finishReason: null, content: "found" } as const;
    const trace = runSchedule(machine, {
      input: { threadId: "t", at: 0 },
      moves: [
        { ...answer, reply: {} },
        { ...answer, reply: { toolCalls: [{ id: null, name: "search", arguments: "{}" }] } },
        { ...answer, reply: {} },
        { ...answer, reply: { content: "Done." } },
      ],
    });
    expect(trace.steps.map(({ event }) => event.type)).toEqual([
      "ask.received",
      "llm.completed",
      "tool.completed",
      "llm.completed",
    ]);
    expect(entriesOf(trace)).toHaveLength(5);
  });
});

describe("policies", () => {
  const machines = sample(fc.nat({ max: 1_000 }), 20).map((seed) =>
    conversationMachine({ policy: wilful(seed), budget: { tokens: 500, reserve: 0 } }),
  );
  const decisions = sample(stateArbitrary(), 60).flatMap((state) =>
    machines.map((machine) => promptOf(machine, state)),
  );

  test.each(["from", "dropped", "summarised", "shrink", "fields", "system"] as const)(
    "a wilful one uses %s",
    (what) => {
      expect(decisions.some(({ cut }) => (cut[what] ?? null) !== null)).toBe(true);
    },
  );

  test("a wilful one is replaced now and then, and not always", () => {
    expect(decisions.some(({ failed }) => failed !== undefined)).toBe(true);
    expect(decisions.some(({ failed }) => failed === undefined)).toBe(true);
  });

  test("of several at most one has summaries written; some have none", () => {
    const composed = sample(composedPolicyArbitrary, 100);
    expect(composed.some(({ summariser }) => summariser !== undefined)).toBe(true);
    expect(composed.some(({ summariser }) => summariser === undefined)).toBe(true);
    expect(composed.some(({ stable }) => stable)).toBe(true);
    expect(composed.some(({ monotone }) => monotone)).toBe(true);
  });
});

describe("journals and threads", () => {
  test("every journal can be read and folded; some end while something is out", () => {
    const journals = sample(journalArbitrary(), Math.max(30, runs(100)));
    const states = journals.map((journal) => {
      expect(Either.isRight(decodeJournal(JSON.parse(JSON.stringify(journal))))).toBe(true);
      const folded = fold(journal);
      if (Either.isLeft(folded)) throw new Error(folded.left.reason);
      return folded.right;
    });
    expect(states.some((state) => outstanding(state).length > 0)).toBe(true);
    expect(states.some((state) => outstanding(state).length === 0)).toBe(true);
  });

  test("some threads have branches, some a seed, some none of it", () => {
    const threads = sample(threadArbitrary(), Math.max(60, runs(300)));
    expect(threads.some(({ head, turns }) => head < turns.length)).toBe(true);
    expect(threads.some(({ seed }) => seed.length > 0)).toBe(true);
    expect(threads.some(({ turns }) => turns.length === 0)).toBe(true);
    expect(threads.some(({ pins }) => pins.length > 0)).toBe(true);
  });
});
