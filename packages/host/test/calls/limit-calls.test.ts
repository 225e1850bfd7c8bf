import { limitCalls, type LlmHandler, type LlmOutcome, createHost, type Hooks, type Host } from "@colloquy/host";
import { type CallLlm, conversationMachine } from "@colloquy/machine";
import { describe, expect, it, test } from "vitest";
import {
  held,
  type ManualClock,
  manualClock,
  says,
  settle,
  entriesOf,
  partsOf,
  stored,
  calls,
  stage,
  plain,
  countingIds,
} from "../stage.ts";
import { callOf, line, refusal } from "./line.ts";

describe("limitCalls", () => {
  it("makes so many at once, threads in turn, those of one thread in their order", async () => {
    const { made, call, ids } = line({ atOnce: 2 });
    for (const id of ["a1", "a2", "a3", "b1", "c1", "b2"]) call(id.slice(0, 1), id);
    await settle();
    expect(ids()).toEqual(["a1", "a2"]);
    for (let next = 0; next < 4; next++) {
      made[next]?.answer(says("."));
      await settle();
    }
    // All of `a` came first, yet no thread waited for all of them.
    expect(ids()).toEqual(["a1", "a2", "a3", "b1", "c1", "b2"]);
  });

  it("pauses all after a refusal for as long as the server asks, and makes the refused call first", async () => {
    const { clock, made, call, ids, outcomes } = line({ atOnce: 2 });
    for (const id of ["a", "b", "c"]) call(id);
    await settle();
    made[0]?.answer(refusal({ retryAfterMs: 3000 }));
    made[1]?.answer(says("."));
    await clock.advance(2999);
    expect(ids()).toEqual(["a", "b"]);
    await clock.advance(1);
    expect(ids()).toEqual(["a", "b", "a", "c"]);
    made[2]?.answer(says("at last"));
    await settle();
    expect(outcomes.map(([id, { type }]) => [id, type])).toEqual([
      ["b", "completed"],
      ["a", "completed"],
    ]);
  });

  it("pauses longer with each refusal in a row, and resets when a call succeeds", async () => {
    const { clock, made, call } = line({ atOnce: 1 });
    call("a");
    call("b");
    const pauses: number[] = [];
    const refuse = async (): Promise<void> => {
      made.at(-1)?.answer(refusal({ kind: "overloaded" }));
      const before = made.length;
      const from = clock.now();
      while (made.length === before) await clock.advance(1);
      pauses.push(clock.now() - from);
    };
    await settle();
    for (let times = 0; times < 12; times++) await refuse();
    made.at(-1)?.answer(says("."));
    await settle();
    await refuse();
    expect(pauses.slice(0, 4)).toEqual([200, 300, 450, 675]);
    expect(pauses.slice(-3)).toEqual([5000, 5000, 200]);
  });

  it("makes fewer at once after refusals, and one more for each round that is taken", async () => {
    const { clock, made, call } = line({ atOnce: 10 });
    for (let id = 0; id < 60; id++) call(`${id}`);
    await settle();
    let answered = 0;
    const round = async (outcome: LlmOutcome): Promise<number> => {
      const until = made.length;
      for (; answered < until; answered++) made[answered]?.answer(outcome);
      await clock.advance(10_000);
      return made.length - until;
    };
    expect(made.length).toBe(10);
    expect([await round(refusal()), await round(refusal()), await round(says(".")), await round(says("."))]).toEqual([
      7, 4, 5, 6,
    ]);
  });

  it("limitCalls still makes two calls at once however often they are refused", async () => {
    const { clock, made, call } = line({ atOnce: 3 });
    for (const id of ["a", "b", "c", "d"]) call(id);
    await settle();
    const rounds: number[] = [];
    let answered = 0;
    for (let round = 0; round < 5; round++) {
      const until = made.length;
      for (; answered < until; answered++) made[answered]?.answer(refusal());
      await clock.advance(10_000);
      rounds.push(made.length - until);
    }
    expect(rounds).toEqual([2, 2, 2, 2, 2]);
  });

  it("ignores calls that had begun, and failures that waiting cannot help", async () => {
    const { clock, made, call, outcomes, shown } = line({ atOnce: 4 });
    for (const id of ["shown", "partial", "paid", "final", "other"]) call(id);
    await settle();
    made[0]?.context.onDelta({ type: "text", text: "Hel" });
    made[0]?.answer(refusal());
    made[1]?.answer({ ...refusal(), partial: { content: "Hel" } });
    made[2]?.answer({ ...refusal(), usage: { inputTokens: 3 } });
    made[3]?.answer(refusal({ retryable: false }));
    await settle();
    made[4]?.answer(refusal({ kind: "network" }));
    await clock.advance(60_000);
    expect(made.length).toBe(5);
    expect(outcomes.map(([id]) => id)).toEqual(["shown", "partial", "paid", "final", "other"]);
    expect(shown).toEqual([{ type: "text", text: "Hel" }]);
  });

  it("gives up when its patience ends, or would, and reports the failure as final", async () => {
    const { clock, made, call, outcomes } = line({ atOnce: 1, patienceMs: 1000 });
    call("patient");
    await settle();
    for (let next = 0; outcomes.length === 0 && next < 20; next++) {
      made[next]?.answer(refusal());
      await clock.advance(700);
    }
    call("tomorrow");
    await settle();
    made.at(-1)?.answer(refusal({ retryAfterMs: 86_400_000 }));
    await settle();
    expect(outcomes.map(([id, outcome]) => [id, outcome.type === "failed" && outcome.failure.retryable])).toEqual([
      ["patient", false],
      ["tomorrow", false],
    ]);
    // A long pause that the server requests for one call does not delay others.
    call("next");
    await clock.advance(5000);
    expect(made.at(-1)?.id).toBe("next");
  });

  it("limitCalls makes a refused call again at the end of its patience, and not after it", async () => {
    const { clock, made, call, outcomes } = line({ atOnce: 1, patienceMs: 1000 });
    call("patient");
    await settle();
    made[0]?.answer(refusal({ retryAfterMs: 1000 }));
    await clock.advance(999);
    expect([made.length, outcomes.length]).toEqual([1, 0]);
    await clock.advance(1);
    expect(made.length).toBe(2);
    made[1]?.answer(refusal());
    await clock.advance(60_000);
    expect([made.length, outcomes.length]).toEqual([2, 1]);
  });

  it.each([
    [600_000, 2],
    [600_001, 1],
  ])(
    "limitCalls is patient for ten minutes by default: asked to wait %i ms, it makes %i calls",
    async (retryAfterMs, times) => {
      const { clock, made, call } = line({ atOnce: 1 });
      call("a");
      await settle();
      made[0]?.answer(refusal({ retryAfterMs }));
      await clock.advance(1_000_000);
      expect(made).toHaveLength(times);
    },
  );

  it("lets a call that waits and is cancelled leave at once, and one that is made free its place", async () => {
    const { clock, made, call, ids, outcomes } = line({ atOnce: 1 });
    const first = call("first");
    const second = call("second");
    call("third");
    await settle();
    second.abort();
    await settle();
    expect([ids(), outcomes.map(([id]) => id)]).toEqual([["first"], ["second"]]);
    first.abort();
    await settle();
    expect(ids()).toEqual(["first", "third"]);
    made[1]?.answer(refusal({ retryAfterMs: 50 }));
    await settle();
    expect(clock.sleepers).toBe(1);
  });

  it("loses no place to a call that is cancelled as its turn comes", async () => {
    const { made, call, ids, outcomes } = line({ atOnce: 1 });
    const both = [call("first"), call("second")];
    await settle();
    // A closing host does this: the second gets the first one's place and is aborted at the same moment.
    for (const each of both) each.abort();
    await settle();
    call("third");
    await settle();
    expect(ids()).toEqual(["first", "third"]);
    expect(outcomes.map(([id]) => id)).toEqual(["second"]);
    made[1]?.answer(says("."));
  });

  it("pauses no longer when the clock is put back", async () => {
    const clock = manualClock();
    let back = 0;
    const changed: ManualClock = {
      ...clock,
      now: () => clock.now() - back,
      // A pause lasts its full length, as a system timer does.
      wakeAt: (dueAt, callback) => clock.wakeAt(dueAt + back, callback),
    };
    const { made, call } = line({ atOnce: 1 }, changed);
    call("a");
    await settle();
    made[0]?.answer(refusal({ retryAfterMs: 1000 }));
    await settle();
    back = 3_600_000;
    await clock.advance(1000);
    await clock.advance(1000);
    expect(made.length).toBe(2);
    made[1]?.answer(refusal());
    await clock.advance(300);
    expect(made.length).toBe(3);
  });

  it("sets no timer once all waiting calls have left", async () => {
    const { clock, made, call } = line({ atOnce: 1 });
    const controller = call("a");
    await settle();
    made[0]?.answer(refusal({ retryAfterMs: 50 }));
    await settle();
    controller.abort();
    await settle();
    expect(clock.sleepers).toBe(0);
  });

  it("says until when a call waits, and that it waits no longer", async () => {
    const { clock, made, call, waits } = line({ atOnce: 1 });
    call("a");
    call("b");
    await settle();
    made[0]?.answer(refusal({ retryAfterMs: 50 }));
    const at = clock.now();
    await clock.advance(50);
    expect(waits).toEqual([
      ["b", null],
      ["a", at + 50],
      ["a", "over"],
    ]);
  });

  it("passes a handler's error on, and frees its slot", async () => {
    const { step, answer } = held();
    const thrown = new Error("no");
    let calls = 0;
    const limited = limitCalls(
      (call, context) => {
        if (calls++ === 0) throw thrown;
        return Promise.resolve(typeof step === "function" ? step(call, context) : step);
      },
      { atOnce: 1 },
    );
    const context = { signal: new AbortController().signal, clock: manualClock(), tools: [], onDelta: () => {} };
    await expect(limited(callOf("a"), context)).rejects.toBe(thrown);
    answer(says("."));
    await expect(limited(callOf("b"), context)).resolves.toMatchObject({ type: "completed" });
  });

  it("limitCalls returns a handler that names the keys of the given one, and can make a call if that one can", () => {
    const check = (): never => {
      throw new Error("no key");
    };
    const handler: LlmHandler = () => Promise.resolve(says("."));
    const limited = limitCalls(Object.assign(handler.bind(null), { secrets: () => ["sk-1"], check }), { atOnce: 1 });
    expect(limited.secrets?.()).toEqual(["sk-1"]);
    expect(() => limited.check?.()).toThrow("no key");
    expect(limitCalls(handler, { atOnce: 1 }).secrets?.()).toEqual([]);
  });

  it("names invalid limits", () => {
    const handler: LlmHandler = () => Promise.resolve(says("."));
    expect(() => limitCalls(handler, { atOnce: 0 })).toThrow("limitCalls: atOnce must be a whole number ≥ 1 (got 0)");
    expect(() => limitCalls(handler, { atOnce: 1, patienceMs: -1 })).toThrow(
      "patienceMs must be a whole number ≥ 0 (got -1)",
    );
    // JavaScript may pass this.
    expect(() => limitCalls(handler, { atonce: 1 } as never)).toThrow('limitCalls has no option "atonce"');
  });
});

