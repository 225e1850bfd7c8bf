import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  lastTurnOf,
  type LimitReached,
  type Limits,
  type MachineOptions,
  phaseOf,
} from "../../src/index.ts";
import { calling, Talk } from "../talk.ts";

const tools = [{ name: "search" }];
const perToken = {
  name: "per-token",
  version: 1,
  options: {},
  price: ({ totalTokens }: { readonly totalTokens?: number }) =>
    totalTokens === undefined ? null : { nano: totalTokens * 10, currency: "USD" },
};

/** A turn of so many rounds, each of one call and 100 tokens; what it ended with. */
const rounds = (
  options: MachineOptions,
  count: number,
): { readonly limit: LimitReached | null; readonly calls: number; readonly talk: Talk } => {
  const talk = new Talk(conversationMachine({ tools, ...options }));
  talk.ask("Go.");
  let calls = 0;
  while (talk.state.context.open !== null && calls < count) {
    calls++;
    talk.reply(calling("search"), { usage: { totalTokens: 100 } });
    if (talk.state.context.open !== null) talk.result(0, "found");
  }
  const outcome = lastTurnOf(talk.state)?.outcome;
  return { limit: outcome !== undefined && "limit" in outcome ? outcome.limit : null, calls, talk };
};

describe("a limit ends the turn before it is passed", () => {
  test.each<readonly [Limits, number, LimitReached]>([
    [{ steps: 0 }, 0, { limit: "steps", allowed: 0, reached: 1 }],
    [{ steps: 3 }, 3, { limit: "steps", allowed: 3, reached: 4 }],
    [{ toolCalls: 0 }, 1, { limit: "toolCalls", allowed: 0, reached: 1 }],
    [{ toolCalls: 2 }, 3, { limit: "toolCalls", allowed: 2, reached: 3 }],
    [{ tokens: 0 }, 0, { limit: "tokens", allowed: 0, reached: 0 }],
    [{ tokens: 200 }, 2, { limit: "tokens", allowed: 200, reached: 200 }],
    [{ tokens: 201 }, 3, { limit: "tokens", allowed: 201, reached: 300 }],
    [{ costNano: 0 }, 0, { limit: "costNano", allowed: 0, reached: 0 }],
    [{ costNano: 2_000 }, 2, { limit: "costNano", allowed: 2_000, reached: 2_000 }],
    [{ deadlineMs: 0 }, 0, { limit: "deadlineMs", allowed: 0, reached: 0 }],
  ])("%j lets %i calls be made", (limits, calls, reached) => {
    const { limit, talk, ...run } = rounds({ limits, pricing: perToken }, 10);
    expect({ limit, calls: run.calls }).toEqual({ limit: reached, calls });
    expect(phaseOf(talk.state)).toBe("error");
    expect(talk.out()).toEqual([]);
  });

  test("ends a turn after 50 steps where nothing else is said", () => {
    expect(rounds({}, 200)).toMatchObject({ limit: { limit: "steps", allowed: 50, reached: 51 }, calls: 50 });
  });

  test("has no end without a limit", () => {
    expect(rounds({ limits: { steps: null } }, 200)).toMatchObject({ limit: null, calls: 200 });
  });

  test("lets an ask lift the limit of steps", () => {
    const talk = new Talk(conversationMachine({ tools, limits: { steps: 1 } }));
    talk.tell({ type: "ask.received", askId: "a", input: "Go.", limits: { steps: null } });
    talk.reply(calling("search"));
    talk.result(0, "found");
    expect(talk.call().step).toBe(2);
  });
});

describe("an ask lays its limits over the machine's", () => {
  test.each<readonly [Limits, Limits, number]>([
    [{ steps: 5 }, { steps: 1 }, 1],
    [{ steps: 1 }, { steps: 5 }, 5],
    [{ steps: 2 }, { toolCalls: 10 }, 2],
  ])("%j under %j lets %i steps be made", (own, laid, steps) => {
    const talk = new Talk(conversationMachine({ tools, limits: own }));
    talk.tell({ type: "ask.received", askId: "a", input: "Go.", limits: laid });
    for (let step = 0; talk.state.context.open !== null && step < 10; step++) {
      talk.reply(calling("search"));
      talk.result(0, "found");
    }
    expect(lastTurnOf(talk.state)?.steps).toBe(steps);
  });

  test("an invalid one is refused, and a queued one keeps its own", () => {
    const talk = new Talk(conversationMachine({ overlap: { type: "queue", max: 1 } }));
    expect(talk.refused({ type: "ask.received", askId: "a", input: "Go.", limits: { tokens: -1 } })).toMatchObject({
      kind: "invalid",
      reason: expect.stringContaining('"tokens" is -1'),
    });
    talk.ask("Go.");
    talk.tell({ type: "ask.received", askId: "b", input: "Go.", limits: { steps: 0 } });
    talk.reply("Gone.");
    talk.fire("queue");
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ status: "failed", limit: { limit: "steps" } });
  });
});

describe("a batch of calls is refused as a whole", () => {
  test("no tool of it runs, and each call has a result", () => {
    const talk = new Talk(conversationMachine({ tools, limits: { toolCalls: 2 } }));
    talk.ask("Go.");
    talk.reply(calling("search", "search", "search"));
    expect(talk.effects.filter(({ type }) => type === "callTool")).toEqual([]);
    expect(lastTurnOf(talk.state)).toMatchObject({ toolCalls: 0, outcome: { limit: { reached: 3 } } });
  });
});

describe("a deadline counts what is waited for", () => {
  test("no retry is begun that could not be made in time", () => {
    const talk = new Talk(conversationMachine({ limits: { deadlineMs: 1_000 }, retry: { baseDelayMs: 5_000 } }));
    talk.ask("Go.");
    talk.fail({ retryable: true });
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ status: "failed", failure: { kind: "overloaded" } });
  });

  test.each(["responding", "backing_off", "running"])("it stops a turn that is %s", (stage) => {
    const talk = new Talk(conversationMachine({ tools, limits: { deadlineMs: 100_000 } }));
    talk.ask("Go.");
    if (stage === "running") talk.reply(calling("search"));
    if (stage === "backing_off") talk.fail({ retryable: true });
    expect(talk.state.context.open?.stage.type).toBe(stage);
    talk.fire("deadline");
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({
      status: "failed",
      limit: { limit: "deadlineMs", allowed: 100_000 },
    });
    expect(talk.effects[0]?.type).toBe(
      { responding: "cancelLlm", backing_off: "cancelTimer", running: "cancelTool" }[stage],
    );
    expect(talk.out()).toEqual([]);
  });
});
