import { expect, test } from "vitest";
import { conversationMachine, toArray } from "../../src/index.ts";
import { sectionOf, summaryLines, summaryMessage, summarySections } from "../../src/prompt/summary-message.ts";
import { chunksOf } from "../../src/thread/chunks.ts";
import type { Thread } from "../../src/thread/thread.ts";
import type { Summary } from "../../src/thread/turn.ts";
import { calling, Talk } from "../talk.ts";

const seed = [
  { role: "user", content: "Before?" },
  { role: "assistant", content: "Yes." },
] as const;

/** Turns 1, 2, 4, 5 and 6 are on the path, since 3 was left for 4. Turn 5 was cancelled, and 6 used tools. */
const threadOf = (summaries: { readonly [turn: number]: readonly Summary[] } = {}, withSeed = true): Thread => {
  const talk = new Talk(conversationMachine({ tools: [{ name: "look" }, { name: "find" }] }), withSeed ? { seed } : {});
  for (const number of [1, 2, 3, 4]) {
    if (number === 4) talk.tell({ type: "head.moved", to: 2 });
    talk.ask(`q${number}`);
    talk.reply(`a${number}`);
  }
  talk.ask("q5");
  talk.tell({ type: "cancel.requested" });
  talk.ask("q6");
  talk.reply(calling("look", "find", "look"));
  for (const place of [0, 1, 2]) talk.result(place, "found");
  talk.reply("a6");
  const { conversation } = talk.state.context;
  const turns = toArray(conversation.turns).map((turn) => {
    const own = summaries[turn.number];
    return own === undefined ? turn : { ...turn, summaries: own };
  });
  return { ...conversation, turns: chunksOf(turns) };
};

const all = { from: 0, to: 6, upTo: 9 };
const of = (from: number, number: number, more: Partial<Summary> = {}): Summary => ({
  number,
  from,
  text: `S${number}`,
  ...more,
});
const before = "[Before turn 1] Asked: Before? Answered: Yes.";
const plain = (turn: number): string => `[Turn ${turn}] Asked: q${turn} Answered: a${turn}`;
const tools = "[Turn 6] Asked: q6 Tools used: look, find. Answered: a6";

test.each<readonly [string, Parameters<typeof threadOf>[0], Partial<typeof all>, readonly string[]]>([
  ["no turn, by rule", {}, {}, [before, plain(1), plain(2), plain(4), "[Turn 5] Asked: q5", tools]],
  ["some turns of the path", {}, { from: 2, to: 4 }, [plain(2), plain(4)]],
  ["all but the seed", {}, { from: 1, to: 2 }, [plain(1), plain(2)]],
  ["the seed alone", {}, { to: 0 }, [before]],
  ["one turn", { 2: [of(2, 1)] }, { from: 2, to: 4 }, ["[Turn 2] S1", plain(4)]],
  ["several turns", { 4: [of(2, 1)] }, { from: 1, to: 4 }, [plain(1), "[Turns 2 to 4] S1"]],
  ["all from the seed on", { 4: [of(0, 1)] }, { to: 4 }, ["[Up to turn 4] S1"]],
  ["the first turn alone", { 1: [of(1, 1)] }, { to: 2 }, [before, "[Turn 1] S1", plain(2)]],
  ["the widest", { 4: [of(4, 1), of(2, 2), of(4, 3)] }, { from: 1, to: 4 }, [plain(1), "[Turns 2 to 4] S2"]],
  ["the newest of two that are as wide", { 4: [of(2, 1), of(2, 2)] }, { from: 2, to: 4 }, ["[Turns 2 to 4] S2"]],
  ["not more than is asked for", { 4: [of(1, 1), of(4, 2)] }, { from: 2, to: 4 }, [plain(2), "[Turn 4] S2"]],
  ["not what is too new", { 4: [of(2, 9), of(2, 10)] }, { from: 2, to: 4 }, ["[Turns 2 to 4] S9"]],
  ["not what is stale", { 2: [of(2, 1, { stale: true })] }, { from: 2, to: 2 }, [plain(2)]],
  ["not what ends before it begins", { 2: [of(4, 1)] }, { from: 2, to: 2 }, [plain(2)]],
])("the lines of a range with summaries of %s", (_, summaries, range, lines) => {
  expect(summaryLines(threadOf(summaries), { ...all, ...range })).toBe(lines.join("\n"));
});

test("a thread without a seed has no line for it, and one without turns none at all", () => {
  const thread = threadOf({}, false);
  expect(summaryLines(thread, { ...all, to: 1 })).toBe(plain(1));
  expect(summaryLines(thread, { ...all, to: 0 })).toBe("No prior conversation context.");
  expect(summaryLines(thread, null)).toBe("No prior conversation context.");
  expect(summaryMessage(thread, { interrupted: "keep" })).toBeNull();
  expect(summaryMessage(thread, { interrupted: "keep", summarised: { ...all, to: 0 } })).toBeNull();
});

test("an interrupted turn is left out where those are, unless a summary covers it", () => {
  const lines = (thread: Thread, from: number) =>
    summaryLines(thread, { ...all, from, to: 5 }, { interrupted: "omit" });
  expect(lines(threadOf(), 4)).toBe(plain(4));
  expect(lines(threadOf({ 5: [of(5, 1)] }), 4)).toBe(`${plain(4)}\n[Turn 5] S1`);
});

test("a long question is cut at 200 characters, never within a pair of surrogates", () => {
  const clip = (text: string): string => {
    const talk = new Talk(conversationMachine());
    talk.ask(text);
    talk.tell({ type: "cancel.requested" });
    const line = summaryLines(talk.state.context.conversation, { from: 1, to: 1, upTo: 0 });
    return line.slice("[Turn 1] Asked: ".length);
  };
  expect(clip("x".repeat(200))).toBe("x".repeat(200));
  expect(clip("x".repeat(201))).toBe(`${"x".repeat(200)}…`);
  expect(clip(`${"x".repeat(199)}😀`)).toBe(`${"x".repeat(199)}…`);
  expect(clip(`${"x".repeat(198)}😀y`)).toBe(`${"x".repeat(198)}😀…`);
  expect(clip(`a \n\t b${" ".repeat(4_000)}c`)).toBe("a b");
});

test("the section of a turn is the one that covers it", () => {
  const sections = summarySections(threadOf({ 4: [of(2, 1)] }), { ...all, from: 1, to: 5 }, { interrupted: "keep" });
  expect(sections.map(({ from, to, number }) => [from, to, number])).toEqual([
    [1, 1, null],
    [2, 4, 1],
    [5, 5, null],
  ]);
  const found = [0, 1, 2, 3, 4, 5, 6].map((turn) => sectionOf(sections, turn)?.from);
  expect(found).toEqual([undefined, 1, 2, 2, 2, 5, undefined]);
  expect(sectionOf([], 1)).toBeUndefined();
});