/** Runs 200 one-turn conversations with default settings, against a server that refuses two of three calls. */
const conversations = async (limited: (handler: LlmHandler) => LlmHandler) => {
  const { clock, inner: store } = stored();
  let calls = 0;
  const server: LlmHandler = async () => {
    const refused = ++calls % 3 !== 0;
    await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + 300, resolve));
    return refused
      ? { type: "failed", failure: { kind: "rate_limit", message: "429", retryable: true, status: 429 } }
      : says("Hello.");
  };
  const host = createHost({ clock, ids: countingIds(), store, llm: limited(server), machine: conversationMachine() });
  const asked = Array.from({ length: 200 }, (_, index) => host.thread(`t${index}`).ask("hi"));
  const settled = Promise.allSettled(asked);
  await clock.advance(20 * 60_000);
  const failed = (await settled).filter(({ status }) => status === "rejected").length;
  const entries = await entriesOf(store, "t7");
  const parts = await Promise.all(asked.map(partsOf).map((each) => each.catch(() => [])));
  await host.close();
  return { calls, failed, entries, waited: parts.filter((each) => each.some(({ type }) => type === "wait.started")) };
};

it("all end well with a limiter, and their journals know nothing of refusals", async () => {
  const { calls, failed, entries, waited } = await conversations((handler) => limitCalls(handler, { atOnce: 8 }));
  expect(failed).toBe(0);
  expect(calls).toBe(600);
  expect(entries.map(({ event }) => event.type)).toEqual(["thread.started", "ask.received", "llm.completed"]);
  expect(waited.length).toBeGreaterThan(190);
});

