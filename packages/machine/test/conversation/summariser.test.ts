import { describe, expect, test } from "vitest";
import {
  askNamed,
  type LaterEntry,
  lastTurnOf,
  type MachineOptions,
  promptOf,
  textOf,
  turnNumbered,
} from "../../src/index.ts";
import {
  type Counter,
  countPrompt,
  type Policy,
  type PolicyInput,
  summariseTurns,
  type SummaryWanted,
} from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { asking, characterCounter, rolling } from "../hand-made.ts";

// When a policy is asked what to summarise, and what follows from its answer.

describe("a summariser", () => {
  const wrong: readonly (readonly [string, () => unknown])[] = [
    ["the seed alone", () => ({ covers: { from: 0, to: 0 }, earlier: null })],
    ["turns that are not there", () => ({ covers: { from: 1, to: 9 }, earlier: null })],
    ["turns off the path", () => ({ covers: { from: 2, to: 2 }, earlier: null })],
    ["turns backwards", () => ({ covers: { from: 3, to: 1 }, earlier: null })],
    ["half a turn", () => ({ covers: { from: 1, to: 1.5 }, earlier: null })],
    ["no turns", () => ({ earlier: null })],
    ["to read further than it is to write", () => ({ covers: { from: 1, to: 1 }, earlier: { from: 1, to: 3 } })],
    [
      "to fold in the middle of the range to summarise",
      () => ({ covers: { from: 1, to: 3 }, earlier: { from: 3, to: 3 } }),
    ],
    ["to read turns that are not there", () => ({ covers: { from: 1, to: 1 }, earlier: { from: 7, to: 8 } })],
    ["a word", () => "all of it"],
    ["nothing, not even null", () => undefined],
    ["a promise", () => Promise.resolve(null)],
    ["a promise that nobody keeps", () => Promise.reject(new Error("late"))],
  ];

  test.each(wrong)("that wants %s is reported, and nothing is asked for", (_, wanted) => {
    // A policy in JavaScript may return this.
    const talk = new CheckedTalk(
      { policy: asking(wanted as () => SummaryWanted) },
      { seed: [{ role: "user", content: "s" }] },
    );
    talk.say("One", "1");
    talk.say("Two", "2");
    talk.tell({ type: "head.moved", to: 1 });
    talk.ask("Three");
    talk.reply("3");
    expect(talk.isSummarising()).toBe(false);
    expect(talk.signals()).toContainEqual({
      type: "policy.failed",
      reason: expect.stringContaining('policy "asking@1"'),
    });
    talk.ask("Four");
    expect(talk.sent()).toEqual(["s", "One", "1", "Three", "3", "Four"]);
  });

  test.each([
    ["fits", 1_000],
    ["does not fit", 10],
  ])("that throws is reported, whether the prompt %s", (_, tokens) => {
    const policy = asking(() => never("broken"));
    const talk = new CheckedTalk({ policy, counter: characterCounter, budget: { tokens, reserve: 0 } });
    talk.ask("x".repeat(20));
    expect(talk.signals()).toContainEqual({ type: "policy.failed", reason: expect.stringContaining("broken") });
    expect(talk.isCalling()).toBe(tokens > 20);
  });

  test("that wants the same again and again has it once: it is not paid for for ever", () => {
    const talk = new CheckedTalk({ policy: asking(() => ({ covers: { from: 1, to: 1 }, earlier: null })) });
    talk.say("One", "1");
    talk.summarise("S1");
    expect(talk.isSummarising()).toBe(false);
    talk.say("Two", "2");
    expect(talk.isSummarising()).toBe(false);
  });
});

// The policy drops closed turns if no summary comes, and then continues from there.
const staying: Policy = {
  ...rolling({ keep: 0, when: "full" }),
  name: "staying",
  decide: ({ lastCut, withoutSummary, history }) => {
    const [newest] = history.newestFirst();
    if (withoutSummary && newest !== undefined)
      return { from: { turn: newest.number + 1, unit: 0 }, pressed: true, reason: "no summary came" };
    return { from: lastCut?.from ?? null, reason: "as before" };
  },
};

const full = (characters = 40, more: MachineOptions = {}): CheckedTalk => {
  const options = { policy: staying, counter: characterCounter, budget: { tokens: 60, reserve: 0 }, ...more };
  const talk = new CheckedTalk(options);
  talk.say("One".padEnd(characters), "1".padEnd(characters));
  return talk;
};

