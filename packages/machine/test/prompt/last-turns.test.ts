import { stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ConfigurationError,
  conversationMachine,
  lastTurns,
  promptOf,
  type State,
  toArray,
  turnsOf,
} from "../../src/index.ts";
import { runs } from "../runs.ts";
import { Talk } from "../talk.ts";

const shownIn = (state: State, count: number): readonly string[] =>
  promptOf(conversationMachine({ policy: lastTurns(count) }), state).messages.map(({ id }) => id);

describe("lastTurns", () => {
  test("shows exactly the newest turns of the path, the seed being the oldest", () => {
    const shows = (state: State, count: number) => {
      const { conversation, open } = state.context;
      const blocks = [conversation.seed, ...turnsOf(state).map((turn) => toArray(turn.messages))].filter(
        // A thread without a seed has none to count.
        (block, index) => index > 0 || block.length > 0,
      );
      const closed = blocks.slice(Math.max(0, blocks.length - count)).flat();
      const system = conversation.system === null ? [] : [conversation.system];
      const expected = [...system, ...closed].map(({ id }) => id);
      const shown = shownIn(state, count);
      expect(shown.slice(0, expected.length)).toEqual(expected);
      const rest = open === null ? conversation.appended.map(({ id }) => id) : shown.slice(expected.length);
      expect(shown.slice(expected.length)).toEqual(rest);
    };
    fc.assert(fc.property(stateArbitrary(), fc.nat({ max: 4 }), shows), { numRuns: runs(150) });
  });

  test("0 shows none but the open turn and the system message", () => {
    const talk = new Talk(conversationMachine({ policy: lastTurns(0) }), { system: "Be brief." });
    talk.ask("One");
    talk.reply("1");
    talk.ask("Two");
    expect(talk.call().messages.map(({ id }) => id)).toEqual(["s1", "2.0"]);
  });

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("%d turns can't be meant", (count) => {
    expect(() => lastTurns(count)).toThrow(ConfigurationError);
    expect(() => lastTurns(count)).toThrow(String(count));
  });
});
