import { describe, expect, test } from "vitest";
import { conversationMachine, type MessageDraft } from "../../src/index.ts";
import { explain } from "../../src/inspect.ts";
import { keepAll, type Policy, type PolicyDecision } from "../../src/policies.ts";
import { rolling } from "../hand-made.ts";
import { calling, Talk } from "../talk.ts";

const long = "long ".repeat(60);
const seed: readonly MessageDraft[] = [
  { role: "user", content: "I am Ada." },
  { role: "user", content: "I am new." },
];

/** Plays a turn with fields and a round, a turn whose question has only notes, a failed turn, and an open one. */
const talked = (policy: Policy): Talk => {
  const machine = conversationMachine({ tools: [{ name: "look" }], policy, interrupted: "omit" });
  const talk = new Talk(machine, { seed, system: "Be brief." });
  const ask = (askId: string, fields: { readonly [field: string]: string }) => {
    const content = Object.entries(fields).map(([field, value]) => ({ type: "data", field, value }) as const);
    talk.tell({ type: "ask.received", askId, input: [{ role: "user", content }] });
  };
  ask("a", { question: long, notes: "-" });
  talk.reply(calling("look"));
  talk.result(0, long);
  talk.reply(long);
  ask("b", { notes: "-" });
  talk.reply("So.");
  talk.ask("Why?");
  talk.fail();
  talk.ask(long);
  return talk;
};

const explained = (decision: Omit<PolicyDecision, "reason">) => {
  const policy: Policy = { ...keepAll(), name: "own", decide: () => ({ ...decision, reason: "as told" }) };
  const talk = talked(policy);
  return explain(talk.machine, talk.state).units.map(({ id, shown, rule, why }) => [id, shown, rule, why]);
};

const headAndTail = { rule: "headAndTail", of: "messages", characters: 200 } as const;
const shortened = "messages are shown by head and tail, in 200 characters";

test("explain gives the turn of each unit: none for the system message, 0 for the seed, and the next one if it is open", () => {
  const talk = talked(keepAll());
  const turns = explain(talk.machine, talk.state).units.map(({ turn }) => turn);
  expect(turns).toEqual([null, 0, 0, 1, 1, 1, 2, 2, 3, 4]);
});

test("explain says of pinned messages of the seed, of closed turns and of the open turn that they are pinned", () => {
  const shrink = [{ rule: "headAndTail", of: "messages", characters: 200 }] as const;
  const decide = () => ({ from: { turn: 3, unit: 0 }, shrink, reason: "as told" });
  const talk = talked({ ...keepAll(), name: "own", decide });
  for (const message of ["0.1", "1.2", "4.0"]) talk.tell({ type: "message.pinned", message, pinned: true });
  const { units } = explain(talk.machine, talk.state);
  const shown = units.filter(({ sent }) => sent.length > 0).map(({ id, rule, why }) => [id, rule, why]);
  const why = "the question of what is shown next";
  expect(shown).toEqual([
    ["s1", "fixed", "the system message"],
    ["0.1", "pinned", "pinned"],
    ["1.0", "question", why],
    ["1.2", "pinned", "pinned"],
    ["4.0", "pinned", "pinned"],
  ]);
  expect(units.filter(({ rule }) => rule === "pinned").map(({ shown }) => shown)).toEqual(["whole", "whole", "whole"]);
});

test("explain gives no rule for a message in which only a field that is left out would be shortened", () => {
  const shrink = [{ rule: "headAndTail", of: "messages", characters: 200 }] as const;
  const decide = () => ({ from: null, fields: { omit: ["notes"] }, shrink, reason: "as told" });
  const talk = new Talk(conversationMachine({ policy: { ...keepAll(), name: "own", decide } }));
  const content = [
    { type: "data", field: "question", value: "Why?" },
    { type: "data", field: "notes", value: long },
  ] as const;
  talk.tell({ type: "turn.added", messages: [{ role: "user", content }] });
  const [unit] = explain(talk.machine, talk.state).units;
  expect(unit).toMatchObject({ shown: "shrunk", rule: "fields", why: 'without "notes"' });
});

