import { expect, test } from "vitest";
import { conversationMachine, type Message, type MessageDraft, promptOf, type State } from "../../src/index.ts";
import { explain } from "../../src/inspect.ts";
import {
  countPrompt,
  type Policy,
  type PolicyDecision,
  type PolicyInput,
  tokenWindow,
  type UnitPosition,
} from "../../src/policies.ts";
import { calling, Talk } from "../talk.ts";
import { characters } from "./policies/made-up-history.ts";
import { policyOf } from "./policies/made-up-policies.ts";

type Played = (talk: Talk) => void;

const say =
  (question: string, answer: string): Played =>
  (talk) => {
    talk.ask(question);
    talk.reply(answer);
  };

const add =
  (...roles: readonly MessageDraft["role"][]): Played =>
  (talk) =>
    void talk.tell({
      type: "turn.added",
      messages: roles.map((role, index) => ({ role, content: "abcd".slice(index % 4) })),
    });

const round: Played = (talk) => {
  talk.ask("look");
  talk.reply(calling("look", "look"));
  talk.result(0, "f");
  talk.result(1, "found");
  talk.reply("so");
};

const cancelled: Played = (talk) => {
  talk.ask("stop?");
  talk.tell({ type: "cancel.requested", partial: { content: "no" } });
};

const open: Played = (talk) => {
  talk.ask("now");
  talk.reply(calling("look"));
  talk.result(0, "f");
};

const pin =
  (message: string): Played =>
  (talk) =>
    void talk.tell({ type: "message.pinned", message, pinned: true });

const back =
  (to: number): Played =>
  (talk) =>
    void talk.tell({ type: "head.moved", to });

const append =
  (role: MessageDraft["role"]): Played =>
  (talk) =>
    void talk.tell({ type: "message.appended", message: { role, content: "by" } });

const seed: readonly MessageDraft[] = [
  { role: "user", content: "seed" },
  { role: "assistant", content: "s" },
  { role: "developer", content: "dev" },
  { role: "user", content: "se" },
];

const played = (begins: readonly MessageDraft[], ...all: readonly Played[]): State => {
  const talk = new Talk(conversationMachine({ tools: [{ name: "look" }] }), { system: "Be.", seed: begins });
  for (const play of all) play(talk);
  return talk.state;
};

/** Returns all places at which a prompt may begin, the oldest first. */
const startsIn = ({ history }: PolicyInput): readonly (UnitPosition | null)[] => [
  null,
  ...[...history.newestFirst()].reverse().flatMap((turn) => [
    { turn: turn.number, unit: 0 },
    ...turn
      .units()
      .slice(1)
      .map(({ position: unit }) => ({ turn: turn.number, unit })),
  ]),
  { turn: Number.MAX_SAFE_INTEGER, unit: 0 },
];

/** Decides as `tokenWindow` does, by measuring the prompt from each place, the oldest first. */
const plainly: Policy = policyOf("plainly", (input) => {
  const starts = startsIn(input);
  const from = starts.find((start) => input.measure({ from: start }) <= (input.available ?? 0));
  return { from: from === undefined ? (starts.at(-1) ?? null) : from, reason: "tried" };
});

const answersOnly = [add("assistant", "assistant"), add("assistant"), add("assistant", "user", "assistant")];

const threads: readonly (readonly [string, State])[] = [
  ["of questions and answers", played([], say("q", "a"), say("que", "answer"), say("q", "a"))],
  ["with a seed, rounds and appended messages", played(seed, say("q", "a"), round, append("developer"), round)],
  ["of answers after one question", played([], say("question?", "a"), ...answersOnly)],
  ["of answers after a seed", played(seed, ...answersOnly)],
  ["with turns of instructions alone", played(seed, add("developer"), ...answersOnly, add("system"), add("assistant"))],
  ["with cancelled turns", played(seed, cancelled, add("assistant"), say("q", "a"), cancelled)],
  ["with an abandoned branch", played(seed, say("one", "1"), say("two", "2"), back(1), add("assistant"), round)],
  ["with pinned messages", played(seed, say("q", "a"), ...answersOnly, round, pin("0.1"), pin("2.1"), pin("5.1.0"))],
  ["with a pinned message in its last turn", played([], say("question", "a"), add("assistant"), round, pin("3.2"))],
  [
    "with a pinned question among the answers of a turn",
    played([], add("user", "assistant", "assistant", "user", "assistant"), pin("1.3")),
  ],
  ["whose turn is open", played(seed, say("q", "a"), ...answersOnly, open)],
  [
    "whose open turn has a pinned message",
    played([], say("question", "a"), add("assistant"), open, pin("3.0"), pin("1.1")),
  ],
  [
    "with an appended answer that waits for the next turn",
    played([], say("question", "a"), add("assistant"), append("assistant")),
  ],
];

