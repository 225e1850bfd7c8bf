import { describe, expect, test } from "vitest";
import { lastTurnOf, type MachineOptions, promptOf, textOf, turnNumbered } from "../../src/index.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { asking, characterCounter, rolling } from "../hand-made.ts";
import { calling } from "../talk.ts";

// The next prompt does not fit without a summary: the call waits for it, once, and never for ever.

const options: MachineOptions = {
  policy: rolling({ keep: 0, when: "full", maxTokens: 90 }),
  counter: characterCounter,
  budget: { tokens: 110, reserve: 10 },
  tools: [{ name: "search" }],
  retry: { baseDelayMs: 0 },
};
const dropping: MachineOptions = {
  ...options,
  policy: rolling({ keep: 0, when: "full", maxTokens: 90, without: "drop" }),
};

const question = "z".repeat(20);
const heading = "Earlier in this conversation:\n[Turn 1] ";

/** A turn of 90 tokens has ended; all but 10 of what there is room for. */
const nearlyFull = (more: MachineOptions = options): CheckedTalk => {
  const talk = new CheckedTalk(more);
  talk.say("x".repeat(60), "y".repeat(30));
  return talk;
};

/** And one is asked that does not fit. */
const compacting = (more: MachineOptions = options): CheckedTalk => {
  const talk = nearlyFull(more);
  talk.ask(question);
  expect(talk.state.value).toEqual({ awaiting_llm: "compacting" });
  return talk;
};

describe("a prompt that does not fit", () => {
  test("waits for its summary: the turn is open, nothing is called but the summary, and a timer bounds the wait", () => {
    const talk = compacting();
    expect(talk.told()).toEqual(["turn.started", "context.warning", "startTimer", "summary.started", "callLlm"]);
    expect(talk.out()).toMatchObject([
      { type: "startTimer", purpose: "summary", id: "t/2.0#1!summary", dueAt: talk.now + 60_000 },
      { type: "callLlm", purpose: "summary", turn: 2 },
    ]);
    expect(talk.state.context.open).toMatchObject({ step: 0, stage: { type: "compacting", attempt: 1 } });
  });

  test("waits as long as its policy says", () => {
    const { summariser, ...policy } = rolling({ keep: 0, when: "full", maxTokens: 90 });
    if (summariser === undefined) throw new Error("no summariser");
    const talk = compacting({ ...options, policy: { ...policy, summariser: { ...summariser, waitMs: 5_000 } } });
    expect(talk.out()).toMatchObject([{ purpose: "summary", dueAt: talk.now + 5_000 }, {}]);
  });

  test("takes a summary of just as many tokens as are allowed", () => {
    const talk = compacting();
    talk.summarise("s".repeat(90));
    expect(talk.told()).toContain("summary.completed");
  });

  test("goes on when it has come", () => {
    const talk = compacting();
    talk.summarise("S1");
    expect(talk.told()).toEqual(["summary.completed", "cancelTimer", "callLlm"]);
    expect(talk.call()).toMatchObject({ id: "t/2.1#1", turn: 2, step: 1, attempt: 1 });
    expect(talk.sent()).toEqual([`${heading}S1`, question]);
    talk.reply("w");
    expect(lastTurnOf(talk.state)).toMatchObject({ steps: 1, usage: { calls: 2 }, outcome: { status: "completed" } });
    talk.replays();
  });

  const unfit = {
    tokens: 110,
    available: 100,
    budget: 110,
    reserve: 10,
    fixed: 20,
    largest: { message: "2.0", tokens: 20 },
  };
  const vain: readonly (readonly [string, (talk: CheckedTalk) => void, string])[] = [
    ["fails", (talk) => talk.failSummary(), "too busy"],
    ["is empty", (talk) => talk.summarise(""), "empty"],
    ["is cut off", (talk) => talk.summarise("S1", { finishReason: "length" }), "cut off"],
    ["is too long", (talk) => talk.summarise("s".repeat(91)), "91 tokens, and 90 are allowed"],
    ["asks for tools", (talk) => talk.summarise("", { reply: calling("search") }), "asked for tools"],
    ["does not come in time", (talk) => talk.fire("summary"), "did not come in time"],
  ];

  test.each(vain)("is not sent, and its numbers are published, when the summary %s", (_, outcome, reason) => {
    const talk = compacting();
    outcome(talk);
    expect(talk.state.value).toBe("error");
    expect(talk.signals()).toContainEqual(
      expect.objectContaining({ type: "summary.failed", reason: expect.stringContaining(reason) }),
    );
    expect(talk.signals()).toContainEqual({ type: "context.unfit", turn: 2, unfit });
    expect(lastTurnOf(talk.state)).toMatchObject({ outcome: { status: "failed", unfit }, steps: 0 });
    expect(talk.out()).toEqual([]);
    expect(turnNumbered(talk.state, 1)).toMatchObject({ summaryFailures: 1, messages: { length: 2 } });
    talk.replays();
  });

  test.each(vain)("does without, where its policy can, when the summary %s", (_, outcome) => {
    const talk = compacting(dropping);
    outcome(talk);
    expect(talk.call().id).toBe("t/2.1#1");
    expect(talk.sent()).toEqual([question]);
    talk.replays();
  });

  test("is not sent when it does not fit with the summary either", () => {
    const talk = compacting();
    talk.summarise("s".repeat(60));
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({
      unfit: { tokens: heading.length + 60 + 20, available: 100, fixed: 20 },
    });
    talk.ask("z");
    talk.summarise("S2");
    expect(talk.sent()).toEqual(["Earlier in this conversation:\n[Turns 1 to 2] S2", "z"]);
  });

  test("is not sent at once where no summary is wanted", () => {
    const talk = nearlyFull({ ...options, policy: asking(() => null) });
    talk.ask(question);
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ status: "failed", unfit });
    expect(talk.told()).toEqual(["turn.started", "context.warning", "context.unfit", "turn.ended", "thread.updated"]);
  });

  test("waits for a summary that is being written already, and asks for no second one", () => {
    const talk = nearlyFull({ ...options, policy: rolling({ keep: 0 }) });
    expect(talk.summary().turn).toBe(0);
    talk.ask(question);
    expect(talk.state.value).toEqual({ awaiting_llm: "compacting" });
    expect(talk.told()).not.toContain("callLlm");
    talk.summarise("S1");
    expect(talk.sent()).toEqual([`${heading}S1`, question]);
  });
});

