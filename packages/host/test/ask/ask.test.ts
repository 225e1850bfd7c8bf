import { usedNothing } from "@colloquy/machine";
import { type LlmOutcome, TurnFailedError, TurnCancelledError } from "@colloquy/host";
import { describe, expect, test, vi } from "vitest";
import {
  calls,
  echo,
  entriesOf,
  errorOf,
  held,
  journalOf,
  partsOf,
  plain,
  says,
  type ScriptedStep,
  settle,
  stage,
} from "../stage.ts";

describe("an ask", () => {
  test("rejects with the model's failure and the shown part", async () => {
    const failure = { kind: "auth", message: "no key", retryable: false } as const;
    const { host, another } = stage({
      script: [
        async (_, { onDelta }) => {
          onDelta({ type: "text", text: "I th" });
          onDelta({ type: "text", text: "ink" });
          return { type: "failed", failure };
        },
      ],
    });
    const error = await errorOf(host.ask("hi"));
    expect(error).toBeInstanceOf(TurnFailedError);
    expect(error).toMatchObject({ failure, summary: { turn: 1, text: "I think" } });
    const next = another({ script: [says("fine")] });
    await host.close();
    expect((await next.host.ask("again")).text).toBe("fine");
  });

  test("fails when the handler throws, or returns nothing or an invalid outcome", async () => {
    // Handlers in JavaScript may return anything.
    const nothing = undefined as unknown as ReturnType<typeof says>;
    const wrong = { type: "completed", reply: { content: 3 }, finishReason: null } as unknown as ReturnType<
      typeof says
    >;
    const { host } = stage({
      script: [
        () => Promise.reject(new Error("boom")),
        // oxlint-disable-next-line typescript/only-throw-error -- handlers in JavaScript do
        () => Promise.reject({ code: 7 }),
        async () => nothing,
        wrong,
      ],
    });
    const message = async (): Promise<string> => String(await errorOf(host.ask("hi")));
    // The thrown value may hold a key, so onObserverError gets it, and not the journal.
    expect(await message()).toContain("the llm handler threw; onObserverError was given the error");
    expect(await message()).toContain("the llm handler threw; onObserverError was given the error");
    expect(await message()).toContain("can't be used");
    expect(await message()).toContain("reply.content");
  });

  test("fails if describeThrown returns a promise, whose rejection is reported", async () => {
    const reported: unknown[] = [];
    // Functions in JavaScript may return anything.
    const describeThrown = (() => Promise.reject(new Error("no words"))) as unknown as () => string;
    const { host } = stage({
      script: [() => Promise.reject(new Error("boom"))],
      describeThrown,
      onObserverError: (error, where) => reported.push([String(error), where]),
    });
    expect(String(await errorOf(host.ask("hi")))).toContain("the llm handler threw; onObserverError was given");
    await settle();
    expect(reported).toEqual([
      ["Error: boom", "llm"],
      ["Error: no words", "describeThrown"],
    ]);
  });

  test("waits for the retry of a failed call, on the clock", async () => {
    const failure = { kind: "overloaded", message: "busy", retryable: true } as const;
    const { host, clock, model } = stage({ script: [{ type: "failed", failure }, says("done")] });
    const handle = host.ask("hi");
    await clock.advance(100);
    expect(model.calls).toHaveLength(1);
    await clock.advance(1_000);
    expect((await handle).text).toBe("done");
    expect((await partsOf(handle)).map(({ type }) => type)).toContain("signal");
  });

  const refusing = (more: object = {}, of: object = {}): LlmOutcome => ({
    type: "failed",
    failure: { kind: "rate_limit", message: "later", retryable: false, ...of },
    ...more,
  });
  const counted = { inputTokens: 3, outputTokens: 2 };

  test.each<[string, LlmOutcome, string, object | null]>([
    ["a refusal before any work used nothing", refusing(), "", usedNothing],
    ["a refusal by an overloaded server used nothing", refusing({}, { kind: "overloaded" }), "", usedNothing],
    ["another failure may have used anything", refusing({}, { kind: "network" }), "", null],
    ["a refusal amid a reply may have used anything", refusing({ partial: { content: "so" } }), "", null],
    ["a refusal after a shown text may have used anything", refusing(), "so", null],
    ["a refusal that reports usage used that", refusing({ usage: counted }), "", counted],
    ["a total is not repeated", { ...says("ok"), usage: { ...counted, totalTokens: 5 } }, "", counted],
    [
      "a total that is not the sum is kept",
      { ...says("ok"), usage: { ...counted, totalTokens: 6 } },
      "",
      { totalTokens: 6 },
    ],
    ["a total alone is kept", { ...says("ok"), usage: { totalTokens: 6 } }, "", { totalTokens: 6 }],
  ])("has the usage of its model call in the journal: %s", async (_, outcome, shown, usage) => {
    const step: ScriptedStep = async (_call, { onDelta }) => {
      if (shown !== "") onDelta({ type: "text", text: shown });
      return outcome;
    };
    const { host, store } = stage({ script: [step] });
    await host.ask("hi").catch(() => {});
    const { event } = (await entriesOf(store)).at(-1) ?? {};
    expect({ usage: null, ...event }).toMatchObject({ usage });
    expect("totalTokens" in Object(Reflect.get(Object(event), "usage"))).toBe("totalTokens" in Object(usage));
  });

  test("ends at its deadline with the shown part", async () => {
    const model = held();
    const { host, clock } = stage({ script: [model.step] });
    const handle = host.ask("hi", { limits: { deadlineMs: 1_000 } });
    const ended = errorOf(handle);
    await settle();
    model.show("half a");
    await clock.advance(1_000);
    expect(await ended).toMatchObject({ name: "LimitReachedError", summary: { text: "half a" } });
    expect(model.signal()?.aborted).toBe(true);
  });

  test("withdrawn from the queue never opens a turn", async () => {
    const model = held();
    const { host, clock, store } = stage({ machine: { overlap: { type: "queue", max: 1 } }, script: [model.step] });
    const first = host.ask("one");
    const second = host.ask("two", { askId: "b" });
    await settle();
    second.abort("changed my mind");
    expect(await errorOf(second)).toMatchObject({
      name: "TurnCancelledError",
      reason: "changed my mind",
      summary: { turn: null },
    });
    model.show("fi");
    model.answer(says("first"));
    expect((await first).text).toBe("first");
    await clock.advance(0);
    expect(await journalOf(store)).not.toContain("timer.fired");
    // A repeated ask with this id is still withdrawn.
    expect(await errorOf(host.ask("two", { askId: "b" }))).toMatchObject({ name: "TurnCancelledError" });
  });

  test("that is never awaited rejects nothing, and still can be awaited later", async () => {
    const { host } = stage({ script: [() => Promise.reject(new Error("boom"))] });
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    const handle = host.ask("hi");
    await settle();
    await settle();
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
    expect(await errorOf(handle)).toBeInstanceOf(TurnFailedError);
    expect(await handle.catch(() => "caught")).toBe("caught");
  });
});

