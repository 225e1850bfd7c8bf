import {
  type CallLlm,
  conversationMachine,
  type LaterEntry,
  type MachineOptions,
  outstanding,
  start,
  type State,
  transition,
} from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";
import { describe, expect, it } from "vitest";
import {
  brokenByDecision,
  brokenByPrompt,
  brokenBySummary,
  type PromptRules,
  rulesOf,
} from "../../../src/simulate/checks/prompts.ts";
import { checkWait, isBeingWritten } from "../../../src/simulate/checks/recovery.ts";
import { noFaults } from "../../../src/simulate/index.ts";
import { SimulatedProcess } from "../../../src/simulate/world/process.ts";
import type { WatchedJournal } from "../../../src/simulate/checks/watched-journal.ts";
import { World } from "../../../src/simulate/world/world.ts";

// The machine prevents these mistakes in any host, so the checks get a wrong prompt.

const rules = (options: MachineOptions, known: Partial<PromptRules> = {}): PromptRules =>
  rulesOf(options, { isOurs: true, findsRoom: false, ...known });

const told = (
  options: MachineOptions,
  ...events: readonly object[]
): { readonly state: State; readonly last: LaterEntry } => {
  const machine = conversationMachine(options);
  let { state } = start(machine, { threadId: "t", system: "Help.", at: 0 });
  let last: LaterEntry | null = null;
  for (const event of events) {
    // The tests below give complete events, except for the time.
    const step = transition(machine, state, { at: 1, ...event } as Parameters<typeof transition>[2]);
    if (!step.handled) throw new Error(step.refusal.reason);
    ({ state, entry: last } = step);
  }
  if (last === null) throw new Error("nothing was told");
  return { state, last };
};

const asked = { type: "ask.received", askId: "a", input: "How are you, on the whole?" };

const callOf = (state: State): CallLlm => {
  const call = outstanding(state).find((effect) => effect.type === "callLlm");
  if (call === undefined) throw new Error("no call is out");
  return call;
};

describe("brokenByPrompt", () => {
  const { state } = told({}, asked);
  const call = callOf(state);

  it("finds a prompt that does not fit", () => {
    const { length } = call.messages;
    expect(length).toBe(2);
    expect(brokenByPrompt(rules({ budget: { tokens: 30, reserve: 0 } }), call, state)).toBeNull();
    expect(brokenByPrompt(rules({ budget: { tokens: 30, reserve: 20 } }), call, state)?.[0]).toBe("P4");
  });

  it("counts as the model does, where that says more", () => {
    const measured = { ...state, context: { ...state.context, measured: { counted: 10, reported: 25 } } };
    const budget = { tokens: 30, reserve: 0 };
    expect(brokenByPrompt(rules({ budget }), call, measured)?.[1]).toContain("room for 12");
    expect(brokenByPrompt(rules({ budget, calibrate: false }), call, measured)).toBeNull();
  });

  it("finds a message that was not said, and one in the wrong place", () => {
    const [system, question] = call.messages;
    if (system === undefined || question === undefined) throw new Error("there are two");
    const strange = { ...call, messages: [system, { ...question, id: "9.9" }] };
    expect(brokenByPrompt(rules({}), strange, state)?.[0]).toBe("P1");
    const twice = { ...call, messages: [system, question, question] };
    expect(brokenByPrompt(rules({}), twice, state)?.[0]).toBe("P1");
  });

  it("finds a pinned message that is not shown, or not whole", () => {
    const { state: pinned } = told({}, asked, { type: "message.pinned", message: "1.0", pinned: true });
    expect(brokenByPrompt(rules({}), call, pinned)).toBeNull();
    expect(brokenByPrompt(rules({}), { ...call, messages: call.messages.slice(0, 1) }, pinned)?.[0]).toBe("P3");
    const shorter = call.messages.map((message) => ({ ...message, parts: [] }));
    expect(brokenByPrompt(rules({}), { ...call, messages: shorter }, pinned)?.[0]).toBe("P3");
  });
});

