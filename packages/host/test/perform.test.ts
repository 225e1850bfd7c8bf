import type { Hooks, AskPart } from "@colloquy/host";
import { performerOf, type PerformerOptions } from "@colloquy/host/perform";
import { ConfigurationError, type Entry, type Event, type ThreadStarted } from "@colloquy/machine";
import type { Counter } from "@colloquy/machine/policies";
import { describe, expect, test, vi } from "vitest";
import { Engine } from "./performing-engine.ts";
import { ask, at, handled, optionsOf, called, effectOf, subject } from "./performing.ts";
import { calls, echo, entriesOf, says, settle, stage, held, manualClock } from "./stage.ts";
import { summarising } from "./summarising.ts";

const typesOf = (entries: readonly Entry[]): readonly string[] => entries.map(({ event }) => event.type);

describe("a performer is made from options", () => {
  const options = optionsOf([]);
  /** Passes options of a caller without types. */
  const untyped = (given: unknown) => () => performerOf(given as PerformerOptions);

  test.each([
    [{ ...options, store: {} }, /^performerOf has no option "store"; there are machine, llm, clock, tools, thread/],
    [{ machine: options.machine, clock: options.clock }, /^performerOf needs the option "llm", and it is missing$/],
    [
      { ...options, machine: {} },
      /^performerOf: machine must be a conversation machine, which conversationMachine\(\) makes \(got an object\)/,
    ],
    [
      { ...options, llm: "gpt" },
      /^performerOf: llm must be a function such as openaiChat\(\{ model \}\) \(got a text\)/,
    ],
    [{ ...options, clock: {} }, /^performerOf: clock must be a clock with now and wakeAt \(got an object\)/],
    [{ ...options, hooks: { beforeTurns: null } }, /^performerOf: hooks has no option "beforeTurns"/],
    [{ ...options, tools: [echo] }, /the host has the tool "echo", and the machine does not declare it/],
  ])("that are checked as those of a host: %#", (given, words) => {
    expect(untyped(given)).toThrow(ConfigurationError);
    expect(untyped(given)).toThrow(words);
  });
});

describe("an event that is decided", () => {
  const performer = performerOf({ ...optionsOf([]), thread: { system: "Be kind." } });
  const decide: typeof performer.decide = (...given) => performer.decide(...given);
  const begun = handled(decide("t", null, ask, { at }));

  test("starts the thread by the options if it makes one; an ask that was long on its way counts as new", () => {
    expect(begun.entries).toMatchObject([
      { seq: 0, event: { type: "thread.started", threadId: "t", system: "Be kind.", at } },
      { seq: 1, event: { ...ask, at } },
    ]);
    expect(begun.steps.map(({ before }) => before)).toEqual([null, begun.steps[0]?.after]);
    expect(begun.state).toBe(begun.steps[1]?.after);
    expect(handled(decide("t", null, { ...ask, at: at + 1 }, { at })).entries[1]?.event.at).toBe(at + 1);
    const started: ThreadStarted = { type: "thread.started", threadId: "t", at, system: "Be brief." };
    expect(handled(decide("t", null, started, { at })).entries).toMatchObject([{ event: started }]);
  });

  test.each([
    ["unknown", { type: "cancel.requested", at }],
    ["unknown", { ...ask, from: 3 }],
    ["invalid", { ...ask, askId: "" }],
    ["invalid", { type: "thread.started", threadId: "t", at, seed: [{ role: "tool", callId: "x", content: "" }] }],
  ] as const)("is refused as %s if it cannot start a thread, and none exists then", (kind, event) => {
    // Some of the events are invalid on purpose.
    const decision = decide("t", null, event as Event, { at });
    expect(decision).toMatchObject({ type: "refused", refusal: { kind } });
  });

  test("does not begin a thread that is there", () => {
    const again = decide("t", begun.state, { type: "thread.started", threadId: "t", at }, { at });
    expect(again).toMatchObject({ refusal: { kind: "stale", reason: expect.stringMatching(/exists already/) } });
  });

  test("has the thread configured before it where the machine is another", () => {
    const other = performerOf(optionsOf([], [], { limits: { steps: 3 } }));
    const tools = [{ name: "look", description: "", parameters: {} }];
    const decision = handled(other.decide("t", begun.state, { ...ask, askId: "b", overlap: "queue", tools }, { at }));
    expect(typesOf(decision.entries)).toEqual(["thread.configured", "ask.received"]);
    expect(decision.entries.map(({ seq }) => seq)).toEqual([2, 3]);
    // A refused ask does not do that.
    expect(other.decide("t", begun.state, ask, { at }).type).toBe("refused");
  });

  test("that cuts off a reply reports it until the shown part is known", () => {
    const cancel = { type: "cancel.requested", at } as const;
    expect(decide("t", begun.state, cancel, { at })).toEqual({ type: "cutsOff", effectId: "t/1.1#1" });
    const partial = { content: "Hel" };
    expect(
      handled(decide("t", begun.state, cancel, { at, shown: { effectId: "t/1.1#1", reply: partial } })).entries,
    ).toMatchObject([{ event: { ...cancel, partial } }]);
    const nothing = { effectId: "t/1.1#1", reply: null };
    expect(handled(decide("t", begun.state, cancel, { at, shown: nothing })).entries[0]?.event).toEqual(cancel);
    const ofAnother = { effectId: "t/1.0#1", reply: partial };
    expect(decide("t", begun.state, cancel, { at, shown: ofAnother })).toMatchObject({ type: "cutsOff" });
    expect(decide("t", begun.state, { ...cancel, askId: "another" }, { at }).type).toBe("refused");
    expect(decide("t", begun.state, { ...cancel, partial }, { at }).type).toBe("handled");
  });
});

