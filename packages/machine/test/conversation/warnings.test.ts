import { describe, expect, test } from "vitest";
import { conversationMachine, type MachineOptions, promptOf, type Signal } from "../../src/index.ts";
import { keepAll, lastTurns } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { calling } from "../talk.ts";

// Observers are told when prompts become fuller, once for each crossing, and not when they stay as they are.

const options: MachineOptions = {
  counter: characterCounter,
  budget: { tokens: 110, reserve: 10 },
  calibrate: false,
  policy: lastTurns(1),
  tools: [{ name: "search" }],
};

type Warning = Omit<Extract<Signal, { readonly type: "context.warning" }>, "messages">;

const warnings = (talk: CheckedTalk): readonly Warning[] =>
  talk.signals().flatMap((signal) => {
    if (signal.type !== "context.warning") return [];
    const { messages: _, ...rest } = signal;
    return rest;
  });
const approaching = (tokens: number): Warning => ({
  type: "context.warning",
  warning: "approaching_limit",
  tokens,
  available: 100,
});
const atLimit = (tokens: number): Warning => ({ type: "context.warning", warning: "at_limit", tokens, available: 100 });

/** Asks with so many tokens, with nothing before it, and tells what observers were warned of. */
const asking = (talk: CheckedTalk, tokens: number): readonly Warning[] => {
  talk.tell({ type: "head.moved", to: 0 });
  talk.ask("x".repeat(tokens));
  const told = warnings(talk);
  if (talk.isCalling()) talk.reply("y");
  return told;
};

describe("context.warning", () => {
  test("counts the messages of the path and of the open turn", () => {
    const talk = new CheckedTalk(options);
    talk.ask("x".repeat(10));
    talk.reply("y");
    talk.ask("x".repeat(80));
    const [warning] = talk.signals().filter(({ type }) => type === "context.warning");
    expect(warning).toMatchObject({ warning: "approaching_limit", messages: 3 });
  });

  test.each<readonly [readonly number[], readonly (readonly Warning[])[]]>([
    [
      [79, 80],
      [[], [approaching(80)]],
    ],
    [
      [80, 90, 99],
      [[approaching(80)], [], []],
    ],
    [
      [80, 100],
      [[approaching(80)], [atLimit(100)]],
    ],
    [
      [10, 100, 100],
      [[], [atLimit(100)], []],
    ],
    [
      [100, 90, 100],
      [[atLimit(100)], [], [atLimit(100)]],
    ],
    [
      [85, 10, 85],
      [[approaching(85)], [], [approaching(85)]],
    ],
    [
      [100, 10, 85, 100],
      [[atLimit(100)], [], [approaching(85)], [atLimit(100)]],
    ],
    [
      [120, 120, 10],
      [[atLimit(120)], [], []],
    ],
  ])("comes once for each crossing upwards: %j", (tokens, expected) => {
    const talk = new CheckedTalk(options);
    expect(tokens.map((count) => asking(talk, count))).toEqual(expected);
    talk.replays();
  });

  test("is published before the call that it is about, after the turn has started", () => {
    const talk = new CheckedTalk(options);
    talk.ask("x".repeat(90));
    expect(talk.told()).toEqual(["turn.started", "context.warning", "callLlm"]);
  });

  test("comes in the middle of a turn too", () => {
    const talk = new CheckedTalk(options);
    talk.ask("x".repeat(40));
    talk.reply(calling("search"));
    talk.result(0, "r".repeat(40));
    expect(talk.told()).toEqual(["context.warning", "callLlm"]);
    expect(warnings(talk)).toEqual([approaching(88)]);
    talk.reply("y");
    expect(talk.told()).not.toContain("context.warning");
  });

  test("says at_limit where a policy left something out for want of room, however full the prompt is", () => {
    const policy = {
      ...keepAll(),
      name: "pressed",
      decide: () => ({ from: null, pressed: true, reason: "no room" }),
    };
    const talk = new CheckedTalk({ ...options, policy });
    talk.ask("x");
    expect(warnings(talk)).toEqual([atLimit(1)]);
  });

  test.each([
    [0, 1, "approaching_limit"],
    [0.5, 49, undefined],
    [0.5, 50, "approaching_limit"],
    [1, 99, undefined],
    [1, 100, "at_limit"],
  ])("has its share: warnAt %d at %i tokens of 100: %s", (warnAt, tokens, warning) => {
    const talk = new CheckedTalk({ ...options, warnAt });
    talk.ask("x".repeat(tokens));
    expect(warnings(talk).map((signal) => "warning" in signal && signal.warning)).toEqual(
      warning === undefined ? [] : [warning],
    );
  });

  test.each([-0.1, 1.1, Number.NaN])("a share of %d is invalid", (warnAt) => {
    expect(() => conversationMachine({ warnAt })).toThrow(String(warnAt));
  });

  test("does not come without a budget, nor because the state is read", () => {
    const talk = new CheckedTalk({ ...options, budget: null });
    talk.ask("x".repeat(1_000));
    expect(warnings(talk)).toEqual([]);
    const under = talk.under(options);
    expect(promptOf(under.machine, under.state)).toMatchObject({ fits: false, tokens: 1_000 });
    expect(under.state.context.fullness).toBe("within");
  });

  test("comes again under a smaller budget", () => {
    const talk = new CheckedTalk(options);
    talk.say("x".repeat(70), "y");
    const smaller = talk.under({ ...options, budget: { tokens: 75, reserve: 0 } });
    smaller.tell({ type: "head.moved", to: 0 });
    smaller.ask("x".repeat(70));
    expect(warnings(smaller)).toEqual([{ ...approaching(70), available: 75 }]);
  });
});
