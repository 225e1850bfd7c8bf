import { playArbitrary, realSubject } from "@colloquy/runtime-test/arbitraries";
import { equalStep } from "@colloquy/runtime-test/laws";
import { describe, expect, test } from "vitest";
import { createActor, transition as xstateTransition } from "xstate";
import { conversationMachine, type Effect, type Event, SeedError, start, transition } from "../../src/index.ts";
import { chunkSize } from "../../src/thread/chunks.ts";
import { runs } from "../runs.ts";
import { throughJson } from "../reading.ts";
import { getShortestPaths, toDirectedGraph } from "xstate/graph";

import fc from "fast-check";

describe("the XState machine", () => {
  test("our step is XState's: values, contexts and effects are equal, and arrows take what is handled", () => {
    fc.assert(
      fc.property(playArbitrary, ({ options, schedule }) => equalStep(xstateTransition, options, schedule)),
      { numRuns: runs(60) },
    );
  });

  test("the law of the equal step catches an event that is handled and that no arrow takes", () => {
    const wrong: typeof transition = (machine, state, event) => {
      const told = transition(machine, state, event);
      if (told.handled || event.type !== "timer.fired") return told;
      return transition(machine, state, {
        type: "message.appended",
        at: event.at,
        message: { role: "user", content: "" },
      });
    };
    const found = fc.check(
      fc.property(playArbitrary, ({ options, schedule }) =>
        equalStep(xstateTransition, options, schedule, { ...realSubject, transition: wrong }),
      ),
      { numRuns: 300, seed: 1, endOnFailure: true },
    );
    expect(found.errorInstance).toHaveProperty("law", "equalStep");
  });

  test("runs as a live actor, which performs the effects that transition describes", () => {
    const performed: Effect[] = [];
    const machine = conversationMachine({ tools: [{ name: "search" }] });
    const live = machine.provide({ actions: { perform: (_, effect) => void performed.push(effect) } });
    const input = { threadId: "t", at: 0, system: "Be brief." };
    const actor = createActor(live, { input }).start();
    let { state } = start(machine, input);
    const effects: Effect[] = [];
    const events: readonly Event[] = [
      { type: "ask.received", at: 1, askId: "a", input: "Go." },
      {
        type: "llm.completed",
        at: 2,
        effectId: "t/1.1#1",
        reply: { toolCalls: [{ id: null, name: "search", arguments: "{}" }] },
        finishReason: null,
      },
      { type: "timer.fired", at: 3, effectId: "nobody's" },
      { type: "tool.completed", at: 4, effectId: "t/1.1.0#1", content: "found" },
      { type: "llm.completed", at: 5, effectId: "t/1.2#1", reply: { content: "Done." }, finishReason: "stop" },
    ];
    for (const event of events) {
      actor.send(event);
      const told = transition(machine, state, event);
      state = told.state;
      effects.push(...told.effects);
    }
    const { value, context } = actor.getSnapshot();
    expect({ value, context }).toEqual(state);
    expect(performed).toEqual(effects);
    actor.stop();
  });

  test("snapshot.can accepts a well-formed event, and rejects malformed ones", () => {
    const snapshot = createActor(conversationMachine(), { input: { threadId: "t", at: 0 } })
      .start()
      .getSnapshot();
    const ask: Event = { type: "ask.received", at: 1, askId: "a", input: "Go." };
    // Cast: a caller in JavaScript may pass anything.
    const given = [ask, { ...ask, from: 7 }, { type: "ask.received" }] as readonly Event[];
    expect(given.map((event) => snapshot.can(event))).toEqual([true, false, false]);
  });

  test("has an arrow for each event, and no other", () => {
    // A missing event type does not compile.
    const events: { readonly [Type in Event["type"]]: true } = {
      "ask.received": true,
      "message.appended": true,
      "round.appended": true,
      "system.changed": true,
      "system.reset": true,
      "llm.completed": true,
      "llm.failed": true,
      "llm.progressed": true,
      "output.accepted": true,
      "output.refused": true,
      "tool.started": true,
      "tool.withheld": true,
      "approval.answered": true,
      "tool.completed": true,
      "tool.failed": true,
      "timer.fired": true,
      "cancel.requested": true,
      "turn.added": true,
      "turn.annotated": true,
      "answer.truncated": true,
      "head.moved": true,
      "checkpoint.named": true,
      "message.pinned": true,
      "metadata.changed": true,
      "thread.forked": true,
      "thread.redacted": true,
      "thread.configured": true,
    };
    expect([...conversationMachine().events].sort()).toEqual(Object.keys(events).sort());
  });

  const damages: readonly (readonly [what: string, damage: (context: Record<string, unknown>) => void])[] = [
    ["no turns", (context) => void delete (context["conversation"] as Record<string, unknown>)["turns"]],
    ["turns that are a list", (context) => void ((context["conversation"] as Record<string, unknown>)["turns"] = [])],
    [
      "more turns than are there",
      (context) => void ((context["conversation"] as Record<string, unknown>)["turns"] = { length: 3, levels: [[]] }),
    ],
    ["a head that is nowhere", (context) => void ((context["conversation"] as Record<string, unknown>)["head"] = 7)],
    [
      "a message without parts",
      (context) =>
        void ((context["conversation"] as Record<string, unknown>)["seed"] = [{ id: "0.0", role: "user", digest: "" }]),
    ],
    ["no open turn, though a call is out", (context) => void (context["open"] = null)],
    [
      "a stage that is none",
      (context) => void ((context["open"] as Record<string, unknown>)["stage"] = { type: "dreaming" }),
    ],
    ["no usage", (context) => void delete context["usage"]],
    ["no queue", (context) => void delete context["queue"]],
    [
      "a turn that is none",
      (context) =>
        void ((context["conversation"] as Record<string, unknown>)["turns"] = { length: 1, levels: [[{ number: 1 }]] }),
    ],
    ["nothing", (context) => Object.keys(context).forEach((name) => delete context[name])],
  ];

  test.each(damages)("a persisted context that has %s is refused when an actor is made of it", (_, damage) => {
    const machine = conversationMachine();
    const input = { threadId: "t", at: 0 };
    const actor = createActor(machine, { input }).start();
    actor.send({ type: "ask.received", at: 1, askId: "a", input: "Go." });
    const persisted = actor.getPersistedSnapshot();
    const restored = createActor(machine, { input, snapshot: throughJson(persisted) }).start();
    expect(restored.getSnapshot()).toMatchObject({ status: "active", value: { awaiting_llm: "responding" } });
    const damaged = throughJson(persisted);
    damage((damaged as unknown as { readonly context: Record<string, unknown> }).context);
    const errors: unknown[] = [];
    const dead = createActor(machine, { input, snapshot: damaged });
    dead.subscribe({ error: (thrown) => void errors.push(thrown) });
    dead.start();
    expect(dead.getSnapshot().status).toBe("error");
    expect(String(errors)).toMatch(/^TypeError: the persisted snapshot is damaged: .+; begin from a whole one/u);
  });

  test.each([
    ["none", { context: { open: null } }, 'its state is {"awaiting_llm":"responding"}, and its open turn is none'],
    ["another", { value: "idle" }, 'its state is "idle", and its open turn is "responding"'],
  ])("a persisted state that does not fit the stage of its open turn is refused with both: %s", (_, damage, reason) => {
    const actor = createActor(machine, { input }).start();
    actor.send({ type: "ask.received", at: 1, askId: "a", input: "Go." });
    const persisted = throughJson(actor.getPersistedSnapshot()) as Persisted & { readonly context: object };
    const context = { ...persisted.context, ...("context" in damage ? damage.context : {}) };
    const snapshot: unknown = { ...persisted, ...damage, context };
    const errors: unknown[] = [];
    // Cast: XState does not type what it persists.
    const dead = createActor(machine, { input, snapshot: snapshot as Persisted });
    dead.subscribe({ error: (thrown) => void errors.push(thrown) });
    dead.start();
    expect(String(errors)).toContain(`the persisted snapshot is damaged: ${reason}; begin`);
  });

  test("a persisted context with chunks of turns is restored, and one with a chunk that is not full is refused", () => {
    const machine = conversationMachine();
    const input = { threadId: "t", at: 0 };
    const actor = createActor(machine, { input }).start();
    for (let at = 1; at <= chunkSize + 1; at++)
      actor.send({ type: "turn.added", at, messages: [{ role: "user", content: "Noted." }] });
    // Cast: XState does not type what it persists.
    const persisted = throughJson(actor.getPersistedSnapshot()) as Persisted & {
      readonly context: { readonly conversation: { readonly turns: { levels: unknown[][][] } } };
    };
    const statusOf = (snapshot: Persisted): string => {
      const restored = createActor(machine, { input, snapshot });
      restored.subscribe({ error: () => {} });
      return restored.start().getSnapshot().status;
    };
    expect(statusOf(persisted)).toBe("active");
    persisted.context.conversation.turns.levels[1]?.[0]?.pop();
    expect(statusOf(persisted)).toBe("error");
  });

  test("an actor with an invalid seed fails with the error that start throws", () => {
    const machine = conversationMachine();
    const seed = [{ role: "tool", toolCallId: "x", content: "" }] as const;
    const errors: unknown[] = [];
    for (const threadId of ["t", ""]) {
      const actor = createActor(machine, { input: { threadId, at: 0, seed } });
      actor.subscribe({ error: (thrown) => void errors.push(thrown) });
      actor.start();
    }
    expect(errors).toEqual([expect.any(SeedError), expect.any(SeedError)]);
  });
});

