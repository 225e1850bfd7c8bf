import {
  conversationMachine,
  type Event,
  type MachineOptions,
  messagesOf,
  outstanding,
  promptOf,
  start,
  type State,
  transition,
} from "@colloquy/machine";
import { explain } from "@colloquy/machine/inspect";
import { fold, forkOf } from "@colloquy/machine/journal";
import { keepAll, lastTurns, type Policy } from "@colloquy/machine/policies";
import { readSnapshot, StoredChunks, takeSnapshot } from "@colloquy/machine/storage";
import { playArbitrary, runSchedule } from "@colloquy/runtime-test/arbitraries";
import { unfrozenIn } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { createActor } from "xstate";
import { runs } from "../runs.ts";

const asked = (input: unknown = "What now?", more: object = {}): Event =>
  // The tests change the input afterwards.
  ({ type: "ask.received", at: 1, askId: "a", input, ...more }) as Event;

const told = (options: MachineOptions, ...events: readonly Event[]) => {
  const machine = conversationMachine(options);
  let { state } = start(machine, { threadId: "t", at: 0, system: "Be kind." });
  for (const event of events) {
    const step = transition(machine, state, event);
    if (!step.handled) throw new Error(step.refusal.reason);
    ({ state } = step);
  }
  return { machine, state };
};

const reply: Event = {
  type: "llm.completed",
  at: 2,
  effectId: "t/1.1#1",
  reply: { content: "This.", toolCalls: [{ id: "c", name: "search", arguments: "{}" }] },
  finishReason: "tool_calls",
  usage: { inputTokens: 3, outputTokens: 4 },
};
const result: Event = {
  type: "tool.completed",
  at: 3,
  effectId: "t/1.1.0#1",
  content: [{ type: "text", text: "Found." }],
};
const answer: Event = {
  type: "llm.completed",
  at: 4,
  effectId: "t/1.2#1",
  reply: { content: [{ type: "text", text: "That." }] },
  finishReason: "stop",
};
const tools = [{ name: "search" }];