describe("aborting an ask", () => {
  test("keeps the shown part, stops the model, and leaves the thread usable", async () => {
    const model = held();
    const { host, store } = stage({ script: [model.step, says("fine")] });
    const handle = host.ask("hi");
    await settle();
    model.show("half a sen");
    handle.abort("enough");
    expect(await errorOf(handle)).toMatchObject({
      name: "TurnCancelledError",
      reason: "enough",
      summary: { turn: 1, text: "half a sen" },
    });
    expect(model.signal()?.aborted).toBe(true);
    model.show("tence");
    model.answer(says("too late"));
    expect((await host.ask("again")).text).toBe("fine");
    expect((await entriesOf(store))[2]).toMatchObject({
      event: { type: "cancel.requested", partial: { content: "half a sen" } },
    });
    expect(await journalOf(store)).toEqual([
      "thread.started",
      "ask.received",
      "cancel.requested",
      "ask.received",
      "llm.completed",
    ]);
  });

  test("by a signal names its reason, and releases the signal afterwards", async () => {
    const model = held();
    const { host } = stage({ script: [says("done"), model.step] });
    const controller = new AbortController();
    const { signal } = controller;
    const add = vi.spyOn(signal, "addEventListener");
    const remove = vi.spyOn(signal, "removeEventListener");
    const listeners = (): number => add.mock.calls.length - remove.mock.calls.length;
    await host.ask("one", { signal });
    expect(listeners()).toBe(0);
    const handle = host.ask("two", { signal });
    await settle();
    expect(listeners()).toBe(1);
    const reason = new Error("the window was closed");
    controller.abort(reason);
    const error = await errorOf(handle);
    expect(error).toBeInstanceOf(TurnCancelledError);
    expect(error).toMatchObject({ reason: "the window was closed", cause: reason });
    expect(listeners()).toBe(0);
  });

  test("before it was looked at journals nothing", async () => {
    const { host, store } = stage();
    const aborted = host.ask("hi", { signal: AbortSignal.abort(new Error("before")) });
    expect(await errorOf(aborted)).toMatchObject({ reason: "before", summary: { turn: null } });
    const controller = new AbortController();
    const opening = host.ask("hi", { signal: controller.signal });
    controller.abort();
    expect(await errorOf(opening)).toBeInstanceOf(TurnCancelledError);
    await settle();
    expect((await store.list()).threads).toEqual([]);
  });

  test("while tools run stops them, and gives them results", async () => {
    const signals: AbortSignal[] = [];
    const slow = plain("slow", (_, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    const { host } = stage({ tools: [slow, echo], script: [calls(["slow", {}], ["echo", { text: "a" }])] });
    const handle = host.ask("hi");
    await settle();
    handle.abort();
    await errorOf(handle);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    const results = (await partsOf(handle)).flatMap((part) =>
      part.type === "toolResult" ? [`${part.name} ${part.outcome}`] : [],
    );
    expect(results).toEqual(["echo completed", "slow interrupted"]);
  });

  test("reports nothing to onObserverError when the handler rejects because it was stopped", async () => {
    const reported: unknown[] = [];
    const { host } = stage({
      script: [
        (_, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
      ],
      onObserverError: (error, where) => reported.push([String(error), where]),
    });
    const handle = host.ask("hi");
    await settle();
    handle.abort("enough");
    expect(await errorOf(handle)).toMatchObject({ name: "TurnCancelledError", reason: "enough" });
    await settle();
    expect(reported).toEqual([]);
  });

  test.each<readonly [string, (abort: () => void, signal: AbortSignal) => void]>([
    ["before the host knows", (abort) => abort()],
    ["when its model call is stopped", (abort, signal) => signal.addEventListener("abort", abort)],
    ["right after that", (abort, signal) => signal.addEventListener("abort", () => queueMicrotask(abort))],
  ])("cancels its turn also if the lease was lost, %s", async (_, abortWhen) => {
    const model = held();
    const { host, store, clock } = stage({ script: [model.step, held().step] });
    const handle = host.ask("hi");
    await settle();
    const lease = { threadId: "default", owner: "owner-1", token: 1 };
    await store.release(lease);
    const other = await store.acquire("default", "other", 1_000_000);
    const signal = model.signal();
    if (other === null || signal === undefined) throw new Error("no lease, or no call");
    abortWhen(() => handle.abort("enough"), signal);
    await clock.advance(12_000);
    await store.release(other);
    await clock.advance(1_000);
    expect(await errorOf(handle)).toMatchObject({ name: "TurnCancelledError", reason: "enough" });
    expect(await journalOf(store)).toEqual(["thread.started", "ask.received", "cancel.requested"]);
  });

  test("after the end does nothing", async () => {
    const { host, store } = stage({ script: [says("done")] });
    const handle = host.ask("hi");
    await handle;
    handle.abort();
    expect((await handle).text).toBe("done");
    expect(await journalOf(store)).toHaveLength(3);
  });
});
