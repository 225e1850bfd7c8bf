// The log of a turn that another host, or an engine, works on.
import { turnNumbered } from "@colloquy/machine";
import { expect, test } from "vitest";
import { Asks } from "../../src/ask/asks.ts";
import type { HostContext } from "../../src/context/host-context.ts";
import { FollowedLog } from "../../src/delegation/followed-log.ts";
import { TurnLogs } from "../../src/turn-log/log.ts";
import type { AskPart } from "../../src/turn-log/parts.ts";
import { manualClock, says, stage } from "../stage.ts";

const retry: AskPart = {
  type: "signal",
  signal: { type: "retry.scheduled", turn: 1, attempt: 2, dueAt: 5, because: "network" },
};
const delta = (turn: number, text: string): AskPart => ({ type: "text.delta", turn, step: 1, attempt: 1, text });
const started = (turn: number): AskPart => ({ type: "turn.started", turn, askIds: ["a"] });

/** Makes the log of an engine's thread, and counts how often it waits for the journal. */
const followed = () => {
  const clock = manualClock();
  const logs = new TurnLogs(clock, 1_000);
  const waits: number[] = [];
  // A log reads no other members.
  const host = { owner: "owner", clock, logs, partLogging: null } as unknown as HostContext;
  const log = new FollowedLog({ threadId: "t", host, asks: new Asks() }, () => waits.push(1));
  log.isHeard = true;
  const typesOf = (turn: number): readonly string[] => logs.of("t", turn)?.parts.map(({ type }) => type) ?? [];
  return { log, waits, typesOf };
};

/** Returns the state of a thread with two turns. */
const twoTurns = async () => {
  const { host } = stage({ script: [says("one"), says("two")] });
  await host.ask("1", { askId: "a" });
  await host.ask("2", { askId: "b" });
  const state = await host.thread().state();
  if (state === null) throw new Error("no thread");
  return state;
};

test("a follower shows the parts that it heard of a turn before the end that the journal has", async () => {
  const turn = turnNumbered(await twoTurns(), 1);
  const { log, typesOf } = followed();
  log.beginRead();
  for (const part of [started(1), retry, delta(1, "one")]) log.hear(1, part);
  log.hear(1, { type: "turn.ended", turn: 1, status: "completed" });
  log.hear(2, delta(2, "later"));
  expect(typesOf(1)).toEqual([]);
  if (turn === undefined) throw new Error("no turn");
  log.complete(turn);
  expect(typesOf(1)).toContain("signal");
  expect(typesOf(1).at(-1)).toBe("turn.ended");
  expect(typesOf(2)).toEqual([]);
});

test("a follower shows what it heard of a new turn once the journal was read that far", () => {
  const { log, waits, typesOf } = followed();
  log.beginRead();
  log.hear(1, delta(1, "one"));
  expect([typesOf(1), waits.length]).toEqual([[], 1]);
  log.record(1, started(1));
  log.endRead();
  expect(typesOf(1)).toEqual(["turn.started", "text.delta"]);
  log.hear(1, delta(1, "more"));
  expect([typesOf(1), waits.length]).toEqual([["turn.started", "text.delta"], 1]);
});

test("a follower shows a part of the journal after those that it heard before it, and not after the turn's end", () => {
  const { log, typesOf } = followed();
  log.beginRead();
  for (const part of [started(1), delta(1, "one")]) log.hear(1, part);
  log.record(1, started(1));
  const ended: AskPart = { type: "turn.ended", turn: 1, status: "completed" };
  for (const part of [ended, delta(1, "late")]) log.hear(1, part);
  log.record(1, ended);
  log.endRead();
  expect(typesOf(1)).toEqual(["turn.started", "text.delta", "turn.ended"]);
});

test("a follower ignores news that is no part of a turn", () => {
  const { log, waits, typesOf } = followed();
  for (const news of [null, "text", {}, { type: "no.such.part" }]) log.hear(1, news);
  log.beginRead();
  log.endRead();
  expect([typesOf(1), waits.length]).toEqual([[], 0]);
});

test("a follower that knows the journal drops news of ended turns, and keeps those of later ones until it is read", async () => {
  const { log, waits, typesOf } = followed();
  log.knows(await twoTurns());
  log.hear(2, delta(2, "late"));
  expect([typesOf(2), waits.length]).toEqual([[], 0]);
  log.hear(3, delta(3, "new"));
  expect([typesOf(3), waits.length]).toEqual([[], 1]);
  log.beginRead();
  log.endRead();
  expect([typesOf(1), typesOf(2), typesOf(3)]).toEqual([[], [], ["text.delta"]]);
});
