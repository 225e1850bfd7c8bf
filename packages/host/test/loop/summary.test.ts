import { type Signal, turnNumbered } from "@colloquy/machine";
import { ThreadClosedError } from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { entriesOf, errorOf, held, journalOf, says, settle, stage, type Stage, type StageOptions } from "../stage.ts";
import { summarising } from "../summarising.ts";

const summarised = (options: StageOptions): Stage & { readonly signals: Signal[] } => {
  const signals: Signal[] = [];
  const observers = [{ signal: (signal: Signal) => void signals.push(signal) }];
  return { ...stage({ ...options, machine: { policy: summarising, ...options.machine }, observers }), signals };
};

const typesOf = (signals: readonly Signal[], prefix: string): readonly string[] =>
  signals.flatMap(({ type }) => (type.startsWith(prefix) ? [type] : []));

describe("a summary", () => {
  test("is not cancelled with the turn beside it, and is not in its shown part", async () => {
    const [summary, answer] = [held(), held()];
    const { host } = summarised({ script: [says("1"), summary.step, answer.step, says("They said no more.")] });
    await host.ask("one");
    const second = host.ask("two");
    await settle();
    summary.show("They said");
    answer.show("tw");
    second.abort();
    expect(await errorOf(second)).toMatchObject({ name: "TurnCancelledError", summary: { text: "tw" } });
    expect(summary.signal()?.aborted).toBe(false);
    summary.answer(says("They said one."));
    await settle();
    const state = await host.thread().state();
    expect(state && turnNumbered(state, 1)?.summaries).toMatchObject([{ text: "They said one." }]);
  });

  test("the abort signal of a summary call that has ended is not aborted", async () => {
    const summary = held();
    const { host } = summarised({ script: [says("1"), summary.step] });
    await host.ask("one");
    await settle();
    summary.answer(says("They said one."));
    await settle();
    const state = await host.thread().state();
    expect(state && turnNumbered(state, 1)?.summaries).toHaveLength(1);
    expect(summary.signal()?.aborted).toBe(false);
  });

  test("that is being written when the host closes is stopped with that reason", async () => {
    const summary = held();
    const { host } = summarised({ script: [says("1"), summary.step] });
    await host.ask("one");
    await settle();
    await host.close();
    expect(summary.signal()?.reason).toBeInstanceOf(ThreadClosedError);
  });

  test("that is called off is stopped, and nothing comes of it", async () => {
    const summary = held();
    const { host, clock, signals, store } = summarised({ idleMs: 1_000, script: [says("1"), summary.step] });
    await host.ask("one");
    await host.thread().moveHead(0);
    expect(summary.signal()?.reason).toMatchObject({ name: "AbortError" });
    expect(typesOf(signals, "summary")).toEqual(["summary.started", "summary.failed"]);
    summary.answer(says("They said one."));
    await settle();
    expect((await journalOf(store)).slice(3)).toEqual(["head.moved"]);
    await clock.advance(1_000);
    expect(clock.sleepers).toBe(0);
  });

  test("whose handler throws costs nothing else, and is reported", async () => {
    const reported: unknown[] = [];
    const { host, signals, store } = summarised({
      script: [says("1"), () => Promise.reject(new Error("no such model, sk-123")), says("2"), says("They said two.")],
      onObserverError: (error, where) => reported.push([where, String(error)]),
    });
    expect((await host.ask("one")).text).toBe("1");
    await settle();
    expect(reported).toEqual([["llm", "Error: no such model, sk-123"]]);
    expect(typesOf(signals, "summary")).toEqual(["summary.started", "summary.failed"]);
    expect((await host.ask("two")).text).toBe("2");
    expect(JSON.stringify(await store.read("default"))).not.toContain("sk-123");
  });

  test("that fails half way is not journalled as far as it came", async () => {
    const failure = { kind: "truncated", message: "broke off", retryable: true } as const;
    const { host, store } = summarised({
      script: [says("1"), { type: "failed", failure, partial: { content: "They sa" } }],
    });
    await host.ask("one");
    await settle();
    // The part that arrived was paid for, in an unknown amount.
    expect((await entriesOf(store)).at(-1)?.event).toEqual(
      expect.objectContaining({ type: "llm.failed", failure, effectId: "default/summary-1#1", usage: {} }),
    );
    expect(JSON.stringify(await store.read("default"))).not.toContain("They sa");
  });

  test("that fails before any of it arrived is journalled without a usage", async () => {
    const failure = { kind: "unknown", message: "no", retryable: false } as const;
    const { host, store } = summarised({ script: [says("1"), { type: "failed", failure }] });
    await host.ask("one");
    await settle();
    const failed = (await entriesOf(store)).at(-1)?.event;
    expect(failed).toMatchObject({ type: "llm.failed", failure });
    expect(failed).not.toHaveProperty("usage");
  });

  test("is also written again if a deadline passed meanwhile", async () => {
    const [summary, answer] = [held(), held()];
    const first = summarised({ script: [says("1"), summary.step, answer.step] });
    await first.host.ask("one");
    first.host.ask("two", { askId: "b", limits: { deadlineMs: 1_000 } });
    await settle();
    await first.host.close();
    await first.clock.advance(5_000);
    const next = first.another({ script: [says("They said one."), says("They said two.")] });
    const ended = errorOf(next.host.ask("two", { askId: "b" }));
    await first.clock.advance(0);
    expect(await ended).toMatchObject({ name: "LimitReachedError" });
    expect(next.model.calls[0]).toMatchObject({ purpose: "summary" });
    const state = await next.host.thread().state();
    expect(state && turnNumbered(state, 1)?.summaries).toMatchObject([{ text: "They said one." }]);
  });
});
