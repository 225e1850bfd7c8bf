import { hostilePolicies, stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  lastTurnOf,
  type MachineOptions,
  messagesOf,
  promptOf,
  textOf,
  toolCallsOf,
  transition,
} from "../../src/index.ts";
import { checkPrompt, keepAll, lastMessages, lastTurns, type Policy, type PolicyDecision } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { runs } from "../runs.ts";
import { calling } from "../talk.ts";

// Pinned content is whole in every prompt while it is on the path, despite any policy or budget.

const deciding = (name: string, decision: Omit<PolicyDecision, "reason">): Policy => ({
  ...keepAll(),
  name,
  decide: () => ({ ...decision, reason: name }),
});
const afterAll = { turn: Number.MAX_SAFE_INTEGER, unit: 0 };

/** Policies that would not show turn 1. */
const hiding: readonly Policy[] = [
  lastTurns(0),
  deciding("none", { from: afterAll }),
  deciding("dropping", { from: null, dropped: ["1.0", "1.1", "1.2"] }),
  deciding("summarised", { from: afterAll, summarised: { from: 1, to: 1 } }),
  deciding("shrunk", { from: null, shrink: [{ rule: "headAndTail", of: "messages", characters: 200 }] }),
  deciding("cleared", {
    from: null,
    shrink: [{ rule: "clear", of: "messages", characters: 200, before: afterAll }],
  }),
];

const pin = (talk: CheckedTalk, message: string, pinned = true) =>
  talk.tell({ type: "message.pinned", message, pinned });
const long = "long ".repeat(100);

/** A turn of a question, a round and an answer, all of them long. */
const told = (options: MachineOptions): CheckedTalk => {
  const talk = new CheckedTalk({ tools: [{ name: "search" }], ...options }, { system: "Be brief." });
  talk.ask(`question ${long}`);
  talk.reply({ content: `thinking ${long}`, ...calling("search") });
  talk.result(0, `result ${long}`);
  talk.reply(`answer ${long}`);
  return talk;
};

