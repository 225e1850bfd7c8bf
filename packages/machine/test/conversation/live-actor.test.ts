import { playArbitrary, realSubject } from "@colloquy/runtime-test/arbitraries";
import { equalStep } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createActor, transition as xstateTransition } from "xstate";
import { conversationMachine, type Effect, type Event, start, transition } from "../../src/index.ts";
import { runs } from "../runs.ts";

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

  test("has an arrow for each event, and no other", () => {
    // As the types spell them; a name that is missing here does not compile.
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
    expect(String(errors)).toMatch(/^TypeError: the persisted snapshot is damaged: .+; begin from one that is whole/u);
  });
});

const throughJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
