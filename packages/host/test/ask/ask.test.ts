import { describe, expect, test } from "vitest";
import { AskRefusedError, LimitReachedError, TurnFailedError } from "@colloquy/host";
import { calls, echo, entriesOf, errorOf, held, journalOf, partsOf, says, settle, stage } from "../stage.ts";

describe("an ask", () => {
  test("gives the answer of a turn with tools, and remembers it", async () => {
    const { host, model, store } = stage({
      tools: [echo],
      script: [calls(["echo", { text: "ping" }]), says("pong"), says("again")],
    });
    const result = await host.ask("hi", { askId: "first" });
    expect(result).toMatchObject({
      threadId: "default",
      askId: "first",
      turn: 1,
      text: "pong",
      finishReason: "stop",
      status: "completed",
    });
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(result.usage.inputTokens).toEqual({ sum: 10, reported: 1, unreported: 1 });
    expect((await host.ask("more")).turn).toBe(2);
    expect(model.calls[2]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(await journalOf(store)).toEqual([
      "thread.started",
      "ask.received",
      "llm.completed",
      "tool.completed",
      "llm.completed",
      "ask.received",
      "llm.completed",
    ]);
  });

  test("rejects with the failure of the model, and with what it had shown", async () => {
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

  test("fails when the handler throws, returns nothing, or returns what is no outcome", async () => {
    // Handlers written in JavaScript return what their types would not allow.
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

  test("has failed where describeThrown gives a promise, and a rejection of it is reported", async () => {
    const reported: unknown[] = [];
    // Functions written in JavaScript return what their types would not allow.
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

  test("ends at a limit, with a typed error", async () => {
    const { host } = stage({ tools: [echo], script: [calls(["echo", { text: "x" }])] });
    const error = await errorOf(host.ask("hi", { limits: { steps: 1 } }));
    expect(error).toBeInstanceOf(LimitReachedError);
    expect(error).toMatchObject({ reached: { limit: "steps", allowed: 1 } });
  });

  test("ends at its deadline with what had been shown", async () => {
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

  test("is refused in words while a turn is open, and nothing is journalled", async () => {
    const model = held();
    const { host, store } = stage({ script: [model.step] });
    const first = host.ask("one");
    const error = await errorOf(host.ask("two"));
    expect(error).toBeInstanceOf(AskRefusedError);
    expect(error).toMatchObject({ refusal: { kind: "busy" } });
    model.answer(says("done"));
    await first;
    expect(await journalOf(store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
  });

  test("is refused when it is no plain data", async () => {
    const { host } = stage();
    const circular: Record<string, never> = {};
    Object.assign(circular, { circular });
    expect(await errorOf(host.ask("x", { metadata: circular }))).toMatchObject({ refusal: { kind: "invalid" } });
    expect(await errorOf(host.ask("x", { limits: { steps: -1 } }))).toMatchObject({ refusal: { kind: "invalid" } });
    // As from a caller without types.
    const noInput = [{ role: "tool", content: "x" }] as unknown as [];
    expect(await errorOf(host.ask(noInput))).toMatchObject({ refusal: { kind: "invalid" } });
  });

  test("keeps what was said when it was asked, whatever its caller changes later", async () => {
    const { host, store } = stage({ script: [says("ok")] });
    const metadata = { tags: ["a"] };
    const handle = host.ask("x", { metadata });
    metadata.tags.push("b");
    await handle;
    expect((await entriesOf(store))[1]).toMatchObject({ event: { metadata: { tags: ["a"] } } });
  });

  test("waits in the queue, and settles when its own turn ends", async () => {
    const model = held();
    const { host, clock } = stage({
      machine: { overlap: { type: "queue", max: 1 } },
      script: [model.step, says("second")],
    });
    const first = host.ask("one");
    const second = host.ask("two");
    const full = errorOf(host.ask("three"));
    expect(await full).toMatchObject({ refusal: { kind: "full" } });
    model.answer(says("first"));
    expect((await first).text).toBe("first");
    await clock.advance(0);
    expect(await second).toMatchObject({ text: "second", turn: 2 });
    expect((await partsOf(second))[0]).toMatchObject({ type: "signal", signal: { type: "ask.queued", place: 1 } });
  });

  test("withdrawn from the queue never opens a turn", async () => {
    const model = held();
    const { host, clock, store } = stage({ machine: { overlap: { type: "queue", max: 1 } }, script: [model.step] });
    const first = host.ask("one");
    const second = host.ask("two");
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
  });

  test("repeated gives the first outcome: while it runs, after it, and after a restart", async () => {
    const model = held();
    const { host, another, store } = stage({ script: [model.step] });
    const first = host.ask("hi", { askId: "same" });
    const second = host.ask("hi", { askId: "same" });
    await settle();
    model.answer(says("once"));
    expect((await first).text).toBe("once");
    expect((await second).text).toBe("once");
    expect((await host.ask("hi", { askId: "same" })).text).toBe("once");
    await host.close();
    expect((await another().host.ask("hi", { askId: "same" })).text).toBe("once");
    expect(await journalOf(store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
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
