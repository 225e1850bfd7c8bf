import { describe, expect, test } from "vitest";
import { lastTurnOf, type MachineOptions, textOf, toArray } from "../../src/index.ts";
import {
  clearResults,
  compactTurns,
  compose,
  fitOversized,
  limitResults,
  type Policy,
  tokenWindow,
} from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { calling } from "../talk.ts";

// Oversized content: results and messages that are shrunk by a declared rule, also within one long turn.

const options = (policy: Policy, tokens = 3_000): MachineOptions => ({
  policy,
  counter: characterCounter,
  budget: { tokens, reserve: 0 },
  tools: [{ name: "read" }],
});

/** A turn in which a tool gives so much, and a model call follows. */
const reading = (more: MachineOptions, ...results: readonly string[]): CheckedTalk => {
  const talk = new CheckedTalk(more, { system: "Be brief." });
  talk.ask("Read.");
  for (const result of results) {
    talk.reply(calling("read"));
    talk.result(0, result);
  }
  return talk;
};

describe("a result that does not fit", () => {
  const huge = "x".repeat(10_000);

  test("ends the turn unfit where it may not be shrunk", () => {
    const talk = reading(options(tokenWindow()), huge);
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({
      status: "failed",
      unfit: { available: 3_000, largest: { message: "1.1.0", tokens: 10_000 } },
    });
  });

  test("is shrunk as far as it must be, and the thread keeps the whole", () => {
    const talk = reading(options(compose(fitOversized(), tokenWindow())), huge);
    const shown = talk.sent().at(-1) ?? "";
    expect(shown).toHaveLength(2_048);
    expect(shown).toContain("the middle of the result of call 1.1.0, 10000 characters, is left out");
    expect(
      toArray(talk.state.context.open?.messages ?? { length: 0, levels: [] })
        .map(textOf)
        .at(-1),
    ).toBe(huge);
    talk.replays();
  });

  test("before turns are summarised for its sake", () => {
    const policy = compose(fitOversized(), compactTurns({ maxTokens: 300, instruction: "I" }));
    const talk = new CheckedTalk(options(policy));
    for (let turn = 1; turn <= 5; turn++) talk.say("q".repeat(100), "a".repeat(100));
    talk.ask("Read.");
    talk.reply(calling("read"));
    talk.result(0, huge);
    expect(talk.state.value).toEqual({ awaiting_llm: "compacting" });
    talk.summarise("notes");
    expect(talk.sent()[0]).toBe("Earlier in this conversation:\n[Turns 1 to 2] notes");
    expect(talk.sent().at(-1)).toHaveLength(2_048);
    talk.replays();
  });

  test("by a reference to a tool that reads it back", () => {
    const policy = limitResults({ characters: 500, rule: "reference", tool: "read_back" });
    const talk = reading(options(policy), huge);
    expect(talk.sent().at(-1)).toMatch(
      /result of call 1\.1\.0, 10000 characters, is left out\. Read it with read_back\. …\]$/u,
    );
  });

  test("a message that was asked is shrunk too", () => {
    const talk = new CheckedTalk(options(fitOversized()));
    talk.ask("y".repeat(10_000));
    expect(talk.sent().map(({ length }) => length)).toEqual([2_048]);
    expect(talk.sent()[0]).toContain("the middle of message 1.0, 10000 characters, is left out");
  });

  test("where no limit does, it ends unfit, with the numbers of what could not be shrunk further", () => {
    const talk = reading(options(fitOversized(), 150), huge);
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ status: "failed", unfit: { available: 150 } });
  });
});

describe("a long turn of many rounds", () => {
  test("older results are cleared, and never those of the newest round", () => {
    const talk = reading(options(clearResults({ keep: 2 })), ...Array.from({ length: 8 }, () => "x".repeat(900)));
    const lengths = talk
      .sent()
      .slice(2)
      .map(({ length }) => length);
    expect(lengths.filter((length) => length === 900)).toHaveLength(2);
    expect(lengths.at(-1)).toBe(900);
    expect(talk.sent().join("").length).toBeLessThanOrEqual(3_000);
    talk.replays();
    const none = reading(options(clearResults({ keep: 0, when: "always" })), "x".repeat(900), "x".repeat(900));
    expect(none.sent().map(({ length }) => length)).toEqual([9, 5, 0, 66, 0, 900]);
    expect(none.sent()[3]).toBe("[Left out to save room: the result of call 1.1.0, 900 characters.]");
  });

  test("with slack the beginning of the prompt stays for some steps", () => {
    const cuts: unknown[] = [];
    const talk = new CheckedTalk(options(clearResults({ keep: 1, slack: 3, when: "always" }), 100_000));
    talk.ask("Read.");
    for (let step = 0; step < 12; step++) {
      talk.reply(calling("read"));
      talk.result(0, "x".repeat(900));
      cuts.push(talk.state.context.cut?.shrink?.[0]?.before?.unit ?? 0);
    }
    expect(cuts).toEqual([0, 0, 0, 0, 5, 5, 5, 5, 9, 9, 9, 9]);
    talk.replays();
  });
});
