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
  ["no summaries", {}, {}, [before, plain(1), plain(2), plain(4), "[Turn 5] Asked: q5", tools]],
  ["a range of turns on the path", {}, { from: 2, to: 4 }, [plain(2), plain(4)]],
  ["a range without the seed", {}, { from: 1, to: 2 }, [plain(1), plain(2)]],
  ["a range of the seed alone", {}, { to: 0 }, [before]],
  ["a summary of one turn", { 2: [of(2, 1)] }, { from: 2, to: 4 }, ["[Turn 2] S1", plain(4)]],
  ["a summary of several turns", { 4: [of(2, 1)] }, { from: 1, to: 4 }, [plain(1), "[Turns 2 to 4] S1"]],
  ["a summary that includes the seed", { 4: [of(0, 1)] }, { to: 4 }, ["[Up to turn 4] S1"]],
  ["a summary of the first turn", { 1: [of(1, 1)] }, { to: 2 }, [before, "[Turn 1] S1", plain(2)]],
  [
    "the widest of several summaries",
    { 4: [of(4, 1), of(2, 2), of(4, 3)] },
    { from: 1, to: 4 },
    [plain(1), "[Turns 2 to 4] S2"],
  ],
  ["the newest of two equally wide summaries", { 4: [of(2, 1), of(2, 2)] }, { from: 2, to: 4 }, ["[Turns 2 to 4] S2"]],
  [
    "no summary that is wider than the range",
    { 4: [of(1, 1), of(4, 2)] },
    { from: 2, to: 4 },
    [plain(2), "[Turn 4] S2"],
  ],
  ["no summary that is newer than upTo", { 4: [of(2, 9), of(2, 10)] }, { from: 2, to: 4 }, ["[Turns 2 to 4] S9"]],
  ["no stale summary", { 2: [of(2, 1, { stale: true })] }, { from: 2, to: 2 }, [plain(2)]],
  ["no summary that ends before it begins", { 2: [of(4, 1)] }, { from: 2, to: 2 }, [plain(2)]],
])("summaryLines writes a line for each turn and each summary that it uses: %s", (_, summaries, range, lines) => {
  expect(summaryLines(threadOf(summaries), { ...all, ...range })).toBe(lines.join("\n"));
});

test("summaryLines writes no line for a missing seed, and a fixed text if nothing is to be listed", () => {
  const thread = threadOf({}, false);
  expect(summaryLines(thread, { ...all, to: 1 })).toBe(plain(1));
  expect(summaryLines(thread, { ...all, to: 0 })).toBe("No prior conversation context.");
  expect(summaryLines(thread, null)).toBe("No prior conversation context.");
  expect(summaryMessage(thread, { interrupted: "keep" })).toBeNull();
  expect(summaryMessage(thread, { interrupted: "keep", summarised: { ...all, to: 0 } })).toBeNull();
});

test("summaryLines omits interrupted turns if it is told to, unless a summary covers them", () => {
  const lines = (thread: Thread, from: number) =>
    summaryLines(thread, { ...all, from, to: 5 }, { interrupted: "omit" });
  expect(lines(threadOf(), 4)).toBe(plain(4));
  expect(lines(threadOf({ 5: [of(5, 1)] }), 4)).toBe(`${plain(4)}\n[Turn 5] S1`);
});

test("summaryLines cuts a long question at 200 characters, never inside a surrogate pair", () => {
  const clip = (text: string): string => {
    const talk = new Talk(conversationMachine());
    talk.ask(text);
    talk.tell({ type: "cancel.requested" });
    const line = summaryLines(talk.state.context.conversation, { from: 1, to: 1, upTo: 0 });
    return line.slice("[Turn 1] Asked: ".length);
  };
  expect(clip("x".repeat(200))).toBe("x".repeat(200));
  expect(clip("x".repeat(201))).toBe(`${"x".repeat(200)}…`);
  for (const character of ["😀", "\u{10000}", "\u{10ffff}"]) {
    expect(clip(`${"x".repeat(199)}${character}`)).toBe(`${"x".repeat(199)}…`);
    expect(clip(`${"x".repeat(198)}${character}y`)).toBe(`${"x".repeat(198)}${character}…`);
  }
  expect(clip(`a${" ".repeat(3_998)}bc`)).toBe("a b");
  expect(clip(`a \n\t b${" ".repeat(4_000)}c`)).toBe("a b");
});

test("sectionOf returns the section that covers a turn", () => {
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