// XState's graph tools can explore the machine with events and a serializer by value. Every context differs, since it
// counts entries.

const machine = conversationMachine({ tools: [{ name: "search" }] });
const input = { threadId: "t", at: 0 };

const failure = { kind: "bad_request", message: "no", retryable: false } as const;
const answer = { type: "llm.completed", at: 2, effectId: "t/1.1#1", finishReason: null } as const;
const events: readonly Event[] = [
  { type: "ask.received", at: 1, askId: "a", input: "Go." },
  { ...answer, reply: { toolCalls: [{ id: null, name: "search", arguments: "{}" }] } },
  { ...answer, reply: { content: "Done." } },
  { type: "llm.failed", at: 2, effectId: "t/1.1#1", failure },
];

type Persisted = ReturnType<ReturnType<typeof createActor<typeof machine>>["getPersistedSnapshot"]>;

const valueOf = ({ value }: { readonly value: unknown }): string => JSON.stringify(value);

describe("XState's graph tools", () => {
  test("find the five states, given events and a serializer by value", () => {
    const paths = getShortestPaths(machine, { events: [...events], input, serializeState: valueOf });
    const found = paths.map(({ state }) =>
      typeof state.value === "string" ? state.value : Object.keys(state.value)[0],
    );
    expect(new Set(found)).toEqual(new Set(["idle", "awaiting_llm", "awaiting_tool", "completed", "error"]));
  });

  test("draw the machine", () => {
    expect(toDirectedGraph(machine).children.map(({ id }) => id)).toHaveLength(5);
  });

  test("without events find its initial state, and nothing throws, since a type alone is not an event", () => {
    const paths = getShortestPaths(machine, { input, serializeState: valueOf });
    expect(paths.map(({ state }) => state.value)).toEqual(["idle"]);
  });
});
