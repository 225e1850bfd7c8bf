import { expect, test } from "vitest";
import { conversationMachine, messagesOf, textOf } from "../../src/index.ts";
import { figuresOf, sizeOfThread } from "../../src/inspect.ts";
import type { PolicyDecision } from "../../src/policies.ts";
import { characterCounter } from "../hand-made.ts";
import { telling } from "../prompt/policies/made-up-policies.ts";
import { Talk } from "../talk.ts";

/** Plays turns 1 to 6 of a question and an answer each, but turn 4 is cancelled before its answer. */
const played = (...pins: readonly string[]): Talk => {
  const talk = new Talk(conversationMachine(), { seed: [{ role: "user", content: "Before." }] });
  for (let turn = 1; turn <= 6; turn++) {
    talk.ask(`question ${turn} ${"q".repeat(300)}`);
    if (turn === 4) talk.tell({ type: "cancel.requested" });
    else talk.reply(`answer ${turn}`);
  }
  for (const message of pins) talk.tell({ type: "message.pinned", message, pinned: true });
  return talk;
};

const turnsUnder = (
  told: Omit<PolicyDecision, "reason">,
  pins: readonly string[] = [],
  interrupted: "keep" | "omit" = "keep",
) => figuresOf(conversationMachine({ policy: telling(told), interrupted }), played(...pins).state).turns;

const from = (turn: number, unit = 0) => ({ from: { turn, unit } });
const short = { rule: "headAndTail", of: "messages", characters: 200 } as const;

test.each<readonly [string, Parameters<typeof turnsUnder>, Partial<ReturnType<typeof turnsUnder>>]>([
  ["everything", [{ from: null }], { whole: 6 }],
  ["everything but interrupted turns", [{ from: null }, [], "omit"], { whole: 5, out: 1 }],
  ["everything but interrupted turns, one of which is pinned", [{ from: null }, ["4.0"], "omit"], { whole: 6 }],
  ["the newest turns", [from(3)], { whole: 4, out: 2 }],
  ["the newest turns, from an answer on, with its question", [from(3, 1)], { whole: 4, out: 2 }],
  ["the next turn alone", [from(7)], { out: 6 }],
  ["everything but the answer of one turn", [{ from: null, dropped: ["3.1"] }], { whole: 5, partly: 1 }],
  ["everything but one turn", [{ from: null, dropped: ["3.0", "3.1"] }], { whole: 5, out: 1 }],
  ["shortened questions", [{ from: null, shrink: [short] }], { partly: 6 }],
  ["the newest turns, and a pinned older answer with its question", [from(5), ["1.1"]], { whole: 3, out: 3 }],
  ["the newest turns, and a pinned older question", [from(5), ["1.0"]], { whole: 2, partly: 1, out: 3 }],
  ["the newest turns, with pins in them and in the seed", [from(5), ["0.0", "5.0"]], { whole: 2, out: 4 }],
  ["older turns as summary lines", [{ ...from(4), summarised: { from: 1, to: 3 } }], { whole: 3, summarised: 3 }],
  [
    "older turns and the seed as summary lines",
    [{ ...from(4), summarised: { from: 0, to: 3 } }],
    { whole: 3, summarised: 3 },
  ],
  [
    "some older turns as summary lines",
    [{ ...from(5), summarised: { from: 2, to: 3 } }],
    { whole: 2, summarised: 2, out: 2 },
  ],
  [
    "older turns as summary lines, and a pinned question of one",
    [{ ...from(4), summarised: { from: 1, to: 3 } }, ["2.0"]],
    { whole: 3, partly: 1, summarised: 2 },
  ],
  [
    "older turns as summary lines, and a pinned answer of one with its question",
    [{ ...from(4), summarised: { from: 2, to: 3 } }, ["2.1", "1.0"]],
    { whole: 4, partly: 1, summarised: 1 },
  ],
])("figuresOf counts the turns of a prompt that shows %s", (_, given, figures) => {
  expect(turnsUnder(...given)).toEqual({ total: 6, whole: 0, partly: 0, summarised: 0, out: 0, ...figures });
});

test("figuresOf counts turns only on the path, and messages also of the open turn and appended ones", () => {
  const talk = played();
  talk.tell({ type: "head.moved", to: 2 });
  talk.tell({ type: "message.appended", message: { role: "user", content: "Waiting." } });
  const machine = conversationMachine({ counter: characterCounter });
  const expectSize = (count: number): void => {
    const messages = messagesOf(talk.state);
    const figures = figuresOf(machine, talk.state);
    expect(figures).toMatchObject({
      messages: count,
      characters: messages.reduce((sum, message) => sum + textOf(message).length, 0),
      available: null,
      share: null,
      fits: true,
      usage: { calls: 6 },
      turns: { total: 2, whole: 2 },
    });
    const { usage, characters } = figures;
    expect(sizeOfThread(machine, talk.state)).toEqual({ turns: 2, messages: count, characters, usage, share: null });
  };
  expectSize(6);
  talk.ask("Open?");
  expectSize(7);
});

test("figuresOf and sizeOfThread return the share of the budget that the next prompt takes", () => {
  const machine = conversationMachine({ counter: characterCounter, budget: { tokens: 4_000, reserve: 0 } });
  const { state } = played();
  const { tokens, share, available } = figuresOf(machine, state);
  expect([tokens, available]).toEqual([1_913, 4_000]);
  expect(share).toBe(1_913 / 4_000);
  expect(sizeOfThread(machine, state).share).toBe(share);
});
