import type { CallLlm } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { type Host, type Hooks, type LlmOutcome, tool } from "@colloquy/host";
import { ActiveThreads, type Worker } from "../../src/activity/active-threads.ts";
import { scopeUntilAwait } from "../../src/activity/code-scope.ts";
import { calls, says, settle, stage } from "../stage.ts";
import { spread } from "../../../../test/runs.ts";

/** How one thread asks the next one, `0-a` asking `1-a`. */
type Way = "tool" | "beforeTurn" | "beforeStep" | "beforeToolCall" | "handler" | "handler, later" | "append";

const tick = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Threads of so many levels, each of which asks the next in its own way, with the most models that were really called at
 * once: those whose handler waits for another thread aside. No time passes.
 */
const nested = (way: Way, levels: number, maxActive: number) => {
  let host: Host | null = null;
  const seen = { now: 0, most: 0 };
  const askNext = async (threadId: string): Promise<string> => {
    const [level = "0", name = ""] = threadId.split("-");
    const next = Number(level) + 1;
    if (next >= levels || host === null) return "";
    const thread = host.thread(`${next}-${name}`);
    if (way === "append") await thread.append({ role: "user", content: "noted" });
    return (await thread.ask("go on")).text;
  };
  const run = tool({
    name: "next",
    description: "",
    input: { jsonSchema: { type: "object" } },
    run: (_, { threadId }) => (way === "tool" ? askNext(threadId) : ""),
  });
  const handler = async ({ threadId, step }: CallLlm): Promise<LlmOutcome> => {
    seen.most = Math.max(seen.most, ++seen.now);
    await tick();
    if (way === "handler" || way === "append") await waitingFor(() => askNext(threadId));
    if (way === "handler, later") await tick().then(() => waitingFor(() => askNext(threadId)));
    seen.now--;
    const usesTools = way === "tool" || way === "beforeToolCall";
    return usesTools && step === 1 ? calls(["next", {}]) : says(`answer of ${threadId}`);
  };
  const waitingFor = async (work: () => Promise<string>): Promise<void> => {
    seen.now--;
    await work();
    // It continues at once. The thread that has its place meanwhile gives it back.
    seen.now++;
    seen.most = Math.max(seen.most, seen.now);
  };
  const hook = async ({ threadId }: { readonly threadId: string }): Promise<void> => void (await askNext(threadId));
  const hooks: Hooks = way.startsWith("before") ? { [way]: hook } : {};
  const staged = stage({ maxActive, tools: [run], hooks, script: Array.from({ length: 1_000 }, () => handler) });
  ({ host } = staged);
  return { host, clock: staged.clock, seen };
};

const ways: readonly Way[] = [
  "tool",
  "beforeTurn",
  "beforeStep",
  "beforeToolCall",
  "handler",
  "handler, later",
  "append",
];

describe("threads that ask other threads", () => {
  const cases = ways.flatMap((way) =>
    [2, 3].flatMap((levels) => [1, 2, 10].map((maxActive) => ({ way, levels, maxActive }))),
  );

  test.each(spread(cases, 14))(
    "by a $way, $levels deep under maxActive $maxActive, are all answered, and no timer is waited for",
    async ({ way, levels, maxActive }) => {
      const { host, seen, clock } = nested(way, levels, maxActive);
      const asked = Array.from({ length: 50 }, (_, index) => host.ask("hi", { threadId: `0-${index}` }));
      const results = await Promise.all(asked);
      expect(results.map(({ text }) => text)).toEqual(asked.map(({ threadId }) => `answer of ${threadId}`));
      expect(seen.most).toBeLessThanOrEqual(maxActive);
      await host.close();
      expect([seen.now, clock.sleepers]).toEqual([0, 0]);
    },
  );

  test("are answered before more is begun", async () => {
    const order: string[] = [];
    let host: Host | null = null;
    const askInner = tool({
      name: "askInner",
      description: "",
      input: { jsonSchema: { type: "object" } },
      run: async (_, { threadId }) => (await host?.ask("hi", { threadId: `inner of ${threadId}` }))?.text,
    });
    const handler = async ({ threadId, step }: CallLlm): Promise<LlmOutcome> => {
      await tick();
      order.push(`${threadId}.${step}`);
      return threadId.startsWith("inner") || step > 1 ? says("done") : calls(["askInner", {}]);
    };
    const staged = stage({ maxActive: 1, tools: [askInner], script: Array.from({ length: 20 }, () => handler) });
    ({ host } = staged);
    await Promise.all(["a", "b", "c"].map((threadId) => staged.host.ask("hi", { threadId })));
    expect(order.indexOf("a.2")).toBeLessThan(order.indexOf("c.1"));
    expect(order.indexOf("inner of a.1")).toBeLessThan(order.indexOf("c.1"));
  });

  test("may do so again and again, and iterate over what they are answered", async () => {
    let host: Host | null = null;
    const parts: string[] = [];
    const handler = async ({ threadId }: CallLlm): Promise<LlmOutcome> => {
      if (threadId !== "outer" || host === null) return says("inner");
      await host.ask("1", { threadId: "one" });
      for await (const part of host.ask("2", { threadId: "two" })) parts.push(part.type);
      const both = await Promise.all([host.ask("3", { threadId: "three" }), host.ask("4", { threadId: "four" })]);
      return says(both.map(({ text }) => text).join());
    };
    const staged = stage({ maxActive: 1, script: Array.from({ length: 20 }, () => handler) });
    ({ host } = staged);
    expect((await host.ask("hi", { threadId: "outer" })).text).toBe("inner,inner");
    expect(parts.at(-1)).toBe("turn.ended");
  });

  test("have no place while a tool of theirs waits for something else, after it has used a thread", async () => {
    let host: Host | null = null;
    const { promise, resolve } = Promise.withResolvers<string>();
    const handler = async ({ threadId, step }: CallLlm): Promise<LlmOutcome> => {
      if (threadId === "other") resolve("other was here");
      return threadId === "outer" && step === 1 ? calls(["next", {}]) : says("done");
    };
    const run = async (): Promise<string> => {
      await host?.thread("inner").append({ role: "user", content: "noted" });
      return promise;
    };
    const next = tool({ name: "next", description: "", input: { jsonSchema: { type: "object" } }, run });
    const staged = stage({ maxActive: 1, tools: [next], script: Array.from({ length: 9 }, () => handler) });
    ({ host } = staged);
    const outer = host.ask("hi", { threadId: "outer" });
    for (let round = 0; round < 9; round++) await settle();
    void host.ask("hi", { threadId: "other" });
    for (let round = 0; round < 9; round++) await settle();
    expect(staged.model.calls.map(({ threadId }) => threadId)).toEqual(["outer", "other", "outer"]);
    expect((await outer).text).toBe("done");
  });

  test("wait in line when what they waited for is withdrawn, and others had their place", async () => {
    let host: Host | null = null;
    const { promise, resolve } = Promise.withResolvers<LlmOutcome>();
    const handler = async ({ threadId }: CallLlm): Promise<LlmOutcome> => {
      if (threadId === "other") return promise;
      const inner = host?.ask("hi", { threadId: "held" });
      void settle().then(() => inner?.abort());
      await inner?.catch(() => {});
      return calls(["next", {}]);
    };
    const next = tool({ name: "next", description: "", input: { jsonSchema: { type: "object" } }, run: () => "" });
    const done = async (): Promise<LlmOutcome> => says("done");
    const staged = stage({ maxActive: 1, tools: [next], script: [handler, handler, done] });
    ({ host } = staged);
    await staged.store.acquire("held", "somebody", 1_000_000);
    const outer = host.ask("hi", { threadId: "outer" });
    const other = host.ask("hi", { threadId: "other" });
    for (let round = 0; round < 9; round++) await settle();
    // The handler continued; its next step waits for the place that the other has.
    expect(staged.model.calls.map(({ threadId }) => threadId)).toEqual(["outer", "other"]);
    resolve(says("other"));
    expect((await Promise.all([outer, other])).map(({ text }) => text)).toEqual(["done", "other"]);
  });
});

