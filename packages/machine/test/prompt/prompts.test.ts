import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type ConversationMachine,
  conversationMachine,
  digestOfPrompt,
  type Message,
  messageFromDraft,
  type ReplyDraft,
  transition,
} from "../../src/index.ts";
import {
  clearResults,
  estimateCounter,
  keepAll,
  lastTurns,
  omitFields,
  type Cut,
  type Policy,
  tokenWindow,
} from "../../src/policies.ts";
import { messagesIn } from "../../src/prompt/blocks.ts";
import { countsOf } from "../../src/prompt/counts.ts";
import { grownPrompts, promptsAnew } from "../../src/prompt/prompts.ts";
import { toArray } from "../../src/thread/chunks.ts";
import { PromptDigest } from "../../src/thread/make-message.ts";
import { calling, Talk } from "../talk.ts";
import { runs } from "../runs.ts";

const policies: { readonly [name: string]: () => Policy } = {
  "keep all": () => keepAll(),
  "the last turns": () => lastTurns(3),
  "a window of tokens": () => tokenWindow(),
  "cleared results": () => clearResults({ keep: 1 }),
  "fields left out": () => omitFields(["score"]),
};

/** Draws moves of an idle conversation. `back` continues from an earlier state, and branches there. */
const moves = fc.oneof(
  { weight: 8, arbitrary: fc.record({ move: fc.constant("turn" as const), tools: fc.nat(2), retried: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ move: fc.constant("turns" as const), count: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ move: fc.constant("back" as const), to: fc.nat() }) },
  fc.record({ move: fc.constant("head" as const), to: fc.nat() }),
  fc.record({ move: fc.constant("truncate" as const), turn: fc.nat() }),
  fc.record({ move: fc.constant("pin" as const), turn: fc.nat() }),
  fc.record({ move: fc.constant("append" as const) }),
  fc.record({ move: fc.constant("short" as const), role: fc.constantFrom("developer" as const, "assistant" as const) }),
  fc.record({ move: fc.constant("left" as const), says: fc.boolean() }),
  fc.record({ move: fc.constant("system" as const) }),
  fc.record({ move: fc.constant("cancel" as const) }),
);

type Move = typeof moves extends fc.Arbitrary<infer One> ? One : never;

const play = (talk: Talk, move: Move, earlier: readonly Talk["state"][], check: () => void): void => {
  const { turns } = talk.state.context.conversation;
  switch (move.move) {
    case "turn":
      talk.ask(`Question ${talk.now}?`);
      check();
      for (let round = 0; round < move.tools; round++) {
        talk.reply(calling("search", "search"));
        talk.result(1, "found");
        talk.result(0, "found too");
        check();
      }
      if (move.retried) {
        talk.fail({ retryable: true });
        talk.fire("retry");
        check();
      }
      return void talk.reply(`Answer ${talk.now}.`);
    case "turns":
      for (let turn = 0; turn < move.count; turn++) talk.tell({ type: "turn.added", messages: exchange });
      return;
    case "short":
      return void talk.tell({ type: "turn.added", messages: [{ role: move.role, content: "!" }] });
    case "left": {
      // A branch that is given up after its first call.
      const { state } = talk;
      talk.state = transition(talk.machine, state, {
        type: "ask.received",
        at: talk.now,
        askId: `left ${talk.now}`,
        input: move.says ? "?" : [],
      }).state;
      talk.state = state;
      return;
    }
    case "back":
      talk.state = earlier[move.to % earlier.length] ?? talk.state;
      return;
    case "head":
      return void talk.tell({ type: "head.moved", to: move.to % (turns.length + 1) });
    case "append":
      return void talk.tell({
        type: "message.appended",
        message: { role: "user", content: `By the way, ${talk.now}.` },
      });
    case "system":
      return void talk.tell({ type: "system.changed", system: `Be brief, ${talk.now}.` });
    case "cancel":
      talk.ask("Never mind?");
      check();
      return void talk.tell({ type: "cancel.requested" });
    case "truncate":
    case "pin": {
      const turn = 1 + (move.turn % Math.max(1, turns.length));
      const at = talk.now;
      // Refused moves change nothing: some turns have no answer, and some messages are already pinned.
      talk.state = transition(
        talk.machine,
        talk.state,
        move.move === "pin"
          ? { type: "message.pinned", message: `${turn}.0`, pinned: true, at }
          : { type: "answer.truncated", turn, characters: 1, at },
      ).state;
    }
  }
};

