import { describe, expect, test } from "vitest";
import { lastTurnOf, type MachineOptions, promptOf, textOf, toArray, turnNumbered, turnsOf } from "../../src/index.ts";
import { checkPrompt, summariseTurns, type SummariseTurnsOptions, summaryLines } from "../../src/policies.ts";
import { chunksOf } from "../../src/thread/chunks.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { calling } from "../talk.ts";

// Summaries of single turns, as DSPy's ConversationalAgent has them, through the machine.

const heading = "Earlier in this conversation:\n";

const talking = (options: SummariseTurnsOptions = {}, more: MachineOptions = {}): CheckedTalk =>
  new CheckedTalk({
    policy: summariseTurns({ requestTokens: 4_000, ...options }),
    tools: [{ name: "get_weather" }],
    ...more,
  });

/** Turns `q1` and `a1` and so on, each with its summary `S1`. */
const summarised = (count: number, options?: SummariseTurnsOptions): CheckedTalk => {
  const talk = talking(options);
  for (let turn = 1; turn <= count; turn++) {
    talk.say(`q${turn}`, `a${turn}`);
    if (talk.isSummarising()) talk.summarise(`S${turn}`);
  }
  return talk;
};

/** Returns the text that the model is given to read for a summary. */
const request = (talk: CheckedTalk): string => talk.summary().messages.slice(1).map(textOf).join("\n");

describe("what is shown of earlier turns", () => {
  test("before the first turn there is no context", () => {
    const talk = talking();
    expect(summaryLines(talk.state.context.conversation, null)).toBe("No prior conversation context.");
    talk.ask("q1");
    expect(talk.sent()).toEqual(["q1"]);
    talk.reply("a1");
    expect(request(talk)).toContain("Earlier summaries:\nNo prior conversation context.\n");
  });

  test("a line for each turn, under its number", () => {
    const talk = summarised(2);
    talk.ask("q3");
    expect(talk.sent()).toEqual([`${heading}[Turn 1] S1\n[Turn 2] S2`, "q3"]);
    talk.replays();
  });

  test("no more turns than are wanted, which keep their numbers, and the thread keeps all", () => {
    const talk = summarised(3, { maxTurns: 2 });
    expect(turnsOf(talk.state)).toHaveLength(3);
    talk.ask("q4");
    expect(talk.sent()).toEqual([`${heading}[Turn 2] S2\n[Turn 3] S3`, "q4"]);
  });

  test("of 0 turns none, and no summary is paid for", () => {
    const talk = summarised(2, { maxTurns: 0 });
    talk.ask("q3");
    expect(talk.sent()).toEqual(["q3"]);
    expect(talk.state.context.summaries).toBe(0);
  });

  test("nothing after a clear, and all of it again when that is taken back", () => {
    const talk = summarised(2);
    talk.tell({ type: "checkpoint.named", name: "before" });
    talk.tell({ type: "head.moved", to: 0 });
    expect(promptOf(talk.machine, talk.state).messages).toEqual([]);
    talk.say("q3", "a3");
    talk.summarise("S3");
    talk.ask("q4");
    expect(talk.sent()).toEqual([`${heading}[Turn 3] S3`, "q4"]);
    talk.reply("a4");
    talk.summarise("S4");
    talk.tell({ type: "head.moved", to: { checkpoint: "before" } });
    talk.ask("q5");
    expect(talk.sent()).toEqual([`${heading}[Turn 1] S1\n[Turn 2] S2`, "q5"]);
    talk.replays();
  });

  test("the newest as they are, where so many are kept", () => {
    const talk = summarised(3, { keepTurns: 1 });
    talk.ask("q4");
    expect(talk.sent()).toEqual([`${heading}[Turn 1] S1\n[Turn 2] S2`, "q3", "a3", "q4"]);
  });

  test("the newest of two summaries of the same turns", () => {
    const thread = summarised(1).state.context.conversation;
    const summaries = ["first", "second"].map((text, index) => ({ number: index + 1, from: 1, text }));
    const turns = chunksOf(toArray(thread.turns).map((turn) => ({ ...turn, summaries })));
    expect(summaryLines({ ...thread, turns }, { from: 1, to: 1, upTo: 2 })).toBe("[Turn 1] second");
    expect(summaryLines({ ...thread, turns }, { from: 1, to: 1, upTo: 1 })).toBe("[Turn 1] first");
  });

  test("a line made by rule is cut after 200 characters, and never within one", () => {
    const lineOf = (asked: string): string | undefined => {
      const talk = talking();
      talk.say(asked, "a1");
      talk.failSummary();
      talk.ask("q2");
      talk.failSummary();
      talk.reply("a2");
      talk.summarise("S2");
      talk.ask("q3");
      return talk.sent()[0]?.split("\n")[1];
    };
    expect(lineOf("x".repeat(200))).toBe(`[Turn 1] Asked: ${"x".repeat(200)} Answered: a1`);
    expect(lineOf("x".repeat(201))).toBe(`[Turn 1] Asked: ${"x".repeat(200)}… Answered: a1`);
    for (const character of ["\u{10000}", "\u{10ffff}"]) {
      expect(lineOf(`${"x".repeat(199)}${character}yy`)).toBe(`[Turn 1] Asked: ${"x".repeat(199)}… Answered: a1`);
      expect(lineOf(`${"x".repeat(198)}${character}yy`)).toBe(
        `[Turn 1] Asked: ${"x".repeat(198)}${character}… Answered: a1`,
      );
    }
    expect(lineOf(`a\n \t${"b".repeat(3)}`)).toBe("[Turn 1] Asked: a bbb Answered: a1");
    expect(lineOf(`${" ".repeat(3_999)}xy`)).toBe("[Turn 1] Asked: x Answered: a1");
  });

  test("a seed is the oldest turn, and a line made by rule", () => {
    const talk = new CheckedTalk(
      { policy: summariseTurns() },
      {
        system: "Be brief.",
        seed: [
          { role: "user", content: "Hello" },
          { role: "assistant", content: "Hi" },
        ],
      },
    );
    talk.say("q1", "a1");
    talk.summarise("S1");
    talk.ask("q2");
    expect(talk.sent()).toEqual([
      "Be brief.",
      `${heading}[Before turn 1] Asked: Hello Answered: Hi\n[Turn 1] S1`,
      "q2",
    ]);
  });
});

