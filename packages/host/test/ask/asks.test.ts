import type { Signal, State } from "@colloquy/machine";
import { expect, test } from "vitest";
import { Ask } from "../../src/ask/ask.ts";
import { announce, Asks, withContext } from "../../src/ask/asks.ts";
import { EarlierAsk } from "../../src/ask/earlier-ask.ts";
import { TurnLog } from "../../src/turn-log/log.ts";
import type { AskPart } from "../../src/turn-log/parts.ts";
import { errorOf } from "../stage.ts";

/** Makes an ask that its thread has accepted. */
const askOf = (askId: string): Ask => {
  const ask = new Ask("t", askId, undefined, () => true);
  ask.accepted();
  ask.catch(() => {});
  return ask;
};

const earlier = (askId: string): EarlierAsk => new EarlierAsk("t", askId, { stop: () => true, attach: () => {} });

/** Makes the asks of a thread, with a recorder that notes the parts and has the log of one turn. */
const asksWith = (log: TurnLog = new TurnLog(1), newest: number | null = null) => {
  const parts: (readonly [turn: number, part: AskPart])[] = [];
  const begun: number[] = [];
  const asks = new Asks();
  asks.recordWith({
    begin: (turn) => void begun.push(turn),
    record: (turn, part) => void parts.push([turn, part]),
    log: (turn) => (turn === log.turn ? log : null),
    newest,
  });
  return { asks, parts, begun };
};

/** Makes a state with an open turn, or without one. Nothing else of it is read. */
const stateWith = (open: number | null): State =>
  ({ context: { open: open === null ? null : { number: open } } }) as unknown as State;

const started = { type: "turn.started", turn: 1, askIds: ["a"] } as const;

test("the asks of one id are kept beside one another, each until it is settled", () => {
  const asks = new Asks();
  const [one, two, other] = [askOf("a"), askOf("a"), askOf("b")];
  expect([asks.all(), asks.withId("a"), asks.areWaitedFor]).toEqual([[], [], false]);
  for (const ask of [one, two, other]) asks.add(ask);
  expect(asks.withId("a")).toEqual([one, two]);
  expect(asks.all()).toEqual([one, two, other]);
  one.fail(new Error("over"));
  expect([asks.withId("a"), asks.withId("b"), asks.areWaitedFor]).toEqual([[two], [other], true]);
  two.fail(new Error("over"));
  expect([asks.withId("a"), asks.all()]).toEqual([[], [other]]);
  other.fail(new Error("over"));
  expect([asks.all(), asks.areWaitedFor]).toEqual([[], false]);
  asks.add(other);
  expect(asks.all()).toEqual([other]);
});

test("a thread is kept open for an ask that code waits for, and not for the look-up of an earlier one", () => {
  const asks = new Asks();
  const lookUp = earlier("a");
  asks.add(lookUp);
  expect(asks.areWaitedFor).toBe(false);
  lookUp.catch(() => {});
  expect(asks.areWaitedFor).toBe(true);
  const others = new Asks();
  others.add(earlier("a"));
  others.add(askOf("b"));
  expect(others.areWaitedFor).toBe(true);
});

test("asks are found by their turn until they lose it, or are settled", () => {
  const { asks } = asksWith();
  const [one, two, waiting] = [askOf("a"), askOf("b"), askOf("c")];
  for (const ask of [one, two, waiting]) asks.add(ask);
  expect(asks.ofTurn(1)).toEqual([]);
  one.join(1);
  two.join(2);
  expect([asks.ofTurn(1), asks.ofTurn(2), asks.ofTurn(3)]).toEqual([[one], [two], []]);
  one.lost();
  expect([asks.ofTurn(1), asks.ofTurn(2)]).toEqual([[], [two]]);
  two.fail(new Error("over"));
  expect([asks.ofTurn(1), asks.ofTurn(2), asks.all()]).toEqual([[], [], [one, waiting]]);
  one.join(1);
  expect(asks.ofTurn(1)).toEqual([one]);
});

test.each(["before it is recorded", "after it is recorded", "before it is added"])(
  "an ask that has its turn %s is shown the parts of the turn",
  async (when) => {
    const log = new TurnLog(1);
    log.append(1, started);
    const ask = askOf("a");
    const asks = new Asks();
    const record = (): void =>
      asks.recordWith({ begin: () => {}, record: () => {}, log: (turn) => (turn === 1 ? log : null), newest: null });
    if (when === "before it is added") ask.join(1, false);
    if (when !== "before it is recorded") record();
    asks.add(ask);
    ask.join(1, false);
    if (when === "before it is recorded") record();
    expect(await ask[Symbol.asyncIterator]().next()).toEqual({ done: false, value: started });
  },
);

test("only the look-ups of earlier asks join the open turn, if it answers them", () => {
  const { asks } = asksWith();
  const [lookUp, other, own] = [earlier("a"), earlier("b"), askOf("a")];
  own.event = { type: "ask.received", at: 1, askId: "a", input: "hi" };
  for (const ask of [lookUp, other, own]) asks.add(ask);
  // Nothing else of a state is read.
  asks.joinOpenTurn({ context: { open: { number: 1, asks: [{ askId: "a" }] } } } as unknown as State);
  expect([lookUp.turn, other.turn, own.turn]).toEqual([1, null, null]);
});