describe("a prompt that is full while a summary is awaited", () => {
  test("is shown as it would be now, without the summary", () => {
    const talk = full();
    expect(talk.isSummarising()).toBe(true);
    expect(promptOf(talk.machine, talk.state)).toMatchObject({ fits: true, messages: [] });
  });

  test("is cut if the summary does not come, and the rest is then far from the limit", () => {
    const talk = full();
    talk.ask("Two");
    expect(talk.isCalling()).toBe(false);
    const { entry } = talk.fire("summary");
    expect(talk.sent()).toEqual(["Two"]);
    expect(entry.decided).toMatchObject({ fullness: { is: "within", tokens: 3, available: 60 } });
  });

  test("is not sent if the turn's deadline has passed meanwhile", () => {
    const talk = full(40, { limits: { deadlineMs: 1_000 } });
    talk.ask("Two");
    talk.fire("summary");
    expect(talk.isCalling()).toBe(false);
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ limit: { limit: "deadlineMs", allowed: 1_000 } });
  });
});

test("a policy sees that the summary failed when the wait for it ends", () => {
  const policy: Policy = {
    ...staying,
    decide: (input) => {
      const [newest] = input.history.newestFirst();
      return staying.decide({ ...input, withoutSummary: (newest?.summaryFailures ?? 0) > 0 });
    },
  };
  const talk = full(40, { policy });
  talk.ask("Two");
  talk.fire("summary");
  expect(talk.sent()).toEqual(["Two"]);
});

test("an ask behind an earlier turn ends the summary of the turns that it leaves, and has one made of its own", () => {
  const next = ({ history }: PolicyInput): SummaryWanted | null => {
    const [newest] = history.newestFirst();
    const turn = newest?.number ?? 0;
    return turn === 0 || newest?.summaries.length !== 0 ? null : { covers: { from: turn, to: turn }, earlier: null };
  };
  const talk = new CheckedTalk({ policy: asking(next) });
  talk.say("One", "1");
  talk.failSummary();
  talk.say("Two", "2");
  talk.failSummary();
  talk.say("Three", "3");
  talk.tell({ type: "ask.received", askId: "elsewhere", input: "Not three", from: 2 });
  expect(talk.summary().messages.map(textOf).join()).toContain("Output:\n2");
});

test("a request for a summary that can't be counted is sent, even where there is no room", () => {
  const counter: Counter = {
    ...characterCounter,
    countPrompt: (messages) => (messages.some(({ role }) => role === "system") ? Number.NaN : 0),
  };
  const { summariser, ...shown } = rolling({ keep: 0 });
  const { requestTokens: _, ...unbounded } = summariser ?? never("no summariser");
  const talk = new CheckedTalk({
    policy: { ...shown, summariser: unbounded },
    counter,
    budget: { tokens: 5, reserve: 5 },
  });
  talk.say("One", "1");
  expect(talk.isSummarising()).toBe(true);
});

test("the texts of a request for a summary are shortened step by step until it fits", () => {
  const charactersAt = (requestTokens: number): number | null => {
    const talk = new CheckedTalk({ policy: summariseTurns({ requestTokens }), counter: characterCounter });
    talk.say("x".repeat(9_000), "y".repeat(9_000));
    const { decided } = talk.entries.at(-1) as LaterEntry; // The entry of the answer.
    return decided?.summary?.unfit === undefined ? (decided?.summary?.characters ?? null) : -1;
  };
  // Half of a text's characters are of its head, and half of its tail.
  const tried = [20_000, 14_000, 7_000, 3_000, 2_000, 1_400, 1_000, 10].map(charactersAt);
  expect([...new Set(tried)]).toEqual([null, 4_000, 2_000, 1_000, 500, 200, 100, -1]);
});

test("a summary may have as many tokens as are allowed, and no more", () => {
  for (const [text, used] of [
    ["12345", true],
    ["123456", false],
  ] as const) {
    const talk = new CheckedTalk({ policy: rolling({ keep: 0, maxTokens: 5 }), counter: characterCounter });
    talk.say("One", "1");
    talk.summarise(text);
    expect(lastTurnOf(talk.state)?.summaries ?? []).toHaveLength(used ? 1 : 0);
  }
});