describe("what a summary is written from", () => {
  test("input, output and tool use of the one turn, and the summaries before it", () => {
    const talk = summarised(2);
    talk.ask("And the weather?");
    talk.reply(calling("get_weather"));
    talk.result(0, "sunny");
    talk.reply("It is sunny.");
    expect(request(talk)).toBe(
      [
        "Earlier summaries:\n[Turn 1] S1\n[Turn 2] S2\n",
        "Turn 3",
        "Input:\nAnd the weather?",
        "Output:\nIt is sunny.",
        "Tool use:\nget_weather({})\n-> get_weather (completed): sunny",
      ].join("\n"),
    );
    expect(checkPrompt(talk.summary().messages)).toBeNull();
  });

  test("an instruction of the wanted level, or one's own, and the model that is to write it", () => {
    const instructions = (["concise", "verbose"] as const).map((level) => {
      const talk = talking({ level });
      talk.say("q1", "a1");
      return talk.summary().messages.slice(0, 1).map(textOf).join("");
    });
    expect(instructions[0]).toContain("in one to three sentences");
    expect(instructions[1]).toContain("so fully");
    const talk = talking(
      { instruction: "In a word.", model: { model: "small" } },
      { model: { model: "large", top_p: 1 } },
    );
    talk.say("q1", "a1");
    expect(talk.summary()).toMatchObject({ model: { model: "small", top_p: 1 }, turn: 0, purpose: "summary" });
    expect(talk.summary().messages.map(textOf)[0]).toBe("In a word.");
  });

  test("turns that were never summarised, oldest first, when the policy is a new one", () => {
    const before = new CheckedTalk();
    for (let turn = 1; turn <= 3; turn++) before.say(`q${turn}`, `a${turn}`);
    const talk = before.under({ policy: summariseTurns({ maxTurns: 2 }) });
    talk.ask("q4");
    expect(talk.sent()).toEqual(["q2", "a2", "q3", "a3", "q4"]);
    expect(request(talk)).toContain("Earlier summaries:\n[Turn 1] Asked: q1 Answered: a1\n\nTurn 2\n");
    talk.summarise("S2");
    expect(request(talk)).toContain("\n[Turn 2] S2\n\nTurn 3\n");
    talk.summarise("S3");
    expect(talk.isSummarising()).toBe(false);
  });
});