test("hooks and observers are called as by a host, and an output is shown and checked", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const noted = () => {
    const seen: string[] = [];
    const hook = (name: string) => () => void seen.push(name);
    const names = ["beforeTurn", "afterTurn", "beforeStep", "afterStep", "beforeToolCall", "afterToolCall"];
    // One hook for each name.
    const hooks = Object.fromEntries(names.map((name) => [name, hook(name)])) as Hooks;
    const observer = {
      entry: ({ event }: Entry) => void seen.push(event.type),
      signal: ({ type }: { readonly type: string }) => void seen.push(`signal ${type}`),
    };
    return { seen, hooks, observers: [observer] };
  };
  const script = [calls(["echo", { text: "a" }]), says('{"n":"one"}'), says('{"n":1}')];
  const { seen: expected, ...ofHost } = noted();
  const on = stage({ script, tools: [echo], ...ofHost });
  await on.host.ask("Hi.", { askId: "a", output: { schema: { jsonSchema: schema }, name: "number" } });
  const { seen, ...ofEngine } = noted();
  const engine = new Engine({ ...optionsOf(script, [echo]), ...ofEngine });
  // The event of the ask as the host made it, with an output and an id.
  const asked = (await entriesOf(on.store)).find(({ event }) => event.type === "ask.received");
  if (asked?.event.type !== "ask.received") throw new Error("it was not asked");
  engine.send(asked.event);
  await settle();
  expect(engine.journal).toEqual(await entriesOf(on.store));
  expect(seen).toEqual(expected);
  expect(engine.parts.map(({ part }) => part).filter(({ type }) => type === "output.partial")).toMatchObject([
    { attempt: 1, value: { n: "one" } },
    { attempt: 2, value: { n: 1 } },
  ]);
  expect(engine.performing).toEqual([]);
});

test("a summary is written, of which asks are shown nothing but the signals", async () => {
  const script = [says("Hello."), says("They said hello.")];
  const machine = { policy: summarising };
  const on = stage({ script, machine });
  await on.host.ask("Hi.", { askId: "a" });
  await settle();
  const engine = new Engine(optionsOf(script, [], machine));
  engine.send({ ...ask, at: on.clock.now() });
  await settle();
  expect(engine.journal).toEqual(await entriesOf(on.store));
  expect(typesOf(engine.journal).slice(2)).toEqual(["llm.completed", "llm.completed"]);
  expect(engine.parts.filter(({ part }) => part.type === "text.delta")).toHaveLength(1);
});

test("a warning about a prompt is shown in its turn, even if the prompt does not fit and ends that turn at once", async () => {
  const counter: Counter = {
    name: "characters",
    version: 1,
    options: {},
    countPart: (part) => (part.type === "text" ? part.text.length : 0),
    perMessage: 0,
    perPrompt: 0,
  };
  const engine = new Engine(optionsOf([], [], { counter, budget: { tokens: 100, reserve: 20 } }));
  engine.send({ ...ask, input: "word ".repeat(20) });
  await settle();
  const shown = engine.parts.map(({ turn, part }) => [turn, part.type === "signal" ? part.signal.type : part.type]);
  expect(shown).toEqual([
    [1, "turn.started"],
    [1, "context.warning"],
    [1, "context.unfit"],
    [1, "turn.ended"],
  ]);
});

const show = (): void => {};

