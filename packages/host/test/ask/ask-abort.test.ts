import { describe, expect, test, vi } from "vitest";
import { tool, TurnCancelledError } from "@colloquy/host";
import { calls, echo, entriesOf, errorOf, held, journalOf, partsOf, says, settle, stage } from "../stage.ts";

describe("aborting an ask", () => {
  test("keeps what had been shown, stops the model, and leaves the thread usable", async () => {
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

  test("by a signal names its reason, and lets go of the signal afterwards", async () => {
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
    const slow = tool({
      name: "slow",
      description: "Never returns.",
      input: { jsonSchema: { type: "object" } },
      run: (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
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
