import { describe, expect, test } from "vitest";
import { lastTurnOf, type MachineOptions, promptOf } from "../../src/index.ts";
import { lastTurns } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { calling } from "../talk.ts";

// A model that reports more tokens than were counted makes the room smaller; one that reports fewer does not make it larger.

const options: MachineOptions = {
  counter: characterCounter,
  budget: { tokens: 110, reserve: 10 },
  policy: lastTurns(1),
  tools: [{ name: "search" }],
  retry: { baseDelayMs: 0 },
};

const room = (talk: CheckedTalk) => promptOf(talk.machine, talk.state).available;

/** A call that was counted at so many tokens, and of which so many were reported. */
const measured = (counted: number, inputTokens: number, more: MachineOptions = {}): CheckedTalk => {
  const talk = new CheckedTalk({ ...options, ...more });
  talk.ask("x".repeat(counted));
  talk.reply("y", { usage: { inputTokens } });
  return talk;
};

describe("the room", () => {
  test.each([
    [50, 50, 100],
    [50, 75, Math.floor(100 / 1.5)],
    [50, 100, 50],
    [30, 40, Math.floor(100 / 1.33)],
    [50, 200, 25],
    [50, 5_000, 100],
    [50, 20, 100],
    [50, 0, 100],
    [25, 50, 50],
    [24, 48, 100],
    [100, 125, 80],
  ])(
    "after %i tokens were counted and %i reported is %i: from 1 to 4 times, and only of calls that fill a quarter",
    (counted, reported, available) => {
      const talk = measured(counted, reported);
      expect(room(talk)).toBe(available);
      talk.ask("z");
      talk.replays();
    },
  );

  test("is what was measured last: a call that was too small to tell, or reported nothing, changes nothing", () => {
    const talk = measured(50, 100);
    talk.tell({ type: "head.moved", to: 0 });
    talk.ask("x".repeat(5));
    talk.reply("y", { usage: { inputTokens: 500 } });
    expect(room(talk)).toBe(50);
    talk.tell({ type: "head.moved", to: 0 });
    talk.ask("x".repeat(30));
    talk.reply("y");
    expect(room(talk)).toBe(50);
    talk.tell({ type: "head.moved", to: 0 });
    talk.ask("x".repeat(30));
    talk.reply("y", { usage: { inputTokens: 30 } });
    expect(room(talk)).toBe(100);
  });

  test("is not calibrated where that is turned off, nor by what a failed call or a summary reports", () => {
    expect(room(measured(50, 100, { calibrate: false }))).toBe(100);
    const talk = new CheckedTalk(options);
    talk.ask("x".repeat(50));
    talk.fail({ retryable: true }, { usage: { inputTokens: 200 } });
    expect(room(talk)).toBe(100);
  });

  test("is smaller already for the next step of the same turn", () => {
    const talk = new CheckedTalk(options);
    talk.ask("x".repeat(50));
    talk.reply(calling("search"), { usage: { inputTokens: 100 } });
    talk.result(0, "found");
    expect(lastTurnOf(talk.state)?.outcome).toEqual({
      status: "failed",
      unfit: {
        tokens: 50 + 8 + 5,
        available: 50,
        budget: 110,
        reserve: 10,
        fixed: 63,
        largest: { message: "1.0", tokens: 50 },
      },
    });
    talk.replays();
  });

  test("is smaller already for the step after a tool that is not there", () => {
    const talk = new CheckedTalk(options);
    talk.ask("x".repeat(50));
    talk.reply(calling("fly"), { usage: { inputTokens: 100 } });
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ unfit: { available: 50 } });
  });
});

describe("the journal", () => {
  test("has what was counted where it can calibrate, and the calibration with the cut that it changed", () => {
    const talk = measured(50, 75);
    expect(talk.entries.map((entry) => ("decided" in entry ? entry.decided?.counted : undefined))).toEqual([
      undefined,
      50,
      undefined,
    ]);
    // The same cut as before says nothing, however the counter is off by now.
    const second = talk.ask("x");
    expect(second.entry.decided).not.toHaveProperty("cut");
    expect(talk.state.context.cut).not.toHaveProperty("calibration");
    talk.reply("y");
    const third = talk.ask("x");
    expect(third.entry.decided?.cut).toMatchObject({ from: { turn: 2, unit: 0 }, calibration: 1.5 });
  });

  test("has no count of a call that is too small, nor where nothing is calibrated", () => {
    expect(
      measured(24, 24).entries.filter((entry) => "decided" in entry && entry.decided?.counted !== undefined),
    ).toEqual([]);
    const off = measured(50, 50, { calibrate: false });
    expect(off.entries.filter((entry) => "decided" in entry && entry.decided?.counted !== undefined)).toEqual([]);
  });
});
