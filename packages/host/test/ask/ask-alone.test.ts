// An ask without a thread: what its methods do to its outcome.
import { getEventListeners } from "node:events";
import type { Refusal, State } from "@colloquy/machine";
import { expect, test } from "vitest";
import { Ask } from "../../src/ask/ask.ts";
import { errorOf, says, settle, stage } from "../stage.ts";

/** Makes an ask that notes how it is stopped, and what its watcher is told. */
const asking = (isUnhandled = true) => {
  const calls: string[] = [];
  const ask = new Ask("t", "a", undefined, (_, reason) => {
    calls.push(`stop ${reason}`);
    return isUnhandled;
  });
  ask.watcher = {
    joined: ({ turn }) => calls.push(`joined ${turn}`),
    left: () => calls.push("left"),
    settled: () => calls.push("settled"),
  };
  return { ask, calls };
};

/** Returns the outcome of an ask, or null if it has none yet. */
const outcomeOf = (ask: Ask): Promise<unknown> => Promise.race([errorOf(ask), settle().then(() => null)]);

const stale: Refusal = { kind: "stale", reason: "it was made before" };
const busy: Refusal = { kind: "busy", reason: "a turn is open" };

test("an ask that is aborted before it was handled is cancelled with the reason, and is stopped only once", async () => {
  const { ask, calls } = asking();
  ask.abort("enough");
  ask.abort("again");
  expect(await outcomeOf(ask)).toMatchObject({
    name: "TurnCancelledError",
    reason: "enough",
    summary: { threadId: "t", askId: "a", turn: null },
  });
  expect(calls).toEqual(["stop enough", "settled"]);
  const silent = asking();
  silent.ask.abort();
  expect(await outcomeOf(silent.ask)).toMatchObject({ reason: null });
});

test("an ask that is aborted after it was handled waits for its turn to end", async () => {
  const { ask, calls } = asking(false);
  ask.abort("enough");
  expect([await outcomeOf(ask), ask.settled, calls]).toEqual([null, false, ["stop enough"]]);
});

test("an ask whose signal is aborted already is cancelled with its reason, and stops nothing", async () => {
  const { ask, calls } = asking();
  const reason = new Error("closed");
  ask.listenTo(AbortSignal.abort(reason));
  expect(await outcomeOf(ask)).toMatchObject({ name: "TurnCancelledError", reason: "closed", cause: reason });
  expect(calls).toEqual(["settled"]);
});