test.each(threads)(
  "tokenWindow starts the prompt where an exhaustive search does, for any budget, in a thread %s",
  (_, state) => {
    for (const interrupted of ["keep", "omit"] as const) {
      for (let tokens = 0; tokens <= 80; tokens++) {
        const shownBy = (policy: Policy) => {
          const budget = { tokens, reserve: 0 };
          const prompt = promptOf(conversationMachine({ policy, counter: characters, budget, interrupted }), state);
          expect(prompt.failed).toBeUndefined();
          return prompt.messages.map(({ id }) => id);
        };
        expect(shownBy(tokenWindow())).toEqual(shownBy(plainly));
      }
    }
  },
);

const limited = { rule: "headAndTail", of: "messages", characters: 200 } as const;
const cleared = { rule: "clear", of: "toolResults", characters: 200 } as const;

test.each(threads)("explain lists the messages that the prompt sends, and their tokens, in a thread %s", (_, state) => {
  const decisions: readonly Omit<PolicyDecision, "reason">[] = [
    { from: null },
    { from: null, dropped: ["0.1", "1.0", "2.0", "3.1"] },
    { from: { turn: 2, unit: 0 }, system: "omit", dropped: ["3.0"] },
    { from: { turn: 3, unit: 0 }, shrink: [limited, { ...cleared, before: { turn: 3, unit: 1 } }] },
    { from: { turn: 3, unit: 0 }, summarised: { from: 0, to: 2 } },
    { from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 }, shrink: [{ ...cleared, before: { turn: 2, unit: 0 } }] },
  ];
  for (const interrupted of ["keep", "omit"] as const) {
    for (const told of decisions) {
      const policy = policyOf("told", () => ({ ...told, reason: "told" }));
      const machine = conversationMachine({
        policy,
        interrupted,
        counter: characters,
        budget: { tokens: 99, reserve: 0 },
      });
      const { messages, tokens, fits } = promptOf(machine, state);
      const explanation = explain(machine, state);
      const sent = explanation.units.flatMap((unit) => unit.sent);
      const summary = explanation.summary === null ? [] : [explanation.summary.message];
      expect(idsOf(sent)).toBe(idsOf(messages.filter(({ id }) => !id.startsWith("summary"))));
      expect([...summary, ...sent].toSorted(byId)).toEqual(messages.toSorted(byId));
      expect([explanation.tokens, explanation.fits]).toEqual([tokens, fits]);
      expect(tokens).toBe(countPrompt(characters, messages));
      const counted = explanation.units.reduce(
        (sum, unit) => sum + (unit.sentTokens ?? 0),
        explanation.summary?.tokens ?? 0,
      );
      expect(counted).toBe(tokens);
    }
  }
});

const byId = (one: Message, other: Message): number => (one.id < other.id ? -1 : 1);

const idsOf = (messages: readonly Message[]): string => messages.map(({ id }) => id).join(" ");

const silent: readonly MessageDraft[] = [
  { role: "user", content: "seed" },
  { role: "developer", content: "dev" },
];
const everything = "0.2 0.3 1.0 1.1 2.0 2.1 3.0 4.0 4.1 4.2 5.0 5.1";

