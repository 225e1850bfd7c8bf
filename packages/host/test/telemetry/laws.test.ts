import { fc, test } from "@fast-check/vitest";
import { type Entry, turnNumbered } from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import { describe, expect } from "vitest";
import { isA, rightOf, spansIn, storedJournals } from "./kit.ts";

/** Returns this thread's own entries, without those of a fork's parent. */
const ownOf = (entries: readonly Entry[]): readonly Entry[] =>
  entries.slice(entries.findLastIndex(({ event }) => event.type === "thread.forked") + 1);

const areATree = (entries: readonly Entry[]): void => {
  const spans = spansIn(entries, { content: true, open: true });
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  expect(byId.size).toBe(spans.length);
  for (const { spanId, parentSpanId, traceId, startedAt, endedAt, events, status, attributes } of spans) {
    expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    const parent = parentSpanId === null ? { traceId, startedAt } : byId.get(parentSpanId);
    expect(parent?.traceId).toBe(traceId);
    const times = [parent?.startedAt ?? Infinity, startedAt, ...events.map(({ at }) => at), endedAt];
    expect(times).toEqual(times.toSorted((left, right) => left - right));
    expect(status).toBe("error.type" in attributes ? "error" : "unset");
  }
};

const areOneEach = (entries: readonly Entry[]): void => {
  const spans = spansIn(entries, { open: true });
  const { context } = rightOf(fold(entries));
  const tools = ownOf(entries).flatMap(({ event }) =>
    event.type === "llm.completed" && !event.effectId.includes("/summary-") ? (event.reply.toolCalls ?? []) : [],
  );
  expect(spans.filter(isA("execute_tool"))).toHaveLength(tools.length);
  for (const { attributes, traceId } of spans.filter(isA("invoke_agent"))) {
    const number = Number(attributes["colloquy.turn.number"]);
    const steps = turnNumbered({ value: "idle", context }, number)?.steps ?? context.open?.step;
    const own = spans.filter((span) => span.traceId === traceId && "colloquy.step.number" in span.attributes);
    expect(own.map((span) => span.attributes["colloquy.step.number"])).toEqual(
      Array.from({ length: steps ?? 0 }, (_, index) => index + 1),
    );
  }
};

const addUp = (entries: readonly Entry[]): void => {
  const spans = spansIn(entries);
  const state = rightOf(fold(entries));
  for (const { attributes, traceId } of spans.filter(isA("invoke_agent"))) {
    const usage = turnNumbered(state, Number(attributes["colloquy.turn.number"]))?.usage;
    const chats = spans.filter((span) => span.traceId === traceId && span.operation === "chat");
    const tokens = chats.map((chat) => Number(chat.attributes["gen_ai.usage.input_tokens"] ?? 0));
    expect(tokens.reduce((sum, each) => sum + each, 0)).toBe(usage?.inputTokens.sum);
  }
};

const onlyGrow = (entries: readonly Entry[]): void => {
  const whole = spansIn(entries, { content: true });
  expect(spansIn(entries, { content: true })).toEqual(whole);
  for (let length = entries.length - ownOf(entries).length || 1; length < entries.length; length++) {
    const part = spansIn(entries.slice(0, length), { content: true });
    expect(whole.slice(0, part.length)).toEqual(part);
  }
};

/** Checks that no attribute holds messages or possible secrets. */
const areSilent = (entries: readonly Entry[]): void => {
  const spans = spansIn(entries, { open: true });
  const shown = spans.flatMap(({ attributes, events }) => [attributes, ...events.map((event) => event.attributes)]);
  const names = new Set(shown.flatMap((attributes) => Object.keys(attributes)));
  expect([...names].filter((name) => !speechless.test(name))).toEqual([]);
};

const speechless =
  /^(?:colloquy\.(?:turn\.(?:number|status)|step\.(?:number|attempts)|summary\.number|approval\.because)|error\.type|session\.id|gen_ai\.(?:operation\.name|provider\.name|conversation\.(?:id|compacted)|output\.type|tool\.(?:name|type|call\.id)|(?:request|response|usage)\..*))$/;

describe("the spans of any journal", () => {
  const laws = {
    "say nothing that was said, unless it is asked for": areSilent,
    "are trees, with times that never go back": areATree,
    "are one for each turn, step and tool call": areOneEach,
    "have the tokens of their turns": addUp,
    "only grow as it does": onlyGrow,
  };
  for (const [name, law] of Object.entries(laws)) {
    test.prop([journalArbitrary()])(name, law);
    test.each(storedJournals)(`${name}: %s`, (_, entries) => law(entries));
  }
});

test.prop([journalArbitrary(), fc.infiniteStream(fc.integer({ min: -5, max: 5 }))])(
  "clocks that go back and forth change no tree",
  (entries, steps) => {
    let at = 0;
    const shaken = entries.map((entry) => ({ ...entry, event: { ...entry.event, at: (at += steps.next().value) } }));
    // Only the times of events differ.
    areATree(shaken as readonly Entry[]);
  },
);

test("a journal that is none is a value that says so", () => {
  expect(spansIn.bind(null, [])).toThrow("the journal is empty");
});

test("ids are well spread: none repeats, and half of their bits are set", () => {
  const ids: string[] = [];
  const [, entries = []] = storedJournals.find(([name]) => name === "simple-answer") ?? [];
  const [first, ...more] = entries;
  if (first?.event.type !== "thread.started") throw new Error("the journal has no beginning");
  for (let thread = 0; thread < 300; thread++) {
    const event = { ...first.event, threadId: `thread-${thread}` };
    const spans = spansIn([{ seq: 0, format: 2, event }, ...more]);
    ids.push(...spans.map(({ spanId }) => spanId), ...new Set(spans.map(({ traceId }) => traceId)));
  }
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => id.slice(0, 8) === id.slice(8, 16))).toEqual([]);
  const bits = ids
    .flatMap((id) => id.split("").map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")))
    .join("");
  expect(bits.replaceAll("0", "").length / bits.length).toBeCloseTo(0.5, 2);
});