describe("while a prompt waits for a summary", () => {
  test.each<readonly [string, (talk: CheckedTalk) => void, object]>([
    [
      "the deadline of the turn ends it",
      (talk) => talk.fire("deadline"),
      { status: "failed", limit: { limit: "deadlineMs", allowed: 1_000, reached: 1_000 } },
    ],
    [
      "cancelling ends it",
      (talk) => talk.tell({ type: "cancel.requested", reason: "bored" }),
      { status: "cancelled", reason: "bored" },
    ],
  ])("%s, and the summary is kept all the same when it comes", (_, stop, outcome) => {
    const talk = compacting({ ...options, limits: { deadlineMs: 1_000 } });
    stop(talk);
    expect(talk.state.value).toBe("error");
    expect(talk.told()).toContain("cancelTimer");
    expect(lastTurnOf(talk.state)).toMatchObject({ steps: 0, outcome, usage: { calls: 0 }, messages: { length: 1 } });
    expect(talk.out()).toMatchObject([{ type: "callLlm", purpose: "summary" }]);
    talk.summarise("S1", { usage: { totalTokens: 9 } });
    expect(lastTurnOf(talk.state)?.usage).toMatchObject({ calls: 1, totalTokens: { sum: 9 } });
    talk.ask("again");
    expect(talk.sent()).toEqual([`${heading}S1`, question, "again"]);
    talk.replays();
  });

  test("asks wait in the queue, and the first of them is woken when the turn ends unfit", () => {
    const talk = compacting({ ...options, overlap: { type: "queue", max: 1 } });
    talk.ask("next", "queued");
    expect(talk.signals()).toEqual([{ type: "ask.queued", askId: "queued", place: 1 }]);
    expect(talk.refused({ type: "ask.received", askId: "third", input: "x" }).kind).toBe("full");
    talk.failSummary();
    talk.fire("queue");
    expect(talk.state.value).toEqual({ awaiting_llm: "compacting" });
    talk.summarise("S1");
    expect(talk.sent()).toEqual(["Earlier in this conversation:\n[Turns 1 to 2] S1", "next"]);
  });

  test("asks are refused as busy where they do not queue, and so are edits", () => {
    const talk = compacting();
    expect(talk.refused({ type: "ask.received", askId: "second", input: "x" }).kind).toBe("busy");
    expect(talk.refused({ type: "head.moved", to: 0 }).kind).toBe("busy");
    expect(talk.refused({ type: "answer.truncated", turn: 1, characters: 1 }).kind).toBe("busy");
  });

  test("what is said, pinned or changed is in the prompt that it waits with", () => {
    const talk = compacting();
    talk.tell({ type: "message.appended", message: { role: "user", content: "also" } });
    talk.tell({ type: "system.changed", system: "Hi." });
    talk.tell({ type: "message.pinned", message: "2.0", pinned: true });
    talk.summarise("S1");
    expect(talk.sent()).toEqual(["Hi.", `${heading}S1`, question, "also"]);
  });

  test("what the next prompt would be if nothing came can be looked at", () => {
    const talk = compacting(dropping);
    const prompt = promptOf(talk.machine, talk.state);
    expect(prompt.messages.map(textOf)).toEqual([question]);
    expect(prompt).toMatchObject({ fits: true, tokens: 20, available: 100 });
    expect(promptOf(compacting().machine, compacting().state)).toMatchObject({ fits: false, tokens: 110 });
  });

  test("a larger budget makes room without it, once it has failed", () => {
    const talk = compacting().under({ ...options, budget: { tokens: 500, reserve: 0 } });
    talk.failSummary();
    expect(talk.sent()).toEqual(["x".repeat(60), "y".repeat(30), question]);
  });

  test("it can be stored and taken up again under no policy at all", () => {
    const talk = compacting().under({});
    talk.summarise("S1");
    expect(talk.sent()).toEqual(["x".repeat(60), "y".repeat(30), question]);
    expect(turnNumbered(talk.state, 1)?.summaries).toHaveLength(1);
  });
});

