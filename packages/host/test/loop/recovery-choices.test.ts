// Choices at recovery: whether a person decides on a call of unknown outcome, and what happens to an incomplete reply.
import { describe, expect, test } from "vitest";
import { tool } from "@colloquy/host";
import type { ToolDefinition, ToolInput } from "@colloquy/host";
import { calls, entriesOf, errorOf, held, journalOf, says, settle, stage, approveFirst } from "../stage.ts";

const launch = (run: () => unknown, definition: Partial<ToolDefinition<ToolInput>> = {}) =>
  tool({
    name: "launch",
    description: "x",
    input: { jsonSchema: { type: "object", required: ["at"] } },
    recovery: "ask",
    run,
    ...definition,
  });

const never = (): Promise<never> => new Promise(() => {});

/** Returns a process that died while its tool ran. */
const died = async (definition: Partial<ToolDefinition<ToolInput>> = {}) => {
  const first = stage({ owner: "same", tools: [launch(never, definition)], script: [calls(["launch", { at: 7 }])] });
  first.host.ask("go", { askId: "a" }).catch(() => {});
  await settle();
  return first;
};

const crashed = ["thread.started", "ask.received", "llm.completed", "tool.started"];

describe("a tool that asks when its outcome is unknown", () => {
  test("that is denied lets the model read that the outcome is unknown", async () => {
    const first = await died();
    const next = first.another({ tools: [launch(() => "unused")], script: [says("done")] });
    const asked = next.host.ask("go", { askId: "a" });
    await settle();
    const [request] = await next.host.thread().approvals();
    await next.host.thread().deny(request?.id ?? "", { reason: "it flew" });
    await asked;
    expect(JSON.stringify(next.model.calls[0]?.messages)).toMatch(/may or may not have taken effect.*it flew/);
  });

  test("is asked about again when it crashes again", async () => {
    const first = await died();
    const second = first.another({ tools: [launch(never)], script: [] });
    second.host.ask("go", { askId: "a" }).catch(() => {});
    await settle();
    const before = await approveFirst(second.host.thread());
    await settle();
    const third = first.another({ tools: [launch(() => "flew")], script: [says("done")] });
    const asked = third.host.ask("go", { askId: "a" });
    await settle();
    const [request] = await third.host.thread().approvals();
    expect(request?.id).not.toBe(before?.id);
    await third.host.thread().approve(request?.id ?? "");
    expect((await asked).text).toBe("done");
  });

  test("whose arguments do not fit any more is not asked about: its outcome is unknown", async () => {
    const first = await died();
    const stricter = launch(never, { input: { jsonSchema: { type: "object", required: ["at", "by"] } } });
    const next = first.another({ tools: [stricter], script: [says("done")] });
    await next.host.ask("go", { askId: "a" });
    expect(await journalOf(first.store)).toEqual([
      ...crashed,
      "thread.configured",
      "tool.failed unknown recovered",
      "llm.completed",
    ]);
  });

  test("that was approved before it ran is asked about with today's validated arguments", async () => {
    const first = await died({ approval: "always" });
    await approveFirst(first.host.thread());
    await settle();
    const next = first.another({
      tools: [launch(() => "flew", { approval: "always", version: "2" })],
      script: [says("ok")],
    });
    const asked = next.host.ask("go", { askId: "a" });
    await settle();
    const [request] = await next.host.thread().approvals();
    expect(request).toMatchObject({ because: "unknown_outcome", version: "2" });
    await next.host.thread().approve(request?.id ?? "");
    expect((await asked).text).toBe("ok");
  });

  test("that needs every call approved since an update asks before a call from before it runs again", async () => {
    const first = await died({ recovery: "rerun" });
    let runs = 0;
    const stricter = launch(() => `flew ${++runs}`, { recovery: "rerun", approval: "always" });
    const next = first.another({ tools: [stricter], script: [says("done")] });
    const asked = next.host.ask("go", { askId: "a" });
    await settle();
    expect(runs).toBe(0);
    expect(await approveFirst(next.host.thread())).toMatchObject({ because: "declared", arguments: { at: 7 } });
    expect((await asked).text).toBe("done");
    expect(runs).toBe(1);
  });

  test("that was approved to run again needs a new approval for another version", async () => {
    const first = await died();
    const second = first.another({ tools: [launch(never)], script: [] });
    second.host.ask("go", { askId: "a" }).catch(() => {});
    await settle();
    const [request] = await second.host.thread().approvals();
    await second.host.close();
    let runs = 0;
    const next = first.another({ tools: [launch(() => ++runs, { version: "2" })], script: [says("ok")] });
    const asked = next.host.ask("go", { askId: "a" });
    await next.host.thread().approve(request?.id ?? "");
    await settle();
    expect(runs).toBe(0);
    const [anew] = await next.host.thread().approvals();
    expect(anew).toMatchObject({ because: "unknown_outcome", version: "2" });
    await next.host.thread().approve(anew?.id ?? "");
    expect((await asked).text).toBe("ok");
    expect(runs).toBe(1);
  });
});

