import { describe, expect, test } from "vitest";
import { promptOf, textOf } from "../../src/index.ts";
import { checkPrompt, keepAll, type Policy, type PolicyDecision } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { rolling } from "../hand-made.ts";
import { calling } from "../talk.ts";

// The messages that the machine renders from a decision, in their place and order.

const deciding = (decision: Omit<PolicyDecision, "reason">, name = "deciding"): Policy => ({
  ...keepAll(),
  name,
  decide: () => ({ ...decision, reason: name }),
});
const tools = [{ name: "search" }];
const afterAll = { turn: Number.MAX_SAFE_INTEGER, unit: 0 };
const long = "long ".repeat(100);

/** Says a question, a round and an answer of that many turns. */
const rounds = (policy: Policy, count: number): CheckedTalk => {
  const talk = new CheckedTalk({ policy, tools }, { system: "Be brief.", seed: [{ role: "user", content: "seed" }] });
  for (let turn = 1; turn <= count; turn++) {
    talk.ask(`question ${turn}`);
    talk.reply(calling("search"));
    talk.result(0, `result ${turn} ${long}`);
    talk.reply(`answer ${turn}`);
  }
  return talk;
};

describe("a prompt", () => {
  test("is the system message, the summaries, what is pinned before, what is shown from there on, each with its question, and the open turn", () => {
    const policy = deciding({ from: { turn: 3, unit: 1 }, summarised: { from: 1, to: 2 }, dropped: ["4.0"] });
    const early = rounds(keepAll(), 4);
    early.tell({ type: "message.pinned", message: "2.2", pinned: true });
    early.tell({ type: "message.pinned", message: "0.0", pinned: true });
    const talk = early.under({ policy, tools });
    talk.ask("now");
    expect(talk.call().messages.map(({ id }) => id)).toEqual([
      "s1",
      "summary.1-2.0",
      "0.0",
      "2.0",
      "2.2",
      "3.0",
      "3.1",
      "3.1.0",
      "3.2",
      "4.0",
      "4.1",
      "4.1.0",
      "4.2",
      "5.0",
    ]);
    expect(checkPrompt(talk.call().messages)).toBeNull();
    expect(talk.call().messages[1]).toMatchObject({ role: "user", synthesised: true });
  });

  test("clears results up to the given place, and never those that the model has not seen yet", () => {
    const clear = { rule: "clear", of: "toolResults", characters: 200, before: afterAll } as const;
    const talk = rounds(deciding({ from: null, shrink: [clear] }), 1);
    talk.ask("now");
    talk.reply(calling("search"));
    talk.result(0, `first ${long}`);
    const results = () => talk.sent().filter((text) => /^(?:result|first|second|\[Left out)/u.test(text));
    expect(results()).toEqual([expect.stringContaining("[Left out"), `first ${long}`]);
    talk.reply(calling("search"));
    talk.result(0, `second ${long}`);
    expect(results()).toEqual([
      expect.stringContaining("[Left out"),
      expect.stringContaining("[Left out"),
      `second ${long}`,
    ]);
    expect(talk.state.context.cut?.shrink).toEqual([{ ...clear, before: { turn: 2, unit: 2 } }]);
    talk.replays();
  });

  test("has no line for a turn that was interrupted, where those are left out, and one that says it where they are not", () => {
    const early = new CheckedTalk({ policy: rolling({ keep: 9 }) });
    early.say("One", "1");
    early.ask("Two");
    early.tell({ type: "cancel.requested", partial: { content: "2, I" } });
    early.say("Three", "3");
    const policy = deciding({ from: { turn: 4, unit: 0 }, summarised: { from: 1, to: 3 } });
    const shown = (interrupted: "keep" | "omit") => {
      const { machine, state } = early.under({ policy, interrupted });
      return promptOf(machine, state).messages.map(textOf);
    };
    const [one, two, three] = [
      "[Turn 1] Asked: One Answered: 1",
      "[Turn 2] Asked: Two Answered: 2, I",
      "[Turn 3] Asked: Three Answered: 3",
    ];
    expect(shown("omit")).toEqual([`Earlier in this conversation:\n${one}\n${three}`]);
    expect(shown("keep")).toEqual([`Earlier in this conversation:\n${one}\n${two}\n${three}`]);
  });
});

describe("a decision is invalid, and all is kept", () => {
  const rule = { of: "toolResults", characters: 200 } as const;

  test.each<readonly [string, Omit<PolicyDecision, "reason">]>([
    ["turns are to be shown twice", { from: { turn: 2, unit: 0 }, summarised: { from: 1, to: 2 } }],
    ["turns are to be shown as summaries and all as it is", { from: null, summarised: { from: 1, to: 1 } }],
    ["turns that are not there are to be shown as summaries", { from: afterAll, summarised: { from: 1, to: 9 } }],
    ["what is cleared has no end", { from: null, shrink: [{ ...rule, rule: "clear" }] }],
    ["a mark would not fit", { from: null, shrink: [{ ...rule, rule: "headAndTail", characters: 199 }] }],
    ["a place is half a unit", { from: { turn: 1, unit: 0.5 } }],
    ["a turn is before the beginning", { from: { turn: -1, unit: 0 } }],
  ])("where %s", (_, decision) => {
    const talk = rounds(deciding(decision), 2);
    talk.ask("now");
    expect(talk.signals()).toContainEqual({
      type: "policy.failed",
      reason: expect.stringContaining('policy "deciding@1" made an invalid decision'),
    });
    expect(talk.call().messages).toHaveLength(1 + 1 + 4 + 4 + 1);
  });
});
