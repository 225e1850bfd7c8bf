import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { stateAt } from "../../src/journal.ts";
import { CheckedTalk } from "../checked-talk.ts";

describe("the state at an entry", () => {
  test("is the one that the thread had then", () => {
    const talk = new CheckedTalk();
    const states = [talk.state];
    talk.ask("one");
    states.push(talk.state);
    talk.reply("first");
    states.push(talk.state);
    for (const [seq, state] of states.entries()) expect(stateAt(talk.entries, seq)).toEqual(Either.right(state));
  });

  test.each([
    [-1, "there is no entry -1: there are 0 to 0"],
    [1, "there is no entry 1: there are 0 to 0"],
    [0.5, "there is no entry 0.5: there are 0 to 0"],
  ])("%s is refused where there is none", (seq, reason) => {
    expect(stateAt(new CheckedTalk().entries, seq)).toEqual(Either.left({ seq, reason }));
    expect(stateAt([], 0)).toEqual(Either.left({ seq: 0, reason: "there is no entry 0: the journal is empty" }));
  });
});