describe("all values from the machine are deeply frozen", () => {
  test("states, effects and entries, at each step", () => {
    const machine = conversationMachine({ tools });
    const begun = start(machine, { threadId: "t", at: 0, seed: [{ role: "user", content: "Before." }] });
    expect(unfrozenIn(begun)).toBeNull();
    let state: State = begun.state;
    for (const event of [asked(), reply, result, answer]) {
      const step = transition(machine, state, event);
      expect(step.handled).toBe(true);
      expect(unfrozenIn(step)).toBeNull();
      ({ state } = step);
      expect(unfrozenIn(outstanding(state))).toBeNull();
      for (const each of promptOf(machine, state).messages) expect(unfrozenIn(each)).toBeNull();
    }
    for (const { messages } of explain(machine, state).units)
      for (const each of messages) expect(unfrozenIn(each)).toBeNull();
  });

  test("states, after each edit", () => {
    const options = { tools, policy: lastTurns(1), model: { stop: ["."] } };
    const machine = conversationMachine({ ...options, budget: { tokens: 1_000, reserve: 10 } });
    const { configuration } = start(machine, { threadId: "t", at: 0 }).state.context;
    const edits: readonly Event[] = [
      asked("What now?", { metadata: { who: ["me"] }, model: { stop: ["!"] }, limits: { steps: 3 } }),
      reply,
      result,
      answer,
      { type: "system.changed", at: 5, system: { role: "developer", content: "Be brief.", provider: { of: ["it"] } } },
      { type: "system.reset", at: 5 },
      { type: "metadata.changed", at: 5, metadata: { of: ["it"] } },
      { type: "message.pinned", at: 5, message: "1.0", pinned: true },
      { type: "answer.truncated", at: 5, turn: 1, characters: 2 },
      { type: "turn.annotated", at: 5, turn: 1, name: "rated", value: { stars: [5] } },
      { type: "message.appended", at: 5, message: { role: "user", content: "By the way." } },
      { type: "turn.added", at: 5, messages: [{ role: "user", content: "Noted." }], metadata: { of: ["it"] } },
      { type: "answer.truncated", at: 5, turn: 1, characters: 1 },
      { type: "thread.configured", at: 5, configuration, model: { stop: ["?"] } },
      { type: "checkpoint.named", at: 5, name: "here" },
      { type: "head.moved", at: 5, to: 1 },
      { type: "thread.forked", at: 5, from: { threadId: "s", turn: 1 } },
      asked([{ role: "user", content: "And now?" }], { askId: "b", metadata: { of: ["it"] } }),
    ];
    let { state } = start(machine, {
      threadId: "t",
      at: 0,
      system: "Be kind.",
      seed: [{ role: "user", content: "?" }],
    });
    for (const event of edits) {
      const step = transition(machine, state, event);
      expect(step.handled || step.refusal.reason).toBe(true);
      expect(unfrozenIn(step)).toBeNull();
      ({ state } = step);
    }
  });

  test("whatever happens", () => {
    fc.assert(
      fc.property(playArbitrary, ({ options, schedule }) => {
        const { steps } = runSchedule(conversationMachine(options), schedule);
        for (const { transition: step } of steps) expect(unfrozenIn(step)).toBeNull();
      }),
      { numRuns: runs(40) },
    );
  });

  test("a folded state, one that was read from a snapshot, and the journal of a copy", () => {
    const { machine } = told({ tools });
    const entries = [
      start(machine, { threadId: "t", at: 0 }).entry,
      ...entriesOf(machine, [asked(), reply, result, answer]),
    ];
    const plain = JSON.parse(JSON.stringify(entries)) as typeof entries;
    const folded = fold(plain);
    if (Either.isLeft(folded)) throw new Error(folded.left.reason);
    expect(unfrozenIn(folded.right)).toBeNull();
    expect(Object.isFrozen(plain[1]?.event)).toBe(false);
    const newest = entries.at(-1);
    if (newest === undefined) throw new Error("no entry");
    const { head, chunks } = takeSnapshot(folded.right, newest, new StoredChunks());
    const read = readSnapshot(head, (id) => chunks.get(id));
    expect(Either.isRight(read) ? unfrozenIn(read.right.state) : read.left).toBeNull();
    const copy = forkOf(plain, { threadId: "u", at: 9 });
    expect(Either.isRight(copy) ? unfrozenIn(copy.right.entries) : copy.left).toBeNull();
    expect(Object.isFrozen(plain[1]?.event)).toBe(false);
  });

  test("the snapshots of a live actor, provided with its effects or restored", () => {
    const machine = conversationMachine().provide({ actions: { perform: () => {} } });
    const actor = createActor(machine, { input: { threadId: "t", at: 0 } }).start();
    expect(() => Object.assign(actor.getSnapshot(), { context: null })).toThrow(TypeError);
    actor.send(asked());
    const { context, value } = actor.getSnapshot();
    expect(unfrozenIn(context)).toBeNull();
    expect(() => Object.assign(value, { awaiting_llm: "compacting" })).toThrow(TypeError);
    // The persisted value belongs to the caller: writing into it must not change the restored actor.
    const persisted = JSON.parse(JSON.stringify(actor.getPersistedSnapshot())) as ReturnType<
      typeof actor.getPersistedSnapshot
    >;
    const restored = createActor(machine, { snapshot: persisted, input: { threadId: "t", at: 0 } }).start();
    const before = JSON.stringify(restored.getSnapshot().context);
    const own = persisted as unknown as { readonly context: { open: { messages: { levels: unknown[] } } } };
    own.context.open.messages.levels.length = 0;
    expect(JSON.stringify(restored.getSnapshot().context)).toBe(before);
    expect(unfrozenIn(restored.getSnapshot().context)).toBeNull();
  });
});

