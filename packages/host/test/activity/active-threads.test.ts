import { type CallLlm, ConfigurationError } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { type Host, type LlmOutcome, memoryStore, type Store, tool } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import { calls, errorOf, manualClock, says, settle, stage, type Stage, type StageOptions } from "../stage.ts";

/** A stage whose model waits, call by call, and the calls that are out. */
const waiting = (
  options: StageOptions = {},
): Stage & {
  /** The threads for which the model is called now, oldest call first. */
  readonly out: () => readonly string[];
  readonly answer: (threadId: string, outcome?: LlmOutcome) => Promise<void>;
  /** The most calls that were out at once. */
  readonly most: () => number;
} => {
  const open: { readonly call: CallLlm; readonly answer: (outcome: LlmOutcome) => void }[] = [];
  let most = 0;
  const step = (call: CallLlm): Promise<LlmOutcome> =>
    new Promise((answer) => {
      open.push({ call, answer });
      most = Math.max(most, open.length);
    });
  const made = stage({ script: Array.from({ length: 500 }, () => step), ...options });
  return {
    ...made,
    out: () => open.map(({ call }) => call.threadId),
    most: () => most,
    answer: async (threadId, outcome = says("done")) => {
      const index = open.findIndex(({ call }) => call.threadId === threadId);
      const [taken] = open.splice(index, 1);
      if (index < 0 || taken === undefined) throw new Error(`no call is out for ${threadId}`);
      taken.answer(outcome);
      await settle();
    },
  };
};

const ask = (host: Host, threadId: string) => host.ask("hi", { threadId });

const queue = { overlap: { type: "queue", max: 8 } } as const;