const ways = ["tool", "beforeTurn", "beforeStep", "beforeToolCall", "handler"] as const;

test.each(ways)("threads that ask others by a %s are answered when the model takes one call at a time", async (way) => {
  let host: Host | null = null;
  const called = { now: 0, most: 0 };
  const askNext = async (threadId: string): Promise<string> => {
    const [level = "0", name = ""] = threadId.split("-");
    return level === "2" ? "" : ((await host?.ask("go on", { threadId: `${Number(level) + 1}-${name}` }))?.text ?? "");
  };
  const next = plain("next", (_, { threadId }) => (way === "tool" ? askNext(threadId) : ""));
  const usesTools = way === "tool" || way === "beforeToolCall";
  const leaf = limitCalls(
    async ({ threadId, step }) => {
      called.most = Math.max(called.most, ++called.now);
      await new Promise((resolve) => setImmediate(resolve));
      called.now--;
      return usesTools && step === 1 ? calls(["next", {}]) : says(`answer of ${threadId}`);
    },
    { atOnce: 1 },
  );
  const step = async (call: CallLlm, context: Parameters<typeof leaf>[1]): Promise<LlmOutcome> => {
    if (way === "handler") await askNext(call.threadId);
    return leaf(call, context);
  };
  const hook = async ({ threadId }: { readonly threadId: string }): Promise<void> => void (await askNext(threadId));
  const hooks: Hooks = way.startsWith("before") ? { [way]: hook } : {};
  const staged = stage({ tools: [next], hooks, script: Array.from({ length: 200 }, () => step) });
  ({ host } = staged);
  const asked = Array.from({ length: 20 }, (_, index) => staged.host.ask("hi", { threadId: `0-${index}` }));
  const results = await Promise.all(asked);
  expect(results.map(({ text }) => text)).toEqual(asked.map(({ threadId }) => `answer of ${threadId}`));
  expect([called.most, staged.model.calls.length]).toEqual([1, 20 * 3 * (usesTools ? 2 : 1)]);
  await staged.host.close();
  expect([called.now, staged.clock.sleepers]).toEqual([0, 0]);
});
