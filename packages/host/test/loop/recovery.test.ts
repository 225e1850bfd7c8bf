import { describe, expect, test } from "vitest";
import { type ToolDefinition, type ToolInput, tool } from "@colloquy/host";
import { calls, entriesOf, errorOf, held, journalOf, says, settle, stage } from "../stage.ts";

const anything = { jsonSchema: { type: "object" } };

/** Makes a tool that never returns in the process that dies, but does in the next. */
const fragile = (recovery: ToolDefinition<ToolInput>["recovery"] | undefined, run: () => unknown) =>
  tool({ name: "fragile", description: "x", input: anything, run, ...(recovery === undefined ? {} : { recovery }) });

const crashed = ["thread.started", "ask.received", "llm.completed"];

describe("after a crash", () => {
  test.each<[ToolDefinition<ToolInput>["recovery"] | undefined, number, readonly string[]]>([
    [undefined, 0, [...crashed, "tool.failed interrupted recovered", "llm.completed"]],
    ["interrupted", 0, [...crashed, "tool.failed interrupted recovered", "llm.completed"]],
    ["rerun", 1, [...crashed, "tool.completed", "llm.completed"]],
    ["once", 0, [...crashed, "tool.started", "tool.failed unknown recovered", "llm.completed"]],
  ])("a tool call that was out, declared %s, runs again %i times", async (recovery, runsAgain, journal) => {
    const first = stage({
      owner: "same",
      whenHeld: "reject",
      tools: [fragile(recovery, () => new Promise(() => {}))],
      script: [calls(["fragile", {}])],
    });
    const lost = errorOf(first.host.ask("go", { askId: "a" }));
    await settle();
    let runs = 0;
    // The same owner acquires its own lease again, like a restarted process; the first one is dead.
    const next = first.another({ tools: [fragile(recovery, () => `run ${++runs}`)], script: [says("recovered")] });
    expect((await next.host.ask("go", { askId: "a" })).text).toBe("recovered");
    expect(runs).toBe(runsAgain);
    expect(await journalOf(first.store)).toEqual(journal);
    await first.clock.advance(10_000);
    expect(await lost).toMatchObject({ name: "LeaseLostError" });
    expect(await journalOf(first.store)).toEqual(journal);
  });

  test("a resumed thread continues without an ask, and an unknown one is reported", async () => {
    const first = stage({ owner: "same", whenHeld: "reject", script: [held().step] });
    first.host.ask("go", { askId: "a" }).catch(() => {});
    await settle();
    const next = first.another({ script: [says("recovered")] });
    await next.host.thread().resume();
    await settle();
    expect(await journalOf(first.store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
    expect(await next.host.thread().asked("a")).toMatchObject({ status: "completed" });
    expect(await errorOf(next.host.thread("nowhere").resume())).toMatchObject({ name: "ThreadUnknownError" });
  });

  test("a tool that must run once, and had not started, is started and runs", async () => {
    const first = stage({ owner: "same", tools: [fragile("once", () => "unused")], script: [] });
    await first.host.thread().start();
    await first.host.close();
    // The process died after the reply was stored, and before the start of the call was.
    const lease = await first.store.acquire("default", "same", 1_000);
    if (lease === null) throw new Error("held");
    const { event: _, ...started } = (await entriesOf(first.store))[0] ?? {};
    expect(started).toMatchObject({ seq: 0 });
    const at = first.clock.now();
    await first.store.append(lease, 0, [
      { seq: 1, event: { type: "ask.received", at, askId: "a", input: "go" } },
      {
        seq: 2,
        event: {
          type: "llm.completed",
          at,
          effectId: "default/1.1#1",
          reply: { toolCalls: [{ id: "c", name: "fragile", arguments: "{}" }] },
          finishReason: "tool_calls",
        },
      },
    ]);
    let runs = 0;
    const next = first.another({ tools: [fragile("once", () => ++runs)], script: [says("done")] });
    expect((await next.host.ask("go", { askId: "a" })).text).toBe("done");
    expect(runs).toBe(1);
    expect(await journalOf(first.store)).toEqual([...crashed, "tool.started", "tool.completed", "llm.completed"]);
  });

  test("a tool that no longer exists counts as interrupted, with a reason", async () => {
    const first = stage({
      owner: "same",
      tools: [fragile("rerun", () => new Promise(() => {}))],
      script: [calls(["fragile", {}])],
    });
    first.host.ask("go", { askId: "a" });
    await settle();
    const next = first.another({ tools: [], script: [says("done")] });
    expect((await next.host.ask("go", { askId: "a" })).text).toBe("done");
    expect(await journalOf(first.store)).toEqual([
      ...crashed,
      "thread.configured",
      "tool.failed interrupted recovered",
      "llm.completed",
    ]);
    expect((await entriesOf(first.store))[4]).toMatchObject({
      event: { content: expect.stringContaining("interrupted") },
    });
  });

  test("lost outcomes are handled before new events", async () => {
    const first = stage({
      owner: "same",
      tools: [fragile("interrupted", () => new Promise(() => {}))],
      script: [calls(["fragile", {}])],
    });
    first.host.ask("go", { askId: "a" });
    await settle();
    const next = first.another({ script: [held().step] });
    await next.host.thread().cancel();
    expect(await journalOf(first.store)).toEqual([...crashed, "tool.failed interrupted recovered", "cancel.requested"]);
  });

  test("a retry that is overdue is made at once, one that is not waits its time", async () => {
    const failure = { kind: "overloaded", message: "busy", retryable: true, retryAfterMs: 60_000 } as const;
    for (const [passed, wait] of [
      [100_000, 0],
      [20_000, 40_000],
    ] as const) {
      const first = stage({ owner: "same", script: [{ type: "failed", failure }] });
      first.host.ask("go", { askId: "a" });
      await settle();
      await first.host.close();
      await first.clock.advance(passed);
      const next = first.another({ script: [says("done")] });
      const handle = next.host.ask("go", { askId: "a" });
      await settle();
      await first.clock.advance(Math.max(0, wait - 1));
      expect(next.model.calls).toHaveLength(wait === 0 ? 1 : 0);
      await first.clock.advance(1);
      expect((await handle).text).toBe("done");
    }
  });

  test("a deadline that passed meanwhile ends the turn", async () => {
    const model = held();
    const first = stage({ owner: "same", script: [model.step] });
    first.host.ask("go", { askId: "a", limits: { deadlineMs: 1_000 } });
    await settle();
    await first.host.close();
    await first.clock.advance(5_000);
    const next = first.another({ script: [held().step] });
    const ended = errorOf(next.host.ask("go", { askId: "a" }));
    await first.clock.advance(0);
    expect(await ended).toMatchObject({ name: "LimitReachedError" });
  });

  test("closing a host in the middle of a turn loses nothing: the next one continues", async () => {
    const model = held();
    const first = stage({ script: [model.step] });
    const handle = first.host.ask("go", { askId: "a" });
    await settle();
    await first.host.close();
    expect(await errorOf(handle)).toMatchObject({ name: "ThreadClosedError" });
    expect(model.signal()?.aborted).toBe(true);
    expect(first.clock.sleepers).toBe(0);
    const next = first.another({ script: [says("done")] });
    expect((await next.host.ask("go", { askId: "a" })).text).toBe("done");
  });
});

test("a changed configuration is journalled when a thread is opened under it, once", async () => {
  const first = stage({ script: [says("1")] });
  await first.host.ask("one");
  await first.host.close();
  for (const expected of [1, 1]) {
    const next = first.another({ machine: { limits: { steps: 3 } }, script: [says("2")] });
    await next.host.ask("two");
    await next.host.close();
    expect((await journalOf(first.store)).filter((type) => type === "thread.configured")).toHaveLength(expected);
  }
});