describe("a place that is lent", () => {
  /** Makes room for one active worker, workers that leave when asked, and a check whether one more gets a place. */
  const places = () => {
    const active = new ActiveThreads(1);
    const worker = (): Worker => {
      const made: Worker = { makeRoom: () => active.leave(made) };
      return made;
    };
    /** Whether somebody who comes now may work. */
    const isFree = (): boolean => {
      const next = worker();
      const entering = active.enter(next);
      active.leave(next);
      return entering === undefined;
    };
    return { active, worker, isFree };
  };

  test("is not given back to who rests by then, nor to who has left meanwhile", () => {
    for (const end of ["rests", "leaves", "leaves, then rests"]) {
      const { active, worker, isFree } = places();
      const lender = worker();
      void active.enter(lender);
      active.lend(lender);
      expect(isFree()).toBe(true);
      if (end !== "rests") active.leave(lender);
      if (end !== "leaves") active.report(lender, "rests");
      active.reclaim(lender);
      expect([end, isFree()]).toEqual([end, true]);
    }
  });

  test("is lent again by who took one since for something else", () => {
    const { active, worker, isFree } = places();
    const lender = worker();
    void active.enter(lender);
    active.report(lender, "rests");
    // Its tool waits.
    active.lend(lender);
    expect(active.enter(lender)).toBeUndefined();
    // And what it does beside.
    active.lend(lender);
    expect(isFree()).toBe(true);
    active.reclaim(lender);
    active.reclaim(lender);
    expect(isFree()).toBe(false);
    active.leave(lender);
    expect(isFree()).toBe(true);
  });

  test("is lent until nothing is waited for any more, also by who has left and come again meanwhile", () => {
    const { active, worker, isFree } = places();
    const lender = worker();
    void active.enter(lender);
    active.report(lender, "rests");
    active.lend(lender);
    // Somebody else comes, and it makes room.
    expect(isFree()).toBe(false);
    expect(isFree()).toBe(true);
    expect(active.enter(lender)).toBeUndefined();
    active.lend(lender);
    active.reclaim(lender);
    expect(isFree()).toBe(true);
    active.reclaim(lender);
    expect(isFree()).toBe(false);
  });
});

describe("whose code is running", () => {
  test("is known until it awaits, where the platform can't follow it further", async () => {
    const scope = scopeUntilAwait<string>();
    const seen: (string | null)[] = [];
    await scope.run("a", async () => {
      seen.push(scope.owner());
      scope.run(null, () => seen.push(scope.owner()));
      seen.push(scope.owner());
      await tick();
      seen.push(scope.owner());
    });
    expect(seen).toEqual(["a", null, "a", null]);
    expect(() =>
      scope.run("b", () => {
        throw new Error("it fails");
      }),
    ).toThrow("it fails");
    expect(scope.owner()).toBeNull();
  });

  test("is known all along on Node", async () => {
    const { code } = new ActiveThreads(1);
    const worker: Worker = { makeRoom: () => {} };
    await code.run(worker, async () => {
      await tick();
      expect(code.owner()).toBe(worker);
    });
    expect(code.owner()).toBeNull();
  });
});
