import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  messagesOf,
  promptOf,
  type Role,
  textOf,
  type ToolCallPart,
  toolCallsOf,
} from "../../src/index.ts";
import { checkPrompt, type History, keepAll, type Policy, type PolicyDecision } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { rolling } from "../hand-made.ts";
import { calling, Talk } from "../talk.ts";
import { chunkSize } from "../../src/thread/chunks.ts";
import { newestFittingOf, withNewestFitting } from "../../src/prompt/history.ts";
import { inputOf } from "./policies/made-up-history.ts";
import { stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import { problemOfPrompt } from "@colloquy/runtime-test/laws";
import { runs } from "../runs.ts";

// The messages that the machine renders from a decision, and their order.

const deciding = (decision: Omit<PolicyDecision, "reason">, name = "deciding"): Policy => ({
  ...keepAll(),
  name,
  decide: () => ({ ...decision, reason: name }),
});
const tools = [{ name: "search" }];
const afterAll = { turn: Number.MAX_SAFE_INTEGER, unit: 0 };
const long = "long ".repeat(100);

/** Plays turns with a question, a round and an answer. */
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

  test("has no question of the seed for a pinned system message of it, since the prompt does not begin there", () => {
    const seed = [
      { role: "user", content: "Hello" },
      { role: "developer", content: "Be brief." },
    ] as const;
    const talk = new CheckedTalk({ policy: deciding({ from: { turn: 1, unit: 0 } }) }, { seed });
    talk.tell({ type: "message.pinned", message: "0.1", pinned: true });
    talk.say("One", "1");
    talk.ask("now");
    expect(talk.call().messages.map(({ id }) => id)).toEqual(["0.1", "1.0", "1.1", "2.0"]);
  });

  test("has the question that leads it after a pinned system message that was said before the question", () => {
    const seed = [{ role: "developer", content: "Be brief." }] as const;
    const talk = new CheckedTalk({ policy: deciding({ from: { turn: 2, unit: 0 } }) }, { seed });
    talk.tell({ type: "message.pinned", message: "0.0", pinned: true });
    talk.say("One", "1");
    talk.tell({ type: "turn.added", messages: [{ role: "assistant", content: "And two." }] });
    talk.ask("now");
    expect(talk.call().messages.map(({ id }) => id)).toEqual(["0.0", "1.0", "2.0", "3.0"]);
  });

  test("has no pinned message of the newest turn once the head has moved to an older one", () => {
    const talk = new CheckedTalk({ policy: deciding({ from: afterAll }) });
    talk.say("One", "1");
    talk.say("Two", "2");
    talk.tell({ type: "message.pinned", message: "1.0", pinned: true });
    talk.tell({ type: "message.pinned", message: "2.0", pinned: true });
    const shown = () => promptOf(talk.machine, talk.state).messages.map(({ id }) => id);
    expect(shown()).toEqual(["1.0", "2.0"]);
    talk.tell({ type: "head.moved", to: 1 });
    expect(shown()).toEqual(["1.0"]);
  });

  test.each([
    ["no turn", []],
    ["a turn", [20]],
    ["the first turn", [1]],
    ["the last turn", [2 * chunkSize]],
  ])("of a long thread leaves out just the interrupted turns, of which there is %s", (_, cancelled) => {
    const talk = new Talk(conversationMachine({ interrupted: "omit" }));
    for (let turn = 1; turn <= 2 * chunkSize; turn++) {
      talk.ask(`question ${turn}`);
      if (cancelled.includes(turn)) talk.tell({ type: "cancel.requested", partial: { content: "I" } });
      else talk.reply(`answer ${turn}`);
    }
    const expected = Array.from({ length: 2 * chunkSize }, (_none, index) => index + 1)
      .filter((turn) => !cancelled.includes(turn))
      .flatMap((turn) => [`question ${turn}`, `answer ${turn}`]);
    expect(promptOf(talk.machine, talk.state).messages.map(textOf)).toEqual(expected);
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

  test("has no line for an interrupted turn if those are left out, and else one that marks it", () => {
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

// The counts of a history's turns do not hold for other turns in their place.

const history = withNewestFitting(inputOf({}).history, () => ({ turn: 1, unit: 0 }));

test("a history that was given the shortcut has it", () => {
  expect(newestFittingOf(history)?.(0)).toEqual({ turn: 1, unit: 0 });
  expect(newestFittingOf(inputOf({}).history)).toBeUndefined();
});

test("no history made from it has them", () => {
  const inherited = Object.create(history) as History; // It inherits all members of one.
  for (const made of [{ ...history }, Object.assign({}, history), inherited])
    expect(newestFittingOf(made)).toBeUndefined();
});

const user = messageFromDraft("1.0", { role: "user", content: "?" });
const system = messageFromDraft("s1", { role: "system", content: "Be brief." });
const asking = (step: number, ...ids: readonly string[]): Message =>
  messageFromReply(`1.${step}`, `1.${step}`, { toolCalls: ids.map((id) => ({ id, name: "search", arguments: "{}" })) });
const answer = messageFromReply("1.9", "1.9", { content: "!" });
const results = (message: Message): readonly Message[] =>
  toolCallsOf(message).map((call: ToolCallPart) => messageFromResult(call, "completed", "found"));

const two = asking(1, "a", "a");
const [first = user, second = user] = results(two);

describe("checkPrompt", () => {
  test.each<readonly [string, readonly Message[]]>([
    ["a question", [system, user]],
    ["a round", [user, two, first, second]],
    ["rounds one after the other", [user, two, first, second, asking(2, "a"), ...results(asking(2, "a")), answer]],
    ["a system message between units", [user, two, first, second, system]],
  ])("lets %s pass", (_, messages) => {
    expect(checkPrompt(messages)).toBeNull();
    expect(problemOfPrompt(messages)).toBeNull();
  });

  test.each<readonly [string, readonly Message[], number]>([
    ["nothing", [], 0],
    ["a result without its call", [user, first], 1],
    ["a result in a message of the user", [two, { ...first, role: "user" }, second], 1],
    ["results in another order", [two, second, first], 1],
    ["a missing result", [two, first, user], 2],
    ["a missing result at the end", [two, first], 2],
    ["a result twice", [two, first, first, second], 2],
    ["a message inside a round", [two, system, first, second], 1],
    ["the result of a round before", [asking(0, "a"), first], 1],
    ["a user who asks for a tool", [{ ...asking(1, "a"), role: "user" }, ...results(asking(1, "a"))], 0],
  ])("finds %s", (_, messages, index) => {
    expect(checkPrompt(messages)).toMatchObject({ index });
    expect(problemOfPrompt(messages)).not.toBeNull();
  });

  test("says the same as the obvious check, of any messages in any order", () => {
    const roles: readonly Role[] = ["user", "assistant", "tool", "system"];
    const messed = stateArbitrary().chain((state) => {
      const messages = messagesOf(state);
      return fc
        .tuple(fc.shuffledSubarray([...messages]), fc.constantFrom(...roles), fc.nat(), fc.boolean())
        .map(([some, role, index, mess]) =>
          mess ? some.map((message, at) => (at === index % some.length ? { ...message, role } : message)) : messages,
        );
    });
    fc.assert(
      fc.property(messed, (messages) => {
        expect(checkPrompt(messages) === null).toBe(problemOfPrompt(messages) === null);
      }),
      { numRuns: runs(300) },
    );
  });
});