describe("a tool call", () => {
  test("that may run only once says that it starts, and runs when that is journalled", async () => {
    const run = vi.fn<() => string>(() => "ran");
    const { performer, state, call } = called(optionsOf([], [subject({ recovery: "once", run })]));
    const performing = performer.begin(call, state, show);
    expect(await performing.told).toMatchObject({ type: "tool.started", effectId: call.id });
    await settle();
    expect(run).not.toHaveBeenCalled();
    expect(await performing.goOn()).toMatchObject({ type: "tool.completed", content: "ran" });
    expect(await performing.goOn()).toMatchObject({ type: "tool.completed" });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test("answers at once if no event is needed, and `goOn` returns the same", async () => {
    const { performer, state, call } = called(optionsOf([], [subject()]));
    const performing = performer.begin(call, state, show);
    expect(await performing.told).toMatchObject({ type: "tool.completed", content: "ran" });
    expect(await performing.goOn()).toBe(await performing.told);
    expect(performing.shown).toBeUndefined();
  });

  test("that is stopped returns nothing, and does not start if it is continued then", async () => {
    const run = vi.fn<() => string>(() => "ran");
    const { performer, state, call } = called(optionsOf([], [subject({ recovery: "once", run })]));
    const performing = performer.begin(call, state, show);
    await performing.told;
    performing.stop(new Error("closed"));
    expect(await performing.goOn()).toBeNull();
    await settle();
    expect(run).not.toHaveBeenCalled();
  });

  test("that may run only once answers nothing and does not run if its turn is over when it is begun", async () => {
    const run = vi.fn<() => string>(() => "ran");
    const { performer, state, call } = called(optionsOf([], [subject({ recovery: "once", run })]));
    const cancelled = handled(performer.decide("t", state, { type: "cancel.requested", at }, { at }));
    const performing = performer.begin(call, cancelled.state, show);
    expect(await Promise.race([performing.told, settle()])).toBeNull();
    expect(await performing.goOn()).toBeNull();
    expect(run).not.toHaveBeenCalled();
  });

  test("whose time is over before it went on has failed", async () => {
    const options = { ...optionsOf([], [subject({ recovery: "once", timeoutMs: 100 })]), clock: manualClock() };
    const { performer, state, call } = called(options);
    const performing = performer.begin(call, state, show);
    await performing.told;
    await options.clock.advance(100);
    expect(await performing.goOn()).toMatchObject({ type: "tool.failed", outcome: "failed" });
  });

  test("gets its context by the thread's id and metadata, and fails without it", async () => {
    const options = optionsOf([], [subject({ run: (_, { toolContext }) => toolContext })]);
    const given = { ...options, thread: { metadata: { of: "ada" } } };
    const first = called({ ...given, toolContext: (threadId, { of = null }) => ({ threadId, of }) });
    const { told } = first.performer.begin(first.call, first.state, show);
    expect(await told).toMatchObject({ content: '{"threadId":"t","of":"ada"}' });
    const failing = (): never => {
      throw new Error("nobody knows");
    };
    const second = called({ ...given, toolContext: failing });
    const failed = await second.performer.begin(second.call, second.state, show).told;
    expect(failed).toMatchObject({ type: "tool.failed", content: "nobody knows" });
  });

  test("that the caller answers is not begun", async () => {
    const { performer, state, call } = called(optionsOf([], [subject()]));
    expect(await performer.begin({ ...call, by: "caller" }, state, show).told).toBeNull();
  });

  test.each([
    [{ recovery: "rerun" }, {}, "rerun", null],
    [{}, {}, "claimed", "interrupted"],
    [{ recovery: "once" }, {}, "told", null],
    [{ recovery: "once" }, { started: true }, "claimed", "unknown"],
    [{ recovery: "ask" }, {}, "told", null],
    [{ recovery: "ask" }, { started: true }, "claimed", "tool.withheld"],
    [{ approval: "always" }, {}, "rerun", null],
    [{}, { by: "caller" }, "rerun", null],
    [{}, { name: "gone" }, "rerun", "interrupted"],
  ] as const)("of %j, %j is repeated as %s; lost: %s", async (definition, more, repetition, lost) => {
    const { performer, state, call } = called(optionsOf([], [subject(definition)]));
    expect(performer.repetitionOf({ ...call, ...more })).toBe(repetition);
    const event = await performer.lost({ ...call, ...more }, state);
    expect(event && (event.type === "tool.failed" ? event.outcome : event.type)).toBe(lost);
  });
});

test("a model call shows its pieces, and its shown part is known when it is stopped", async () => {
  const { step, show: write, signal } = held();
  const performer = performerOf(optionsOf([step]));
  const decision = handled(performer.decide("t", null, ask, { at }));
  const parts: unknown[] = [];
  const shown = (turn: number, { type }: AskPart) => void parts.push([turn, type]);
  const performing = performer.begin(effectOf(decision, "callLlm"), decision.state, shown);
  await settle();
  expect(performing.shown).toBeUndefined();
  write("Hel");
  const reason = new Error("the worker ends");
  performing.stop(reason);
  write("lo");
  expect(signal()?.reason).toBe(reason);
  expect(await performing.told).toBeNull();
  expect(await performing.goOn()).toBeNull();
  expect(performing.shown).toEqual({ content: "Hel" });
  expect(parts).toEqual([[1, "text.delta"]]);
});