describe("a later call of a turn", () => {
  test("waits between the steps, and goes on with its round", () => {
    const talk = nearlyFull();
    talk.ask("z");
    talk.reply(calling("search"));
    talk.result(0, "found".repeat(4));
    expect(talk.state.value).toEqual({ awaiting_llm: "compacting" });
    expect(talk.state.context.open).toMatchObject({ step: 1, toolCalls: 1 });
    talk.summarise("S1");
    expect(talk.call()).toMatchObject({ id: "t/2.2#1", step: 2 });
    expect(talk.sent()).toEqual([`${heading}S1`, "z", "", "found".repeat(4)]);
    talk.replays();
  });

  test("after a tool that is not there too", () => {
    const talk = nearlyFull();
    talk.ask("z");
    talk.reply(calling("fly"));
    expect(talk.state.value).toEqual({ awaiting_llm: "compacting" });
    talk.failSummary();
    expect(lastTurnOf(talk.state)).toMatchObject({ steps: 1, outcome: { unfit: { available: 100 } } });
  });

  test("waits where it is a retry, and goes on as that attempt", () => {
    const talk = nearlyFull();
    talk.ask("z");
    talk.fail({ retryable: true });
    talk.tell({ type: "message.appended", message: { role: "user", content: question } });
    talk.fire("retry");
    expect(talk.out()[0]).toMatchObject({ type: "startTimer", purpose: "summary", id: "t/2.1#2!summary" });
    expect(talk.state.context.open?.stage).toMatchObject({ type: "compacting", attempt: 2 });
    talk.summarise("S1");
    expect(talk.call()).toMatchObject({ id: "t/2.1#2", step: 1, attempt: 2 });
    expect(talk.sent()).toEqual([`${heading}S1`, "z", question]);
    talk.replays();
  });

  test("that is a retry and can't be fitted counts the step that was made", () => {
    const talk = nearlyFull();
    talk.ask("z");
    talk.fail({ retryable: true });
    talk.tell({ type: "message.appended", message: { role: "user", content: question } });
    talk.fire("retry");
    talk.failSummary();
    expect(lastTurnOf(talk.state)).toMatchObject({ steps: 1, outcome: { unfit: { tokens: 111, fixed: 21 } } });
  });

  test.each([1, 2])("is not made when the summary used up what the turn may use (attempt %i)", (attempt) => {
    const talk = nearlyFull({ ...options, limits: { tokens: 50 } });
    if (attempt === 1) talk.ask(question);
    else {
      talk.ask("z");
      talk.fail({ retryable: true });
      talk.tell({ type: "message.appended", message: { role: "user", content: question } });
      talk.fire("retry");
    }
    expect(talk.state.context.open?.stage).toMatchObject({ type: "compacting", attempt });
    talk.summarise("S1", { usage: { totalTokens: 50 } });
    expect(lastTurnOf(talk.state)?.outcome).toEqual({
      status: "failed",
      limit: { limit: "tokens", allowed: 50, reached: 50 },
    });
    expect(talk.isCalling()).toBe(false);
    expect(turnNumbered(talk.state, 1)?.summaries).toHaveLength(1);
  });
});

test("a summary that comes after the wait is reported to have failed by then", () => {
  const talk = compacting(dropping);
  talk.fire("summary");
  expect(talk.effects).toContainEqual({ type: "cancelLlm", effectId: "t/summary-1#1" });
  const late = { effectId: "t/summary-1#1", reply: { content: "late" }, finishReason: "stop" };
  expect(talk.refused({ type: "llm.completed", ...late }).kind).toBe("stale");
  expect(talk.refused({ type: "timer.fired", effectId: "t/2.0#1!summary" }).kind).toBe("stale");
  expect(talk.state.context.open?.usage).toMatchObject({ calls: 1, totalTokens: { unreported: 1 } });
});