test("a step is void only if something of it was shown", () => {
  const log = new TurnLog(1);
  const { asks, parts } = asksWith(log);
  asks.voidStep(1, 1);
  asks.voidStep(2, 1);
  expect(parts).toEqual([]);
  log.append(1, { type: "step.started", turn: 1, step: 1 });
  asks.voidStep(1, 2);
  expect(parts).toEqual([]);
  asks.voidStep(1, 1);
  expect(parts).toEqual([[1, { type: "thread.lost", turn: 1 }]]);
  // Before the thread is open, nothing was shown.
  new Asks().voidStep(1, 1);
});

test("asks end with their loop: a look-up is detached, and the others continue in another loop or fail", async () => {
  const reason = new Error("the lease is lost");
  const asks = new Asks();
  const [ask, lookUp] = [askOf("a"), earlier("b")];
  asks.add(ask);
  asks.add(lookUp);
  expect(asks.end(reason, true)).toEqual([ask]);
  expect([ask.settled, lookUp.settled, ask.isCarried]).toEqual([false, false, true]);
  for (let times = 2; times <= 16; times++) ask.carryOver();
  const next = new Asks();
  next.add(ask);
  expect(next.end(reason, true)).toEqual([]);
  expect(await errorOf(ask)).toBe(reason);
  const last = new Asks();
  const other = askOf("c");
  last.add(other);
  expect(last.end(reason, false)).toEqual([]);
  expect(await errorOf(other)).toBe(reason);
});

test("the tools of a turn get the context of its first ask over that of the host, as a record of their own", () => {
  const { asks } = asksWith();
  const [one, two] = ["one", "two"].map((user) => new Ask("t", user, { user }, () => true));
  for (const ask of [one, two]) {
    if (ask === undefined) continue;
    asks.add(ask);
    ask.join(1);
  }
  const host = { user: "nobody", room: 7 };
  expect(asks.toolContextOf(1, host)).toEqual({ user: "one", room: 7 });
  expect(asks.toolContextOf(2, host)).toEqual(host);
  expect(asks.toolContextOf(2, host)).not.toBe(host);
  const bare = Object.assign(Object.create(null) as object, { room: 7 });
  expect(withContext({ ...bare }, undefined)).toEqual({ room: 7 });
  expect(withContext(bare as typeof host, undefined)).not.toBe(bare);
  class Room {
    readonly room = 7;
  }
  const room = new Room();
  // The compiler does not take an instance of a class for a plain record.
  const instance = room as unknown as typeof host;
  expect(withContext(instance, undefined)).toBe(instance);
  expect(withContext(instance, { user: "one" })).toEqual({ user: "one", room: 7 });
});

test.each<readonly [Signal["type"], Signal]>([
  ["ask.joined", { type: "ask.joined", askId: "a", turn: 1 }],
  ["ask.delivered", { type: "ask.delivered", askId: "a", turn: 1, step: 2 }],
])("the signal %s gives its ask the turn, and is a part of the turn", (_, signal) => {
  const { asks, parts } = asksWith();
  const [ask, other] = [askOf("a"), askOf("b")];
  for (const each of [ask, other]) asks.add(each);
  announce(asks, signal, stateWith(1), undefined);
  expect([ask.turn, ask.isUnderWay, other.turn]).toEqual([1, true, null]);
  expect(parts).toEqual([[1, { type: "signal", signal }]]);
});

test("the start of a turn gives its asks the turn, from its beginning", () => {
  const { asks, parts, begun } = asksWith();
  const [ask, other] = [askOf("a"), askOf("b")];
  for (const each of [ask, other]) asks.add(each);
  announce(asks, started, stateWith(1), undefined);
  expect([ask.turn, ask.isUnderWay, other.turn, begun]).toEqual([1, false, null, [1]]);
  expect(parts).toEqual([[1, started]]);
});

test.each<readonly [string, Signal, string]>([
  ["withdrawn", { type: "ask.withdrawn", askId: "a" }, "TurnCancelledError"],
  ["superseded", { type: "ask.superseded", askId: "a", by: "b" }, "AskSupersededError"],
  ["returned", { type: "ask.returned", askId: "a", turn: 1 }, "AskReturnedError"],
])("an ask that is %s fails, and no other one", async (_, signal, name) => {
  const { asks, parts } = asksWith();
  const [ask, other] = [askOf("a"), askOf("b")];
  for (const each of [ask, other]) asks.add(each);
  announce(asks, signal, stateWith(null), undefined);
  expect(await errorOf(ask)).toMatchObject({ name });
  expect([other.settled, parts]).toEqual([false, []]);
});

test("a signal about a summary is shown in the open turn, and nowhere between turns", () => {
  const signal: Signal = { type: "summary.started", summary: 1, turns: { from: 1, to: 1 } } as unknown as Signal;
  const { asks, parts } = asksWith();
  announce(asks, signal, stateWith(null), undefined);
  expect(parts).toEqual([]);
  announce(asks, signal, stateWith(3), undefined);
  expect(parts).toEqual([[3, { type: "signal", signal }]]);
  // Before the thread is open, nothing is shown.
  announce(new Asks(), signal, stateWith(3), undefined);
});

test("a failure of a policy is shown in the newest turn that was shown, and nowhere without one", () => {
  const signal = { type: "policy.failed" } as unknown as Signal;
  const none = asksWith();
  announce(none.asks, signal, stateWith(2), undefined);
  const shown = asksWith(new TurnLog(1), 1);
  announce(shown.asks, signal, stateWith(2), undefined);
  expect([none.parts, shown.parts]).toEqual([[], [[1, { type: "signal", signal }]]]);
});
