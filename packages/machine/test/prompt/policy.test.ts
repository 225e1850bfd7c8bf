import { describe, expect, test } from "vitest";
import { conversationMachine, promptOf } from "../../src/index.ts";
import { compose, keepAll, lastTurns, type Policy, type PolicyInput } from "../../src/policies.ts";
import { Talk } from "../talk.ts";

const threeTurns = (policy: Policy): Talk => {
  const talk = new Talk(conversationMachine({ policy }), { system: "Be brief." });
  for (const text of ["One", "Two"]) {
    talk.ask(text);
    talk.reply(`${text}!`);
  }
  talk.ask("Three");
  return talk;
};

describe("a decision is read once, as plain data", () => {
  test("the checked decision is the used one", () => {
    let asked = 0;
    const changing = () => ({
      get from() {
        return asked++ === 0 ? null : { turn: Number.NaN, unit: 0.5 };
      },
      reason: "",
    });
    const talk = threeTurns({ ...keepAll(), name: "changing", decide: changing });
    expect(JSON.parse(JSON.stringify(talk.state))).toEqual(talk.state);
  });

  test("why it could not be used is said in few words", () => {
    const talk = threeTurns({
      ...keepAll(),
      name: "wordy",
      decide: () => {
        throw new Error("word ".repeat(100_000));
      },
    });
    expect(promptOf(talk.machine, talk.state).failed).toBe(`policy "wordy@1" threw: ${"word ".repeat(40)}`);
  });
});

describe("the input of a policy", () => {
  test.each([
    ["alone", (policy: Policy) => policy],
    ["in a composition", (policy: Policy) => compose(lastTurns(2), policy)],
  ])("may be written into, member by member, %s", (_, around) => {
    const decide = (input: PolicyInput) => {
      // An assignment in a module throws if this is false.
      const isRefused = Object.keys(input).some((member) => !Reflect.set(input, member, Reflect.get(input, member)));
      return { from: isRefused ? { turn: Number.NaN, unit: 0 } : null, reason: "written" };
    };
    const talk = threeTurns(around({ ...keepAll(), name: "writing", decide }));
    expect(promptOf(talk.machine, talk.state).failed).toBeUndefined();
  });

  test("the closed turns, newest first, in units; what is shown whatever it decides; its last cut", () => {
    const inputs: PolicyInput[] = [];
    const watching: Policy = {
      ...keepAll(),
      name: "watching",
      decide: (input) => {
        inputs.push(input);
        const [newest] = input.history.newestFirst();
        return { from: newest === undefined ? null : { turn: newest.number, unit: 1 }, reason: "watching" };
      },
    };
    threeTurns(watching);
    const last = inputs.at(-1);
    if (last === undefined) throw new Error("the policy was not asked");
    const turns = [...last.history.newestFirst()];
    expect(turns.map(({ number, interrupted }) => [number, interrupted])).toEqual([
      [2, false],
      [1, false],
    ]);
    expect(turns[0]?.units().map(({ id, kind, position }) => [id, kind, position])).toEqual([
      ["2.0", "message", 0],
      ["2.1", "message", 1],
    ]);
    expect(last.history.fixed().map(({ id }) => id)).toEqual(["s1", "3.0"]);
    expect(last.lastCut).toEqual({ policy: "watching@1", from: { turn: 1, unit: 1 }, interrupted: "keep" });
  });
});

// A policy's decision is checked before it is used. An invalid one is reported to its author.

const clear = { rule: "clear", of: "toolResults", characters: 200, before: { turn: 2, unit: 0 } };
const shorten = { rule: "headAndTail", of: "messages", characters: 200 };

/** Returns why a decision on three turns, the third open, was not used; null if it was. */
const refusalOf = (decision: unknown): string | null => {
  // Only JavaScript may return this decision.
  const decide = (() => decision) as Policy["decide"];
  const talk = new Talk(conversationMachine({ policy: { ...keepAll(), name: "told", decide } }));
  for (const text of ["One", "Two"]) {
    talk.ask(text);
    talk.reply(`${text}!`);
  }
  talk.ask("Three");
  return promptOf(talk.machine, talk.state).failed ?? null;
};