describe("a pinned message", () => {
  test("of the system leaves the question that leads a window to be counted", () => {
    const seed = [
      { role: "system", content: "aside" },
      { role: "user", content: "question" },
      { role: "assistant", content: "answer" },
      { role: "assistant", content: "more" },
    ] as const;
    const talk = new CheckedTalk({ policy: lastMessages({ max: 2, keepRecent: 2 }) }, { seed });
    pin(talk, "0.0");
    expect(promptOf(talk.machine, talk.state).messages.map(textOf)).toEqual(["aside", "question", "more"]);
  });

  test.each(hiding)(
    "is whole in the next prompt, and it alone, under a policy that would not show it: $name",
    (policy) => {
      const talk = told({ policy });
      pin(talk, "1.0");
      talk.ask("go on");
      expect(talk.sent()).toContain(`question ${long}`);
      expect(talk.sent()).not.toContain(`answer ${long}`);
      expect(talk.call().messages.at(-1)?.id).toBe("2.0");
      talk.reply("y");
      pin(talk, "1.0", false);
      talk.ask("go on");
      expect(talk.sent()).not.toContain(`question ${long}`);
    },
  );

  test.each(hiding)("in a round brings the whole round with it: $name", (policy) => {
    const talk = told({ policy });
    pin(talk, "1.1.0");
    talk.ask("go on");
    const { messages } = talk.call();
    const asked = messages.findIndex((message) => toolCallsOf(message).length > 0);
    expect(messages.slice(asked, asked + 2).map(textOf)).toEqual([`thinking ${long}`, `result ${long}`]);
    expect(checkPrompt(messages)).toBeNull();
  });

  test("of the seed, of what was appended, and of the open turn are such as well", () => {
    const talk = new CheckedTalk(
      { policy: lastTurns(0), tools: [{ name: "search" }] },
      { seed: [{ role: "user", content: "seed" }] },
    );
    pin(talk, "0.0");
    talk.tell({ type: "message.appended", message: { role: "user", content: "appended" } });
    pin(talk, "1.0");
    talk.ask("asked");
    talk.reply(calling("search", "search"));
    talk.result(1, "second");
    pin(talk, "1.1.1");
    expect(talk.refused({ type: "message.pinned", message: "1.1.0", pinned: true }).kind).toBe("unknown");
    talk.result(0, "first");
    talk.reply("answer");
    talk.ask("next");
    expect(talk.sent()).toEqual(["seed", "appended", "", "first", "second", "next"]);
    talk.replays();
  });

  test("in a turn that was interrupted is shown with its question, and nothing else of that turn", () => {
    const talk = new CheckedTalk({ interrupted: "omit", tools: [{ name: "search" }] });
    talk.ask("question");
    talk.reply(calling("search"));
    talk.tell({ type: "cancel.requested" });
    pin(talk, "1.1");
    talk.ask("next");
    expect(talk.call().messages.map(({ id }) => id)).toEqual(["1.0", "1.1", "1.1.0", "2.0"]);
    expect(talk.call().messages[2]).toMatchObject({ synthesised: true });
  });

  test("in the open turn is not shrunk, and what is beside it is", () => {
    const policy = deciding("shrunk", { from: null, shrink: [{ rule: "reference", of: "messages", characters: 200 }] });
    const talk = new CheckedTalk({ policy, tools: [{ name: "search" }] });
    talk.ask(`question ${long}`);
    talk.reply(calling("search"));
    pin(talk, "1.0");
    talk.result(0, `result ${long}`);
    const [question, , result] = talk.sent();
    expect(question).toBe(`question ${long}`);
    expect(result?.length).toBeLessThanOrEqual(200);
  });

  test("is off with its turn, and back with it", () => {
    const talk = told({ policy: lastTurns(0) });
    pin(talk, "1.0");
    talk.tell({ type: "head.moved", to: 0 });
    talk.ask("elsewhere");
    expect(talk.sent()).toEqual(["Be brief.", "elsewhere"]);
    talk.reply("y");
    talk.tell({ type: "head.moved", to: 1 });
    talk.ask("back");
    expect(talk.sent()).toEqual(["Be brief.", `question ${long}`, "back"]);
  });

  test("stays in its place where its turn is shown anyway, and pins stand in the order of the path, pinned twice or not", () => {
    const talk = new CheckedTalk({ policy: lastTurns(1) });
    for (const text of ["1", "2", "3"]) talk.say(text, `${text}!`);
    for (const id of ["2.1", "1.0", "3.0", "1.0"]) pin(talk, id);
    talk.ask("4");
    expect(talk.sent()).toEqual(["1", "2", "2!", "3", "3!", "4"]);
    expect(talk.state.context.conversation.pins).toHaveLength(3);
    talk.reply("4!");
    pin(talk, "1.0", false);
    talk.ask("5");
    expect(talk.sent()).toEqual(["2", "2!", "3", "4", "4!", "5"]);
  });

  test("while a call is out is in the next one's prompt, not in that of the one that is out", () => {
    const talk = new CheckedTalk({ policy: lastTurns(0), retry: { baseDelayMs: 0 } });
    talk.say("1", "1!");
    talk.ask("2");
    const before = talk.call();
    pin(talk, "1.0");
    expect(talk.call()).toEqual(before);
    talk.fail({ retryable: true });
    talk.fire("retry");
    expect(talk.sent()).toEqual(["1", "2"]);
    pin(talk, "1.0", false);
    expect(talk.sent()).toEqual(["1", "2"]);
    talk.replays();
  });

  test("takes its room: where it does not leave enough, the outcome says so", () => {
    const talk = new CheckedTalk({
      policy: lastTurns(0),
      counter: characterCounter,
      budget: { tokens: 50, reserve: 0 },
    });
    talk.say("x".repeat(40), "y");
    pin(talk, "1.0");
    talk.ask("z".repeat(20));
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({
      unfit: { tokens: 60, fixed: 60, largest: { message: "2.0", tokens: 20 } },
    });
    pin(talk, "1.0", false);
    talk.ask("z".repeat(20));
    expect(talk.isCalling()).toBe(true);
  });
});

describe("a pin is refused", () => {
  test.each<readonly [string, string, boolean]>([
    ["of a message that is not there", "1.9", true],
    ["of a turn that is not there", "9.0", true],
    ["of the system message, which every prompt shows", "s1", true],
    ["of no id", "", true],
    ["taken off what is not pinned", "1.0", false],
  ])("%s", (_, message, pinned) => {
    const talk = told({});
    expect(talk.refused({ type: "message.pinned", message, pinned }).kind).toBe("unknown");
  });

  test("of a message off the path, though it can be taken off there", () => {
    const talk = told({});
    pin(talk, "1.0");
    talk.tell({ type: "head.moved", to: 0 });
    expect(talk.refused({ type: "message.pinned", message: "1.3", pinned: true }).kind).toBe("unknown");
    pin(talk, "1.0", false);
    expect(talk.state.context.conversation.pins).toEqual([]);
  });
});

test("any message of any thread, once pinned, is whole in the next prompt, under any policy", () => {
  const policies = [...hostilePolicies(), ...hiding];
  const property = fc.property(
    stateArbitrary(),
    fc.constantFrom(...policies),
    fc.constantFrom("keep", "omit"),
    fc.nat(),
    (state, policy, interrupted, pick) => {
      const messages = messagesOf(state);
      const message = messages[pick % Math.max(1, messages.length)];
      fc.pre(message !== undefined);
      const machine = conversationMachine({ policy, interrupted });
      const event = { type: "message.pinned", at: state.context.updatedAt, message: message.id, pinned: true } as const;
      const pinned = transition(machine, state, event);
      expect(pinned.handled).toBe(true);
      const prompt = promptOf(machine, pinned.state).messages;
      expect(prompt).toContainEqual(message);
      expect(checkPrompt(prompt)).toBeNull();
    },
  );
  fc.assert(property, { numRuns: runs(300) });
});