const exchange = [
  { role: "user", content: "?" },
  { role: "assistant", content: "!" },
] as const;

test.each(Object.entries(policies))("a prompt that grew equals a fresh one: %s", (_, policy) => {
  fc.assert(
    fc.property(
      fc.array(moves, { minLength: 5, maxLength: 30 }),
      fc.array(fc.constant(exchange), { maxLength: 2 }),
      (played, seed) => {
        const machine = conversationMachine({
          policy: policy(),
          tools: [{ name: "search" }],
          budget: { tokens: 2_000, reserve: 100 },
          retry: { baseDelayMs: 0 },
        });
        const talk = new Talk(machine, { system: "Be brief.", seed: seed.flat() });
        const earlier = [talk.state];
        const check = (): void => {
          const anew = talk.call();
          expect(talk.effects.filter(({ type }) => type === "callLlm")).toEqual([anew]);
          expect(digestOfPrompt(anew.messages, anew.output)).toBe(anew.promptDigest);
        };
        for (const move of played) {
          play(talk, move, earlier, check);
          earlier.push(talk.state);
        }
      },
    ),
    { numRuns: runs(60) },
  );
});

afterEach(() => void vi.restoreAllMocks());

test("a call adds only new content to its digest, at turn 10 and at turn 200", () => {
  const talk = new Talk(conversationMachine({ tools: [{ name: "search" }] }), { system: "Be brief." });
  // `outstanding` renders prompts again, so effects are answered from their first form.
  const idOf = (type: "callLlm" | "callTool"): string => {
    const effect = talk.effects.find((each) => each.type === type);
    return effect !== undefined && "id" in effect ? effect.id : "none";
  };
  const reply = (draft: ReplyDraft): void =>
    void talk.tell({ type: "llm.completed", effectId: idOf("callLlm"), reply: draft, finishReason: "stop" });
  const turn = (): void => {
    talk.ask("Where?");
    reply(calling("search"));
    talk.tell({ type: "tool.completed", effectId: idOf("callTool"), content: "there" });
    reply({ content: "There." });
  };
  const mixed = new Map<number, readonly Message[]>();
  for (let number = 1; number <= 201; number++) {
    const add = vi.spyOn(PromptDigest.prototype, "add");
    turn();
    mixed.set(
      number,
      add.mock.calls.map(([message]) => message),
    );
    add.mockRestore();
  }
  for (const number of [10, 32, 33, 34, 200, 201])
    // The previous answer and the question; the calls and their results.
    expect(mixed.get(number)?.map(({ role }) => role)).toEqual(["assistant", "user", "assistant", "tool"]);
});

test.each([999, 1_000, 1_001, 2_500])(
  "a prompt joins %i blocks, which are newest first, in the order of time",
  (count) => {
    const said = Array.from({ length: count }, (_, at) => messageFromDraft(`${at}`, { role: "user", content: "a" }));
    const blocks = said.map((message) => [message]).reverse();
    expect(messagesIn({ messages: blocks, turns: blocks.map(() => null) })).toEqual(said);
  },
);

const tools = [{ name: "search" }];
/** Returns a talk of so many turns, and a renderer of its prompts that counts how often it looks at a chunk. */
const talkOf = (turns: number): { talk: Talk; looksOf: (cut?: Cut) => number } => {
  const talk = new Talk(conversationMachine({ tools }), { system: "Be brief." });
  for (let turn = 0; turn < turns; turn++) talk.tell({ type: "turn.added", messages: exchange });
  const counts = countsOf(estimateCounter);
  let looks = 0;
  const prompts = grownPrompts({ ...counts, together: (run) => (looks++, counts.together(run)) });
  const looksOf = (given?: Cut): number => {
    looks = 0;
    const { conversation, open } = talk.state.context;
    if (open?.stage.type !== "responding") throw new Error("no call is outstanding");
    const { cut: decided, system } = open.stage.call;
    const cut = given ?? decided;
    const messages = toArray(open.messages);
    const rendered = prompts.render(conversation, cut, system, messages, undefined);
    expect(rendered).toEqual(promptsAnew.render(conversation, cut, system, messages, undefined));
    return looks;
  };
  return { talk, looksOf };
};
const goOn = (talk: Talk): void => {
  talk.reply(calling("search"));
  talk.result(0, "found");
};