test("an ask listens to its signal until it is settled", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const { ask, calls } = asking();
  ask.listenTo(signal);
  const other = asking();
  other.ask.listenTo(signal);
  other.ask.fail(new Error("over"));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  controller.abort("no longer");
  expect(await outcomeOf(ask)).toMatchObject({ reason: "no longer", cause: "no longer" });
  expect([calls, other.calls]).toEqual([["stop no longer", "settled"], ["settled"]]);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("an ask that is withdrawn without its signal has no cause", async () => {
  const { ask } = asking();
  ask.listenTo(new AbortController().signal);
  ask.withdraw();
  const error = await outcomeOf(ask);
  expect(error).toMatchObject({ name: "TurnCancelledError", reason: null });
  expect(error).not.toHaveProperty("cause");
});

test("an ask keeps its first outcome, and shows it to readers", async () => {
  const { ask, calls } = asking();
  const first = new Error("first");
  ask.fail(first);
  ask.fail(new Error("second"));
  expect([await outcomeOf(ask), calls]).toEqual([first, ["settled"]]);
  expect(await errorOf(ask[Symbol.asyncIterator]().next())).toBe(first);
  const calledBack: unknown[] = [];
  expect(await ask.catch((error) => [error])).toEqual([first]);
  expect(await errorOf(ask.finally(() => void calledBack.push("finally")))).toBe(first);
  expect(calledBack).toEqual(["finally"]);
});

test("an ask joins a turn once, and none after its end", () => {
  const { ask, calls } = asking();
  expect([ask.turn, ask.isUnderWay, ask.cursor]).toEqual([null, false, null]);
  ask.join(3);
  ask.join(3, false);
  expect([ask.turn, ask.isUnderWay]).toEqual([3, true]);
  ask.join(4, false);
  expect([ask.turn, ask.isUnderWay]).toEqual([4, false]);
  ask.catch(() => {});
  ask.fail(new Error("over"));
  ask.join(5);
  expect([ask.turn, calls]).toEqual([4, ["joined 3", "joined 4", "settled"]]);
});

test("an ask that is lost loses its turn, and its readers are told if it had one", async () => {
  const { ask, calls } = asking();
  expect(ask.lost()).toBe(true);
  ask.join(2);
  expect(ask.lost()).toBe(true);
  expect([ask.turn, calls]).toEqual([null, ["left", "joined 2", "left"]]);
  expect(await ask[Symbol.asyncIterator]().next()).toEqual({ done: false, value: { type: "thread.lost", turn: 2 } });
  const unjoined = asking().ask;
  expect(unjoined.lost()).toBe(true);
  const part = Promise.race([unjoined[Symbol.asyncIterator]().next(), settle()]);
  expect(await part).toBeUndefined();
});

test("readers of an ask that is carried over are told that its step is void, if it had a turn and continues", async () => {
  const { ask } = asking();
  ask.join(2);
  expect([ask.carryOver(), ask.watcher, ask.turn]).toEqual([true, null, 2]);
  expect(await ask[Symbol.asyncIterator]().next()).toEqual({ done: false, value: { type: "thread.lost", turn: 2 } });
  const late = asking().ask;
  for (let times = 1; times <= 16; times++) expect(late.carryOver()).toBe(true);
  late.join(2);
  expect(late.carryOver()).toBe(false);
  expect(await Promise.race([late[Symbol.asyncIterator]().next(), settle()])).toBeUndefined();
});

test("an ask that moves to another thread leaves its watcher, and forgets how it was asked here", () => {
  const { ask, calls } = asking();
  ask.event = { type: "ask.received", at: 1, askId: "a", input: "hi" };
  ask.inboxId = "item";
  ask.whenBusy = () => {};
  ask.moveTo("other");
  expect([ask.threadId, ask.event, ask.inboxId, ask.whenBusy, ask.watcher]).toEqual(["other", null, null, null, null]);
  expect([calls, ask.settled]).toEqual([["settled"], false]);
});

test("an ask that is refused as busy finds another thread if it may, and fails otherwise", async () => {
  const { ask } = asking();
  let forks = 0;
  ask.whenBusy = () => void forks++;
  ask.refused(busy, null);
  expect([forks, await outcomeOf(ask)]).toEqual([1, null]);
  ask.refused({ kind: "full", reason: "no room" }, null);
  expect([forks, await outcomeOf(ask)]).toEqual([1, expect.objectContaining({ name: "AskRefusedError" })]);
  const other = asking().ask;
  other.refused(busy, null);
  expect(await outcomeOf(other)).toMatchObject({ name: "AskRefusedError", refusal: busy, askId: "a" });
});

test("a repeated ask waits for the turn that answers it if its refusal names that, and fails otherwise", async () => {
  const { ask } = asking();
  ask.refused({ ...stale, turn: 4 }, null);
  expect([ask.turn, ask.isUnderWay, await outcomeOf(ask)]).toEqual([4, true, null]);
  const unknown = asking().ask;
  unknown.refused(stale, null);
  expect(await outcomeOf(unknown)).toMatchObject({ name: "AskRefusedError", refusal: stale });
  const invalid = asking().ask;
  invalid.refused({ kind: "invalid", reason: "no", turn: 4 }, null);
  expect([invalid.turn, await outcomeOf(invalid)]).toEqual([
    null,
    expect.objectContaining({ name: "AskRefusedError" }),
  ]);
});

test("a repeated ask gets its outcome from the state, and an unknown one gets none", async () => {
  const { host } = stage({ script: [says("1")] });
  await host.ask("hi", { askId: "a" });
  const state = await host.thread().state();
  if (state === null) throw new Error("no thread");
  const { ask } = asking();
  ask.refused(stale, state);
  expect((await ask).text).toBe("1");
  const other = new Ask("default", "b", undefined, () => true);
  expect([other.isKnownTo(state), other.settled]).toEqual([false, false]);
  other.refused(stale, state);
  expect(await outcomeOf(other)).toMatchObject({ name: "AskRefusedError" });
});

test("an ask joins the open turn only if the turn answers it", () => {
  // Nothing else of a state is read.
  const stateWith = (open: unknown): State => ({ context: { open } }) as unknown as State;
  const { ask } = asking();
  ask.joinOpenTurn(stateWith(null));
  ask.joinOpenTurn(stateWith({ number: 2, asks: [{ askId: "b" }] }));
  expect(ask.turn).toBeNull();
  ask.joinOpenTurn(stateWith({ number: 2, asks: [{ askId: "b" }, { askId: "a" }] }));
  expect([ask.turn, ask.isUnderWay]).toEqual([2, true]);
});
