import { expect, test } from "vitest";
import { conversationMachine, noUsage, toArray, type Turn, type Usage } from "../../src/index.ts";
import { packMessages, type PackedMessage, unpackMessages } from "../../src/snapshot/message.ts";
import { type PackedTurn, packTurns, unpackTurns } from "../../src/snapshot/turn.ts";
import { chunksOf } from "../../src/thread/chunks.ts";
import { calling, Talk } from "../talk.ts";
import { throughJson } from "../reading.ts";

/** Plays four turns, the second with a round. Every call reports its tokens. */
const turns = ((): readonly Turn[] => {
  const talk = new Talk(conversationMachine({ tools: [{ name: "look" }] }));
  const usage = { inputTokens: 10, outputTokens: 5 };
  for (const number of [1, 2, 3, 4]) {
    talk.ask(`q${number}`);
    if (number === 2) {
      talk.reply(calling("look"), { usage });
      talk.result(0, "found");
    }
    talk.reply(`a${number}`, { usage });
  }
  return toArray(talk.state.context.conversation.turns);
})();

const packed = (given: readonly Turn[], first = 1): readonly PackedTurn[] =>
  packTurns(first, given, (turn, messages) => throughJson(packMessages(turn, toArray(messages))));

const unpacked = (given: readonly PackedTurn[], first = 1): readonly Turn[] =>
  unpackTurns(first, given, (turn, messages) =>
    // These are the messages that were packed above.
    chunksOf(unpackMessages(turn, messages as unknown as readonly PackedMessage[])),
  );

test("packTurns writes usual turns without the members that follow from others, but for the place of the first", () => {
  expect(packed(turns).map(({ length }) => length)).toEqual([5, 4, 4, 4]);
  expect(packed(turns)[0]?.[4]).toEqual({ place: turns[0]?.place });
  expect(packed(turns.slice(2), 3)[0]?.[4]).toEqual({ place: turns[2]?.place });
  expect(unpacked(packed(turns))).toEqual(turns);
  expect(unpacked(packed(turns.slice(2), 3), 3)).toEqual(turns.slice(2));
});

/** Changes the third turn. */
const changed = (more: Partial<Turn>): readonly Turn[] =>
  turns.map((turn) => (turn.number === 3 ? { ...turn, ...more } : turn));

const tally = (sum: number, reported: number, unreported: number) => ({ sum, reported, unreported });

/** Returns the usage of three calls, of which two report their input and one has no price. */
const usageWith = (more: Partial<Usage>): Usage => ({
  calls: 3,
  inputTokens: tally(20, 2, 1),
  outputTokens: tally(0, 0, 3),
  totalTokens: tally(30, 3, 0),
  cacheReadTokens: tally(0, 3, 0),
  cacheWriteTokens: tally(0, 0, 3),
  reasoningTokens: tally(0, 0, 3),
  unpriced: 1,
  cost: {},
  ...more,
});

test.each<readonly [string, Partial<Turn>]>([
  ["number", { number: 9 }],
  ["parent", { parent: 0 }],
  ["outcome", { outcome: { status: "completed", finishReason: null } }],
  ["answer", { answer: "3.7" }],
  ["steps", { steps: 7 }],
  ["tool calls", { toolCalls: 7 }],
  ["beginning", { startedAt: 0 }],
  ["end", { endedAt: 99 }],
  ["metadata", { metadata: { of: "Ada" } }],
  ["place", { place: { turns: 9, messages: 9, characters: 9, straightFrom: 2 } }],
  ["asks, none of them", { asks: [] }],
  [
    "asks, several of them",
    {
      asks: [
        { askId: "a", askedAt: 1 },
        { askId: "b", askedAt: 2 },
      ],
    },
  ],
  ["asks, one of two messages", { asks: [{ askId: "a", askedAt: 1, messages: 2 }] }],
  ["usage, none of it", { usage: noUsage }],
  ["usage, with partly reported figures", { usage: usageWith({}) }],
  ["usage, without a price", { usage: usageWith({ unpriced: 3 }) }],
  ["usage, with all prices", { usage: usageWith({ unpriced: 0, cost: { USD: tally(6, 3, 0) } }) }],
  ["usage, in two currencies", { usage: usageWith({ cost: { USD: tally(4, 1, 1), EUR: tally(5, 2, 0) } }) }],
  ["usage, whose last figures are reported", { usage: usageWith({ unpriced: 3, reasoningTokens: tally(7, 3, 0) }) }],
])("a turn is read from a snapshot as it was, with an unusual value of its %s", (_, more) => {
  expect(unpacked(throughJson(packed(changed(more))))).toEqual(changed(more));
});

test("a turn without an answer is read from a snapshot without one", () => {
  const without = turns.map(({ answer, ...turn }): Turn =>
    turn.number === 3 || answer === undefined ? turn : { ...turn, answer },
  );
  expect(unpacked(throughJson(packed(without)))).toEqual(without);
});

test.each<readonly [string, Usage, readonly unknown[]]>([
  [
    "of no reports is their number",
    usageWith({
      inputTokens: tally(0, 0, 3),
      totalTokens: tally(0, 0, 3),
      cacheReadTokens: tally(0, 0, 3),
      unpriced: 3,
    }),
    [3],
  ],
  ["ends with the last known figure", usageWith({ unpriced: 3 }), [3, [20, 2, 1], null, 30, 0]],
  ["has the number of calls without a price", usageWith({}), [3, [20, 2, 1], null, 30, 0, null, null, 1]],
  [
    "has the costs of those with a price",
    usageWith({ cost: { USD: tally(4, 2, 0), EUR: tally(5, 1, 1) } }),
    [3, [20, 2, 1], null, 30, 0, null, null, 1, ["USD", 4], ["EUR", [5, 1, 1]]],
  ],
])("the usage of calls in a snapshot %s", (_, usage, written) => {
  expect(packed(changed({ usage }))[2]?.[2]).toEqual(written);
});

test("an ask of one message is its id and its time in a snapshot, and any other ask is written in full", () => {
  const [one, two] = [
    { askId: "a", askedAt: 1 },
    { askId: "b", askedAt: 2, messages: 2 },
  ];
  expect(packed(changed({ asks: [one, two] }))[2]?.[0]).toEqual([["a", 1], two]);
});