describe("explain gives the rule and the reason for each unit", () => {
  test("of a prompt that begins in the seed, without a field and with short messages", () => {
    const from = { turn: 0, unit: 1 };
    expect(explained({ from, fields: { omit: ["notes"] }, shrink: [headAndTail], system: "omit" })).toEqual([
      ["s1", "out", "dropped", "as told"],
      ["0.0", "out", "older", "as told"],
      ["0.1", "whole", "kept", "not older than unit 1 of the seed"],
      ["1.0", "shrunk", "shrink", `without "notes"; ${shortened}`],
      ["1.1", "shrunk", "shrink", shortened],
      ["1.2", "shrunk", "shrink", shortened],
      ["2.0", "out", "fields", 'without "notes"'],
      ["2.1", "whole", "kept", "not older than unit 1 of the seed"],
      ["3.0", "out", "interrupted", "turn 3 failed, and such turns are left out"],
      ["4.0", "shrunk", "shrink", shortened],
    ]);
  });

  test("of a prompt that leaves out one field only", () => {
    expect(explained({ from: null, fields: { omit: ["notes"] } }).slice(3, 6)).toEqual([
      ["1.0", "shrunk", "fields", 'without "notes"'],
      ["1.1", "whole", "kept", "nothing leaves it out"],
      ["1.2", "whole", "kept", "nothing leaves it out"],
    ]);
  });

  test("of a prompt that begins with the second turn", () => {
    expect(explained({ from: { turn: 2, unit: 0 } }).slice(5, 8)).toEqual([
      ["1.2", "out", "older", "as told"],
      ["2.0", "whole", "kept", "not older than turn 2"],
      ["2.1", "whole", "kept", "not older than turn 2"],
    ]);
  });

  const before = { turn: 2, unit: 0 };

  test.each([
    [{ rule: "clear", of: "toolResults", characters: 200, before }, "results of more than 200 characters are cleared"],
    [{ rule: "clear", of: "messages", characters: 250, before }, "messages of more than 250 characters are cleared"],
    [
      { rule: "reference", of: "toolResults", characters: 200 },
      "results are shown by their beginning, in 200 characters",
    ],
    [
      { rule: "headAndTail", of: "messages", characters: 220 },
      "messages are shown by head and tail, in 220 characters",
    ],
  ] as const)("of a round under the rule %j", (rule, why) => {
    expect(explained({ from: null, shrink: [rule] })[4]).toEqual(["1.1", "shrunk", "shrink", why]);
  });

  test("of a round under several rules, of which only two change it", () => {
    const shrink = [
      headAndTail,
      { rule: "reference", of: "toolResults", characters: 250 },
      { ...headAndTail, rule: "clear", before },
    ] as const;
    expect(explained({ from: null, shrink: [{ ...headAndTail, characters: 250 }, ...shrink] })[4]).toEqual([
      "1.1",
      "shrunk",
      "shrink",
      `messages are shown by head and tail, in 250 characters; ${shortened}`,
    ]);
  });

  test.each<readonly [string, readonly MessageDraft[], string]>([
    ["one turn", [], "shown as summary 1"],
    ["the seed and a turn", seed, "shown as summary 1, of the seed to turn 1"],
  ])("of a turn that a summary of %s covers", (_, begins, why) => {
    const talk = new Talk(conversationMachine({ policy: rolling() }), { seed: begins });
    for (const text of ["One", "Two"]) {
      talk.ask(`${text}?`);
      talk.reply(`${text}.`);
    }
    talk.reply("They counted.");
    expect(explain(talk.machine, talk.state).units.find(({ id }) => id === "1.0")).toMatchObject({
      shown: "summary",
      rule: "summary",
      why,
    });
  });
});