test.each([
  ["alone, if nothing was summarised before", false, {}],
  ["without the earlier turns, which only give background", true, { earlier: null }],
])("a request for a summary is sent if it has exactly as many tokens as there is room: %s", (_, second, task) => {
  const asked = (requestTokens: number): CheckedTalk => {
    const policy = summariseTurns({ requestTokens });
    const talk = new CheckedTalk({ policy, counter: characterCounter });
    if (second) talk.say("One", "1");
    if (talk.isSummarising()) talk.summarise("They counted. ".repeat(5));
    talk.say("Long. ".repeat(40), "Short.");
    return talk;
  };
  let [tooLittle, enough] = [0, 4_000];
  while (enough - tooLittle > 1) {
    const room = Math.floor((tooLittle + enough) / 2);
    if (asked(room).isSummarising()) enough = room;
    else tooLittle = room;
  }
  const talk = asked(enough);
  expect(countPrompt(characterCounter, talk.summary().messages)).toBe(enough);
  expect(talk.entries.at(-1)).toMatchObject({ decided: { summary: { ...task, characters: 100 } } });
});

test("a truncated answer makes the summaries stale that cover its turn, and no others", () => {
  const ranges = [
    { from: 1, to: 1 },
    { from: 2, to: 2 },
    { from: 1, to: 2 },
    { from: 1, to: 3 },
  ];
  const next = ({ history }: PolicyInput): SummaryWanted | null => {
    const turns = [...history.newestFirst()];
    const covers = ranges.find(({ from, to }) =>
      turns.some(({ number, summaries }) => number === to && !summaries.some((summary) => summary.from === from)),
    );
    return covers === undefined ? null : { covers, earlier: null };
  };
  const staleAfter = (turn: number): readonly (readonly string[])[] => {
    const talk = new CheckedTalk({ policy: asking(next) });
    talk.say("One", "1");
    talk.summarise("S1");
    talk.say("Two", "2");
    talk.summarise("S2");
    talk.summarise("S1 to S2");
    talk.tell({ type: "head.moved", to: 1 });
    talk.say("Three, in the place of two", "3");
    talk.summarise("S1 and S3");
    talk.tell({ type: "answer.truncated", turn, characters: 0 });
    return [1, 2, 3].map((number) =>
      (turnNumbered(talk.state, number)?.summaries ?? []).flatMap(({ text, stale }) => (stale === true ? text : [])),
    );
  };
  expect(staleAfter(1)).toEqual([["S1"], ["S1 to S2"], ["S1 and S3"]]);
  expect(staleAfter(2)).toEqual([[], ["S2", "S1 to S2"], []]);
  expect(staleAfter(3)).toEqual([[], [], ["S1 and S3"]]);
});

test.each<readonly [string, () => CheckedTalk]>([
  ["exceeds the budget", () => new CheckedTalk({ counter: characterCounter, budget: { tokens: 10, reserve: 0 } })],
  ["waits for a summary", () => full(20)],
])("a turn ends with its answer if the prompt that shows the ask which joined it %s", (_, begun) => {
  const talk = begun();
  talk.ask("Two", "two");
  talk.tell({ type: "ask.received", askId: "more", input: "x".repeat(30), joins: { askId: "two" } });
  talk.reply("2");
  expect(lastTurnOf(talk.state)).toMatchObject({ asks: [{ askId: "two" }], outcome: { status: "completed" } });
  expect(askNamed(talk.state, "more")?.status).toBe("returned");
});

test("a retried call is not made if a summary has meanwhile used up its turn's limit", () => {
  const first = new CheckedTalk();
  first.say("One", "1");
  const talk = first.under({ policy: rolling({ keep: 0 }), limits: { tokens: 50 }, retry: { baseDelayMs: 0 } });
  talk.ask("Two");
  talk.fail({ retryable: true });
  talk.summarise("S1", { usage: { totalTokens: 50 } });
  talk.fire("retry");
  expect(talk.isCalling()).toBe(false);
  expect(lastTurnOf(talk.state)).toMatchObject({ steps: 1, outcome: { limit: { limit: "tokens", reached: 50 } } });
});

function never(message: string): never {
  throw new Error(message);
}