test.each<readonly [string, UnitPosition | null, "keep" | "omit", readonly MessageDraft[], string]>([
  ["an answer of the seed", { turn: 0, unit: 1 }, "keep", seed, `0.0 0.1 ${everything}`],
  ["a system message of the seed and a question", { turn: 0, unit: 2 }, "keep", seed, everything],
  ["the answer of a cancelled turn", { turn: 1, unit: 1 }, "keep", seed, everything.slice(8)],
  ["an answer", { turn: 2, unit: 0 }, "keep", seed, "1.0 2.0 2.1 3.0 4.0 4.1 4.2 5.0 5.1"],
  ["an answer after an omitted turn", { turn: 2, unit: 0 }, "omit", seed, "0.3 2.0 2.1 3.0 4.0 4.1 4.2 5.0 5.1"],
  ["an answer before its turn's question", { turn: 4, unit: 0 }, "keep", seed, "1.0 4.0 4.1 4.2 5.0 5.1"],
  ["a question", { turn: 4, unit: 1 }, "keep", seed, "4.1 4.2 5.0 5.1"],
  ["an answer after its turn's question", { turn: 4, unit: 2 }, "keep", seed, "4.1 4.2 5.0 5.1"],
  [
    "the instruction of a seed without an answer",
    { turn: 0, unit: 1 },
    "keep",
    silent,
    `0.0 0.1 ${everything.slice(8)}`,
  ],
  ["a seed without an answer, whose question is dropped", null, "keep", silent, `0.0 0.1 ${everything.slice(8)}`],
  ["a turn after a seed without an answer", { turn: 1, unit: 0 }, "keep", silent, everything.slice(8)],
])("a prompt that a policy starts at %s begins with a question", (_, from, interrupted, begins, ids) => {
  const dropped = from === null ? ["0.0"] : [];
  const policy = policyOf("told", () => ({ from, dropped, reason: "told" }));
  const state = played(begins, cancelled, ...answersOnly, say("q", "a"));
  const machine = conversationMachine({ policy, interrupted });
  expect(idsOf(promptOf(machine, state).messages)).toBe(`s1 ${ids}`);
  expect(idsOf(explain(machine, state).units.flatMap(({ sent }) => sent))).toBe(`s1 ${ids}`);
});

/** Returns the ids of the questions that lead a window which begins at the units 0 to 2 of a turn. */
const leadsIn = (turn: number, state: State): readonly (string | null)[] => {
  const led: (string | null)[] = [];
  const policy = policyOf("leading", ({ history }) => {
    for (const unit of [0, 1, 2]) led.push(history.lead({ turn, unit })?.id ?? null);
    return { from: null, reason: "all" };
  });
  promptOf(conversationMachine({ policy }), state);
  return led;
};

test("no question of another turn leads a window that begins after its own turn's question", () => {
  const late = played([], say("q", "a"), add("assistant", "user", "assistant"));
  expect(leadsIn(2, late)).toEqual(["1.0", null, null]);
  const pinned = played([], say("q", "a"), add("assistant", "user", "assistant"), pin("2.1"));
  expect(leadsIn(2, pinned)).toEqual(["1.0", null, null]);
  expect(leadsIn(2, played([], say("q", "a"), say("q", "a")))).toEqual([null, null, null]);
});

test("no question leads a window that a pinned message of the seed precedes, unless that is an instruction", () => {
  const [question, answer, instruction] = seed;
  if (question === undefined || answer === undefined || instruction === undefined) throw new Error("no seed");
  expect(leadsIn(0, played([question, answer, answer], pin("0.1")))).toEqual([null, null, null]);
  expect(leadsIn(0, played([question, instruction, answer], pin("0.1")))).toEqual([null, "0.0", "0.0"]);
});

test.each<readonly [string, readonly MessageDraft[], readonly Played[], Omit<PolicyDecision, "reason">, string]>([
  [
    "at a turn of instructions alone",
    [],
    [say("q", "a"), add("developer"), say("q", "a"), say("q", "a")],
    { from: { turn: 2, unit: 0 }, dropped: ["4.1"] },
    "1.0 2.0 3.0 3.1 4.0",
  ],
  [
    "at instructions between dropped questions of the seed",
    [...silent, ...silent],
    [say("q", "a")],
    { from: { turn: 0, unit: 1 }, dropped: ["0.2"] },
    "0.0 0.1 0.3 1.0 1.1",
  ],
  [
    "behind a dropped seed at a turn of instructions alone",
    silent.slice(0, 1),
    [add("developer"), say("q", "a")],
    { from: null, dropped: ["0.0"] },
    "0.0 1.0 2.0 2.1",
  ],
  [
    "at a question, with pinned instructions of the seed before it",
    silent,
    [say("q", "a"), pin("0.1")],
    { from: { turn: 1, unit: 0 } },
    "0.1 1.0 1.1",
  ],
])("a prompt that a policy starts %s is sent as explain lists it", (_, begins, plays, decision, ids) => {
  const state = played(begins, ...plays);
  const machine = conversationMachine({ policy: policyOf("told", () => ({ ...decision, reason: "told" })) });
  expect(idsOf(promptOf(machine, state).messages)).toBe(`s1 ${ids}`);
  expect(idsOf(explain(machine, state).units.flatMap(({ sent }) => sent))).toBe(`s1 ${ids}`);
});