describe("a decision", () => {
  test.each<readonly [string, unknown]>([
    ["all", { from: null }],
    ["from a turn on", { from: { turn: 2, unit: 0 } }],
    ["from behind all on", { from: { turn: 3, unit: 0 } }],
    ["a message left out", { from: null, dropped: ["1.0"] }],
    ["nothing left out", { from: null, dropped: [] }],
    ["without instructions", { from: null, system: "omit" }],
    ["rules", { from: null, shrink: [clear, shorten, { ...shorten, rule: "reference", tool: "read" }] }],
    ["rules for a part of it", { from: null, shrink: [{ ...shorten, before: { turn: 1, unit: 1 } }] }],
    ["no rules", { from: null, shrink: [] }],
    ["fields", { from: null, fields: { omit: ["a"], inputs: ["b"] } }],
    ["no fields", { from: null, fields: {} }],
    ["a turn as a line", { from: { turn: 2, unit: 0 }, summarised: { from: 1, to: 1 } }],
    ["the seed as a line", { from: { turn: 1, unit: 0 }, summarised: { from: 0, to: 0 } }],
    ["turns as lines", { from: { turn: 3, unit: 0 }, summarised: { from: 1, to: 2 } }],
  ])("of %s is used", (_, decision) => {
    expect(refusalOf({ reason: "told to", ...Object(decision) })).toBeNull();
  });

  test.each<readonly [unknown, string]>([
    [Promise.resolve({ from: null, reason: "" }), "it is a promise; decide must answer at once"],
    [null, "it is null, not a decision"],
    [undefined, "it is undefined, not a decision"],
    ["all", 'it is "all", not a decision'],
    [{ reason: "" }, "from is undefined"],
    [{ from: 1, reason: "" }, "from is 1"],
    [{ from: { turn: 1 }, reason: "" }, 'from is {"turn":1}'],
    [{ from: { turn: 1, unit: -1 }, reason: "" }, 'from is {"turn":1,"unit":-1}'],
    [{ from: { turn: 0.5, unit: 0 }, reason: "" }, 'from is {"turn":0.5,"unit":0}'],
    [{ from: { turn: 1, unit: 0.5 }, reason: "" }, 'from is {"turn":1,"unit":0.5}'],
    [{ from: { turn: -1, unit: 0 }, reason: "" }, 'from is {"turn":-1,"unit":0}'],
    [{ from: null }, "its reason is undefined"],
    [{ from: null, reason: "", dropped: "1.0" }, 'dropped is "1.0", not a list of ids'],
    [{ from: null, reason: "", dropped: [1] }, "dropped is [1], not a list of ids"],
    [{ from: null, reason: "", system: "keep" }, 'system is "keep"'],
    [{ from: null, reason: "", shrink: clear }, "not a list of rules"],
    [{ from: null, reason: "", shrink: [null] }, "shrink has null"],
    [{ from: null, reason: "", shrink: [clear, 7] }, "shrink has 7"],
    [{ from: null, reason: "", shrink: [{ ...clear, before: undefined }] }, "shrink has {"],
    [{ from: null, reason: "", shrink: [{ ...shorten, rule: "middle" }] }, "shrink has {"],
    [{ from: null, reason: "", shrink: [{ ...shorten, of: "calls" }] }, "shrink has {"],
    [{ from: null, reason: "", shrink: [{ ...shorten, characters: 199 }] }, "shrink has {"],
    [{ from: null, reason: "", shrink: [{ ...shorten, characters: 200.5 }] }, "shrink has {"],
    [{ from: null, reason: "", shrink: [{ ...shorten, before: { turn: 1 } }] }, "shrink has {"],
    [{ from: null, reason: "", shrink: [{ ...shorten, tool: 7 }] }, "shrink has {"],
    [{ from: null, reason: "", fields: 7 }, "fields is 7"],
    [{ from: null, reason: "", fields: { omit: "a" } }, 'fields is {"omit":"a"}'],
    [{ from: null, reason: "", fields: { inputs: [1] } }, 'fields is {"inputs":[1]}'],
    [{ from: { turn: 2, unit: 0 }, reason: "", summarised: null }, "null is no range of turns"],
    [{ from: { turn: 2, unit: 0 }, reason: "", summarised: { from: 2, to: 1 } }, "is no range of turns"],
    [{ from: { turn: 2, unit: 0 }, reason: "", summarised: { from: 1 } }, "is no range of turns"],
    [{ from: { turn: 3, unit: 0 }, reason: "", summarised: { from: 1, to: 3 } }, "turn 3 is not on the path"],
    [{ from: null, reason: "", summarised: { from: 1, to: 1 } }, "to be shown as summaries and, from null on"],
    [
      { from: { turn: 1, unit: 0 }, reason: "", summarised: { from: 1, to: 1 } },
      'turns {"from":1,"to":1} are to be shown as summaries and, from {"turn":1,"unit":0} on, as they are',
    ],
  ])("that is %j is refused with a reason", (decision, words) => {
    expect(refusalOf(decision)).toContain(words);
  });
});