describe("a call that waits to be validated before somebody approves it", () => {
  test.each(["interrupted", "once", "rerun", "ask"] as const)(
    "after a crash, declared %s, is validated then",
    async (recovery) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const slow: ToolInput = {
        "~standard": {
          version: 1,
          vendor: "test",
          jsonSchema: { input: () => ({}) },
          validate: (value) => promise.then(() => ({ value })),
        },
      };
      const first = await died({ recovery, approval: "always", input: slow });
      const next = first.another({
        tools: [launch(() => "ran", { recovery, approval: "always" })],
        script: [says("ok")],
      });
      const asked = next.host.ask("go", { askId: "a" });
      await settle();
      await approveFirst(next.host.thread());
      expect((await asked).text).toBe("ok");
      resolve();
    },
  );
});

describe("the shown part of a reply", () => {
  const partials = async (store: Parameters<typeof entriesOf>[0]) =>
    (await entriesOf(store)).flatMap(({ event }) =>
      event.type === "llm.progressed" ? [[event.partial.content, event.again ?? false]] : [],
    );

  test("is journalled as it grows, not more often than was said, and not when nothing is new", async () => {
    const model = held();
    const { host, store, clock } = stage({ script: [model.step], progressMs: 1_000 });
    const asked = host.ask("go");
    await settle();
    await clock.advance(5_000);
    expect(await partials(store)).toEqual([]);
    model.show("one ");
    model.show("two ");
    await clock.advance(999);
    expect(await partials(store)).toEqual([]);
    model.show("three ");
    await clock.advance(10_000);
    expect(await partials(store)).toEqual([["one two three ", false]]);
    model.show("four");
    await clock.advance(1_000);
    expect(await partials(store)).toEqual([
      ["one two three ", false],
      ["four", false],
    ]);
    model.answer(says("one two three four"));
    await asked;
    await host.close();
    expect(clock.sleepers).toBe(0);
  });

  test("is not journalled unless that is wished", async () => {
    const model = held();
    const { host, store, clock } = stage({ script: [model.step] });
    const asked = host.ask("go");
    await settle();
    model.show("one ");
    await clock.advance(100_000);
    model.answer(says("one two"));
    await asked;
    expect(await partials(store)).toEqual([]);
  });

  test("is kept after a crash if so chosen, and the turn fails", async () => {
    const model = held();
    const first = stage({ owner: "same", script: [model.step], progressMs: 1_000, partials: "keep" });
    first.host.ask("go", { askId: "a" }).catch(() => {});
    await settle();
    model.show("Once upon");
    await first.clock.advance(1_000);
    model.show(" a time");
    const next = first.another({ script: [] });
    const failed = await errorOf(next.host.ask("go", { askId: "a" }));
    expect(failed).toMatchObject({
      name: "TurnFailedError",
      failure: { kind: "truncated", retryable: false },
      summary: { text: "Once upon" },
    });
    expect(next.model.calls).toEqual([]);
    expect(await journalOf(first.store)).toEqual([
      "thread.started",
      "ask.received",
      "llm.progressed",
      "llm.failed recovered",
    ]);
  });

  test("is void if the model is asked again, which shows its answer from the start", async () => {
    const before = held();
    const first = stage({ owner: "same", script: [before.step], progressMs: 1_000 });
    first.host.ask("go", { askId: "a" }).catch(() => {});
    await settle();
    before.show("Once upon");
    await first.clock.advance(1_000);
    const model = held();
    const next = first.another({ script: [model.step] });
    const asked = next.host.ask("go", { askId: "a" });
    await settle();
    model.show("There");
    await first.clock.advance(1_000);
    model.show(" was");
    await first.clock.advance(1_000);
    expect(await partials(first.store)).toEqual([
      ["Once upon", false],
      ["There", true],
      [" was", false],
    ]);
    asked.abort();
    expect(await errorOf(asked)).toMatchObject({ summary: { text: "There was" } });
  });

  test("that was never journalled makes the host ask the model again, whatever is chosen", async () => {
    const model = held();
    const first = stage({ owner: "same", script: [model.step], progressMs: 1_000, partials: "keep" });
    first.host.ask("go", { askId: "a" }).catch(() => {});
    await settle();
    const next = first.another({ script: [says("whole")] });
    expect((await next.host.ask("go", { askId: "a" })).text).toBe("whole");
  });
});