describe("a summariser that does not do its work", () => {
  const failures: readonly (readonly [string, (talk: CheckedTalk) => void])[] = [
    ["fails", (talk) => talk.failSummary()],
    ["says nothing", (talk) => talk.summarise("  ")],
    ["says too much", (talk) => talk.summarise("word ".repeat(2_000))],
    ["is cut off", (talk) => talk.summarise("S1", { finishReason: "length" })],
    ["asks for tools", (talk) => talk.summarise("", { reply: calling("get_weather") })],
  ];

  test.each(failures)(
    "costs neither answer nor turn when it %s: the turn is shown as it is, then as a line",
    (_, fail) => {
      const talk = talking();
      talk.say("q1", "a1");
      expect(talk.state.value).toBe("completed");
      fail(talk);
      expect(talk.signals()).toContainEqual(expect.objectContaining({ type: "summary.failed", number: 1 }));
      expect(lastTurnOf(talk.state)).toMatchObject({ outcome: { status: "completed" }, summaryFailures: 1 });
      talk.ask("q2");
      expect(talk.sent()).toEqual(["q1", "a1", "q2"]);
      fail(talk);
      talk.reply("a2");
      talk.summarise("S2");
      talk.ask("q3");
      expect(talk.sent()).toEqual([`${heading}[Turn 1] Asked: q1 Answered: a1\n[Turn 2] S2`, "q3"]);
      expect(turnNumbered(talk.state, 1)?.messages).toHaveLength(2);
      talk.replays();
    },
  );

  test("a summary that is longer than what it stands for is used all the same, as long as it is allowed", () => {
    const talk = talking({ maxTokens: 300 });
    talk.say("q1", "a1");
    talk.summarise("s".repeat(300));
    talk.ask("q2");
    expect(talk.sent()[0]).toBe(`${heading}[Turn 1] ${"s".repeat(300)}`);
  });
});

describe("a budget", () => {
  const bound = (tokens: number, options: SummariseTurnsOptions = {}): CheckedTalk =>
    talking({ maxTokens: 40, ...options }, { counter: characterCounter, budget: { tokens, reserve: 0 } });

  test("a turn that does not fit waits for its summary, and is a line made by rule when none comes", () => {
    const waiting = (): CheckedTalk => {
      const talk = bound(150);
      talk.say("q".repeat(60), "a".repeat(60));
      talk.ask("q".repeat(31));
      expect(talk.state.value).toEqual({ awaiting_llm: "compacting" });
      return talk;
    };
    const told = waiting();
    told.summarise("S1");
    expect(told.sent()).toEqual([`${heading}[Turn 1] S1`, "q".repeat(31)]);
    told.replays();
    const failed = waiting();
    failed.failSummary();
    expect(failed.call().messages.map(textOf)).toEqual(["q".repeat(31)]);
    const room = bound(250);
    room.say("q".repeat(60), "a".repeat(60));
    room.ask("q".repeat(140));
    expect(room.state.value).toEqual({ awaiting_llm: "compacting" });
  });

  test("the oldest lines give way where not all fit", () => {
    const talk = bound(100);
    for (let turn = 1; turn <= 6; turn++) {
      talk.say(`q${turn}`, `a${turn}`);
      talk.summarise(`S${turn}`.padEnd(20, "."));
    }
    talk.ask("q7");
    expect(talk.sent()).toEqual([`${heading}[Turn 5] ${"S5".padEnd(20, ".")}\n[Turn 6] ${"S6".padEnd(20, ".")}`, "q7"]);
    expect(talk.state.context.fullness).toBe("at_limit");
    talk.replays();
  });
});