describe("input values stay their owner's", () => {
  test("an event, with all that it holds, is copied", () => {
    const part = { type: "text", text: "As it was." };
    const given = { metadata: { who: ["me"] }, model: { stop: ["."] }, limits: { steps: 3 } };
    const event = asked([part], given);
    const { state } = told({}, event);
    const before = JSON.stringify(state);
    part.text = "Changed.";
    given.metadata.who.push("you");
    given.model.stop.length = 0;
    given.limits.steps = 0;
    expect(JSON.stringify(state)).toBe(before);
    expect(Object.isFrozen(event)).toBe(false);
  });

  test("also one that is frozen at its surface alone, or that has getters", () => {
    const parts = [{ type: "text", text: "As it was." }];
    const { state } = told({}, Object.freeze(asked(Object.freeze(parts))));
    let word = "once";
    const { state: other } = told(
      {},
      asked([
        {
          type: "text",
          get text() {
            return word;
          },
        },
      ]),
    );
    for (const part of parts) part.text = "Changed.";
    word = "twice";
    expect(messagesOf(state)[0]?.parts).toEqual([{ type: "text", text: "As it was." }]);
    expect(messagesOf(other)[0]?.parts).toEqual([{ type: "text", text: "once" }]);
  });

  test.each<readonly [string, (state: State) => State]>([
    ["was read from JSON", (own) => own],
    [
      "is frozen at its surface alone",
      ({ value, context }) => Object.freeze({ value, context: Object.freeze(context) }),
    ],
  ])("a state that %s is neither written to nor lived in", (_, held) => {
    const { machine, state } = told({ tools }, asked(), reply);
    const own = held(JSON.parse(JSON.stringify(state)) as State);
    const step = transition(machine, own, result);
    const before = JSON.stringify(step);
    expect(JSON.stringify(own)).toBe(JSON.stringify(state));
    expect(Object.isFrozen(own.context.conversation)).toBe(false);
    Object.assign(own.context.conversation, { head: 9 });
    Object.assign(own.context.conversation.system ?? {}, { role: "user" });
    expect(JSON.stringify(step)).toBe(before);
  });

  test("the options of a machine are copied, and its policy is the one that was given", () => {
    const options = {
      tools: [{ name: "search" }],
      model: { stop: ["."] },
      limits: { steps: 2 },
      policy: { ...keepAll() },
    };
    const machine = conversationMachine(options);
    const { state } = start(machine, { threadId: "t", at: 0 });
    options.tools.length = 0;
    options.model.stop.length = 0;
    options.limits.steps = 0;
    options.policy.decide = lastTurns(1).decide;
    const step = transition(machine, state, asked());
    expect(step).toMatchObject({ handled: true, effects: [{}, { type: "callLlm", model: { stop: ["."] } }] });
    if (!step.handled) return;
    expect(transition(machine, step.state, reply)).toMatchObject({
      effects: [{ type: "publish", signal: { type: "model.replied" } }, { type: "callTool" }],
    });
  });
});

describe("a policy that writes into its input", () => {
  const writing = (write: (policy: Parameters<Policy["decide"]>[0]) => void): Policy => ({
    name: "writing",
    version: 1,
    options: {},
    monotone: false,
    stable: false,
    decide: (input) => {
      write(input);
      return { from: null, reason: "all is kept" };
    },
  });

  test("fails, and everything is shown unchanged", () => {
    const policy = writing(({ history }) => {
      for (const turn of history.newestFirst())
        for (const { messages } of turn.units()) for (const { parts } of messages) (parts as unknown[]).splice(0, 1);
    });
    const { state } = told({ tools }, asked(), reply, result, answer);
    const { messages, failed } = promptOf(conversationMachine({ tools, policy }), state);
    expect(failed).toContain('policy "writing@1" threw');
    expect(messages).toEqual(promptOf(conversationMachine({ tools }), state).messages);
  });

  test("can't exchange the functions of the machine's counter", () => {
    const counter = { name: "ones", version: 1, options: {}, perMessage: 0, perPrompt: 0, countPart: () => 1 };
    const policy = writing((input) => void Object.assign(input.counter, { countPart: () => 1_000 }));
    const { state } = told({}, asked());
    const prompt = promptOf(conversationMachine({ policy, counter, budget: { tokens: 9, reserve: 0 } }), state);
    expect(prompt).toMatchObject({ tokens: 2, fits: true });
    expect(counter.countPart()).toBe(1);
  });
});

const entriesOf = (machine: ReturnType<typeof conversationMachine>, events: readonly Event[]) => {
  let { state } = start(machine, { threadId: "t", at: 0 });
  return events.map((event) => {
    const step = transition(machine, state, event);
    if (!step.handled) throw new Error(step.refusal.reason);
    ({ state } = step);
    return step.entry;
  });
};
