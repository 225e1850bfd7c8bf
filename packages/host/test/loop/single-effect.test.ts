import { describe, expect, test, vi } from "vitest";
import type { AskPart } from "@colloquy/host";
import { performerOf } from "@colloquy/host/perform";
import { ask, at, called, effectOf, handled, optionsOf, subject } from "../performing.ts";
import { held, manualClock, settle } from "../stage.ts";

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

  test("answers at once where nothing has to be told, which `goOn` gives as well", async () => {
    const { performer, state, call } = called(optionsOf([], [subject()]));
    const performing = performer.begin(call, state, show);
    expect(await performing.told).toMatchObject({ type: "tool.completed", content: "ran" });
    expect(await performing.goOn()).toBe(await performing.told);
    expect(performing.shown).toBeUndefined();
  });

  test("that is stopped gives nothing, and does not start when it goes on then", async () => {
    const run = vi.fn<() => string>(() => "ran");
    const { performer, state, call } = called(optionsOf([], [subject({ recovery: "once", run })]));
    const performing = performer.begin(call, state, show);
    await performing.told;
    performing.stop(new Error("closed"));
    expect(await performing.goOn()).toBeNull();
    await settle();
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

  test("is given what the thread's id and metadata say, and has failed where that can't be had", async () => {
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

test("a model call shows what comes, and what was shown is known when it was stopped", async () => {
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