test("a prompt that shows only the end of a turn shows no more of it when the turn has ended", () => {
  const { talk, looksOf } = talkOf(100);
  const cut: Cut = { policy: "from the middle@1", from: { turn: 101, unit: 2 }, interrupted: "keep" };
  talk.ask("One?");
  goOn(talk);
  goOn(talk);
  looksOf(cut);
  talk.reply("Yes.");
  talk.ask("Two?");
  looksOf(cut);
  goOn(talk);
  looksOf(cut);
});

test("a prompt is whole after another one could not be made, since a message of a state from elsewhere had no digest", () => {
  const { talk } = talkOf(3);
  talk.ask("One?");
  const { conversation, open } = talk.state.context;
  if (open?.stage.type !== "responding") throw new Error("no call is outstanding");
  const { cut, system } = open.stage.call;
  const messages = toArray(open.messages);
  const undigested = messages.map(({ digest: _, ...message }) => message);
  const prompts = grownPrompts(countsOf(estimateCounter));
  const render = (shown: readonly Message[]) => prompts.render(conversation, cut, system, shown, undefined);
  const whole = render(messages);
  // Cast: such a message comes from code without types.
  expect(() => render([...messages, ...(undigested as Message[])])).toThrow(TypeError);
  expect(render(messages)).toEqual(whole);
});

test("a machine shows a branch as a fresh machine does, whatever other branch it showed last", () => {
  const make = (): ConversationMachine =>
    conversationMachine({ policy: tokenWindow({ tokens: 28, reserve: 0, cutTo: 0.8 }) });
  const talk = new Talk(make());
  for (const [question, characters] of [
    ["QQQQQ", 10],
    ["QQQQQ", 12],
    ["QQ", 13],
  ] as const) {
    talk.ask(question);
    talk.reply("A".repeat(characters));
  }
  talk.tell({ type: "head.moved", to: 1 });
  const { state } = talk;
  talk.ask("Q".repeat(58));
  talk.state = state;
  talk.tell({ type: "turn.added", messages: [{ role: "developer", content: "D" }] });
  const other = new Talk(make());
  other.state = talk.state;
  other.now = talk.now;
  talk.ask("QQQQQ", "last");
  other.ask("QQQQQ", "last");
  expect(talk.effects).toEqual(other.effects);
});

describe("the machine looks at chunks of closed turns", () => {
  test("once for all calls of a turn, and not for the first call of the next turn", () => {
    const { talk, looksOf } = talkOf(100);
    talk.ask("One?");
    expect(looksOf()).toBe(3);
    goOn(talk);
    expect(looksOf()).toBe(0);
    talk.reply("Yes.");
    talk.ask("Two?");
    expect(looksOf()).toBe(0);
  });

  test("once, also when a turn fills one", () => {
    const { talk, looksOf } = talkOf(95);
    talk.ask("One?");
    expect(looksOf()).toBe(2);
    talk.reply("Yes.");
    talk.ask("Two?");
    expect(looksOf()).toBe(0);
    talk.reply("Yes.");
    talk.ask("Three?");
    expect(looksOf()).toBe(0);
  });

  test.each<[string, (talk: Talk) => void]>([
    ["the system message changed", (talk) => void talk.tell({ type: "system.changed", system: "Be long." })],
    ["a message was pinned", (talk) => void talk.tell({ type: "message.pinned", message: "7.0", pinned: true })],
    ["an older turn was continued", (talk) => void talk.tell({ type: "head.moved", to: 70 })],
    ["an older answer was shortened", (talk) => void talk.tell({ type: "answer.truncated", turn: 7, characters: 0 })],
    ["two turns ended", (talk) => void talk.tell({ type: "turn.added", messages: exchange })],
  ])("again when %s", (_, change) => {
    const { talk, looksOf } = talkOf(100);
    talk.ask("One?");
    expect(looksOf()).toBe(3);
    talk.reply("Yes.");
    change(talk);
    talk.ask("Two?");
    expect(looksOf()).toBeGreaterThan(0);
  });
});