describe("threads that are worked on at a time", () => {
  test("are so many at most; others wait, first come first served", async () => {
    const { host, out, answer, most } = waiting({ maxActive: 2 });
    const handles = ["a", "b", "c", "d", "e"].map((id) => ask(host, id));
    await settle();
    expect(out()).toEqual(["a", "b"]);
    await answer("b");
    expect(out()).toEqual(["a", "c"]);
    await answer("a");
    await answer("d");
    expect(out()).toEqual(["c", "e"]);
    await answer("c");
    await answer("e");
    expect((await Promise.all(handles)).map(({ text }) => text)).toEqual(Array.from({ length: 5 }, () => "done"));
    expect(most()).toBe(2);
  });

  test("make room when they have nothing to do, and the one that was used longest ago does so first", async () => {
    const released: string[] = [];
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const store: Store = overriding(inner, {
      release: async (lease) => {
        released.push(lease.threadId);
        await inner.release(lease);
      },
    });
    const { host, answer, out } = waiting({ clock, store, maxActive: 2 });
    const first = [ask(host, "a"), ask(host, "b")];
    await settle();
    await answer("a");
    await answer("b");
    await Promise.all(first);
    const again = ask(host, "a");
    await settle();
    await answer("a");
    await again;
    // None waits: both stay.
    expect(released).toEqual([]);
    void ask(host, "c");
    await settle();
    expect([released, out()]).toEqual([["b"], ["c"]]);
    void ask(host, "b");
    await settle();
    expect([released, out()]).toEqual([
      ["b", "a"],
      ["c", "b"],
    ]);
  });

  test("stand at the end of the line after each turn, where more is asked of them, and keep their lease", async () => {
    const stored = waiting({ maxActive: 1, machine: queue });
    const { host, out, answer } = stored;
    const busy = [ask(host, "a"), ask(host, "a"), ask(host, "a")];
    const others = [ask(host, "b"), ask(host, "c")];
    const order: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      await stored.clock.advance(1);
      expect(out()).toHaveLength(1);
      order.push(...out());
      expect(await stored.store.acquire("a", "somebody", 1)).toBeNull();
      await answer(out()[0] ?? "");
    }
    expect(order).toEqual(["a", "b", "c", "a", "a"]);
    expect((await Promise.all([...busy, ...others])).map(({ turn }) => turn)).toEqual([1, 2, 3, 1, 1]);
  });

  test("do not block an ask that one of their tools makes, on a thread that has to wait for a place", async () => {
    const clock = manualClock();
    let host: Host | null = null;
    const askOther = tool({
      name: "askOther",
      description: "",
      input: { jsonSchema: { type: "object" } },
      run: async () => (await host?.ask("inner", { threadId: "inner" }))?.text ?? "",
    });
    const staged = waiting({ clock, maxActive: 1, tools: [askOther] });
    ({ host } = staged);
    const outer = ask(host, "outer");
    await settle();
    await staged.answer("outer", calls(["askOther", {}]));
    // No time passes: a thread that waits for its tools needs no place.
    expect(staged.out()).toEqual(["inner"]);
    const third = ask(host, "third");
    await settle();
    expect(staged.out()).toEqual(["inner"]);
    await staged.answer("inner", says("from inside"));
    // The turn that was begun goes before the thread that came later.
    expect(staged.out()).toEqual(["outer"]);
    await staged.answer("outer", says("from outside"));
    expect((await outer).text).toBe("from outside");
    await staged.answer("third");
    expect((await third).text).toBe("done");
  });

  test("do not include those that wait for an approval, a retry, or another host", async () => {
    const clock = manualClock();
    const dangerous = tool({
      name: "dangerous",
      description: "",
      input: { jsonSchema: { type: "object" } },
      approval: "always",
      run: () => "done",
    });
    const staged = waiting({ clock, maxActive: 1, tools: [dangerous] });
    const { host, out, answer } = staged;
    await staged.store.acquire("held", "somebody", 1_000_000);
    const handles = ["approved", "retried", "held", "last"].map((id) => ask(host, id));
    await settle();
    await answer("approved", calls(["dangerous", {}]));
    expect(out()).toEqual(["retried"]);
    await answer("retried", { type: "failed", failure: { kind: "overloaded", message: "", retryable: true } });
    await settle();
    expect(out()).toEqual(["last"]);
    // The approval and the retry are due: both threads wait in line.
    await clock.advance(1_000);
    expect(out()).toEqual(["last"]);
    await answer("last");
    expect(out()).toEqual(["retried"]);
    await answer("retried");
    expect((await Promise.allSettled([handles[1], handles[3]])).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
    ]);
  });

  test("stand in line when they take over what another host left undone", async () => {
    const staged = waiting({ maxActive: 1, leaseTtlMs: 9_000, whenHeld: "enqueue", owner: "second" });
    const { host, store, clock, out, answer } = staged;
    const dead = waiting({ clock, store, leaseTtlMs: 9_000, owner: "dead" });
    void dead.host.ask("hi", { threadId: "taken", askId: "a" });
    await settle();
    const taken = host.ask("hi", { threadId: "taken", askId: "a" });
    await clock.advance(100);
    void ask(host, "other");
    await settle();
    expect(out()).toEqual(["other"]);
    await store.release({ threadId: "taken", owner: "dead", token: 1 });
    await clock.advance(1_000);
    expect(await store.acquire("taken", "nobody", 1)).toBeNull();
    expect(out()).toEqual(["other"]);
    await answer("other");
    expect(out()).toEqual(["taken"]);
    await answer("taken");
    expect((await taken).text).toBe("done");
  });

  test("leave the line when they are closed, and when the host is", async () => {
    const { host, out, answer, clock } = waiting({ maxActive: 1 });
    const first = ask(host, "a");
    const [second, third] = [errorOf(ask(host, "b")), errorOf(ask(host, "c"))];
    await settle();
    await host.thread("b").close();
    expect(await second).toMatchObject({ name: "ThreadClosedError" });
    await answer("a");
    expect((await first).text).toBe("done");
    expect(out()).toEqual(["c"]);
    const closing = host.close();
    expect(await third).toMatchObject({ name: "ThreadClosedError" });
    await closing;
    expect(clock.sleepers).toBe(0);
  });

  test("are opened again where they were let go, however many there are", async () => {
    const { host, clock, model } = stage({
      maxActive: 3,
      script: Array.from({ length: 60 }, (_, index) => says(`${index}`)),
    });
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`);
    for (const turn of [1, 2, 3]) {
      const results = await Promise.all(ids.map((id) => ask(host, id)));
      expect(results.every((result) => result.turn === turn)).toBe(true);
    }
    expect(model.calls).toHaveLength(60);
    await clock.advance(5_000);
    expect(clock.sleepers).toBe(0);
  });

  test("have to be one at least", () => {
    expect(() => stage({ maxActive: 0 })).toThrow(ConfigurationError);
    expect(() => stage({ pollMs: 0 })).toThrow("pollMs must be a whole number ≥ 1 (got 0)");
    // JavaScript knows no types.
    expect(() => stage({ whenHeld: "wait" as "reject" })).toThrow(
      'createHost: whenHeld must be "enqueue" or "reject" (got "wait")',
    );
  });
});