describe("brokenByDecision", () => {
  const tooSmall = { budget: { tokens: 5, reserve: 0 } };
  const { state, last } = told(tooSmall, asked);
  const unfit = last.decided?.unfit;
  if (unfit === undefined) throw new Error("it fits");

  it("takes what does not fit for that, and finds what does", () => {
    expect(brokenByDecision(rules(tooSmall, { findsRoom: true }), last, state)).toBeNull();
    const roomy = { ...last, decided: { unfit: { ...unfit, available: unfit.tokens } } };
    expect(brokenByDecision(rules(tooSmall), roomy, state)?.[0]).toBe("P4");
  });

  it("finds that a policy which finds room has found none where some was", () => {
    const wasteful = { ...last, decided: { unfit: { ...unfit, fixed: 4, available: 5 } } };
    expect(brokenByDecision(rules(tooSmall, { findsRoom: true }), wasteful, state)?.[0]).toBe("P4");
    expect(brokenByDecision(rules(tooSmall, { findsRoom: false }), wasteful, state)).toBeNull();
  });

  it("finds that a policy of ours failed, and lets others fail", () => {
    const failed = { ...last, decided: { policyFailed: "it threw" } };
    expect(brokenByDecision(rules({}), failed, state)?.[0]).toBe("M2");
    expect(brokenByDecision(rules({}, { isOurs: false }), failed, state)).toBeNull();
  });
});

describe("brokenBySummary", () => {
  const options = { policy: compactTurns({ keepTurns: 0, at: 0 }), budget: { tokens: 2_000, reserve: 0 } };
  const answer = { type: "llm.completed", effectId: "t/1.1#1", reply: { content: "Fine." }, finishReason: "stop" };
  const summary = { ...answer, effectId: "t/summary-1#1", reply: { content: "All is fine." } };
  const { state: before } = told(options, asked, answer);
  const { state: after, last } = told(options, asked, answer, summary);

  it("finds one that changes what was said", () => {
    expect(brokenBySummary(before, last, after)).toBeNull();
    expect(brokenBySummary(before, last, told({}, asked).state)?.[0]).toBe("P10");
  });

  it("finds one that is used, and can't be", () => {
    const { event } = last;
    if (event.type !== "llm.completed") throw new Error("it completed");
    for (const bad of [
      { reply: { content: " " } },
      { finishReason: "length" },
      { reply: { content: "", toolCalls: [] } },
    ]) {
      const used = { ...last, event: { ...event, ...bad } };
      expect(brokenBySummary(before, used, after)?.[0]).toBe("P10");
      expect(brokenBySummary(before, { ...used, decided: { summaryFailed: "it says nothing" } }, after)).toBeNull();
    }
  });

  it("finds a prompt that shows one of what is not on the path", () => {
    const { state } = told(options, asked, answer, summary, { ...asked, askId: "b" });
    const call = callOf(state);
    expect(call.messages.map(({ id }) => id)).toContain("summary.1-1.1");
    expect(brokenByPrompt(rules(options), call, state)).toBeNull();
    const { state: undone } = told(
      options,
      asked,
      answer,
      summary,
      { type: "head.moved", to: 0 },
      { ...asked, askId: "b" },
    );
    const messages = [...call.messages.slice(0, 2), ...callOf(undone).messages.slice(-1)];
    expect(brokenByPrompt(rules(options), { ...call, messages }, undone)?.[0]).toBe("P8");
  });
});

describe("a call that waits for a summary", () => {
  const compacting = { type: "compacting", attempt: 1, dueAt: 0 } as const;
  const { state: open, last: entry } = told({}, asked);

  const waited = async (until: number, change: (process: SimulatedProcess) => void = () => {}): Promise<unknown> => {
    const world = new World(1, noFaults, []);
    const process = new SimulatedProcess(world, "server-1", () => {});
    process.opening = {
      token: 1,
      drop: async () => {},
      performed: new Map(),
      until: Infinity,
      loaded: true,
      over: false,
      lapsed: false,
      superseded: false,
    };
    const dueAt = world.clock.now() + 100;
    const { context } = open;
    if (context.open === null) throw new Error("it is open");
    const stuck = { ...open, context: { ...context, open: { ...context.open, stage: { ...compacting, dueAt } } } };
    // The only members that the check reads.
    const journal = { newestToken: 1, state: stuck, outstanding: [] } as unknown as WatchedJournal;
    checkWait(world, [process], journal, { ...entry, decided: { compacting: { dueAt } } });
    expect(isBeingWritten(process, journal)).toBe(false);
    change(process);
    try {
      await world.run(world.sleep(until));
      return null;
    } catch (error) {
      return error;
    }
  };

  it("must not wait longer than it said", async () => {
    expect(await waited(99)).toBeNull();
    expect(await waited(1_000)).toMatchObject({ law: "settles" });
  });

  it("may, where its process is gone", async () => {
    expect(await waited(1_000, (process) => process.crash("in a test"))).toBeNull();
  });
});
