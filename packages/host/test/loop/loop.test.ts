import { SnapshotDamagedError } from "@colloquy/machine/storage";
import { expect, test } from "vitest";
import { Ask } from "../../src/ask/ask.ts";
import { ThreadClosedError } from "../../src/boundary/errors.ts";
import type { HostContext } from "../../src/context/host-context.ts";
import { Observation } from "../../src/context/hooks.ts";
import type { HeldLease } from "../../src/journal/lease.ts";
import { LeasedThread } from "../../src/loop/leased-thread.ts";
import { ThreadLoop } from "../../src/loop/loop.ts";
import { TurnLogs } from "../../src/turn-log/log.ts";
import { errorOf, says, settle, stage } from "../stage.ts";

test("an ask, and work on the state, fail with the reason for which the loop of their thread has ended", async () => {
  const ended: unknown[] = [];
  // A loop that ends before it takes a lease uses nothing of its host.
  const host = {} as unknown as HostContext;
  const loop = new ThreadLoop("t", host, { over: undefined, lost: null }, (...given) => ended.push(given));
  const early = new Ask("t", "early", undefined, () => true);
  loop.postAsk(early);
  const reason = new ThreadClosedError("t");
  loop.end(reason);
  loop.end(new Error("again"));
  const late = new Ask("t", "late", undefined, () => true);
  loop.postAsk(late);
  for (const failed of [early, late, loop.run(() => 1)])
    expect(await Promise.race([errorOf(failed), settle()])).toBe(reason);
  expect([loop.asks.all(), loop.mayCall(), loop.handOver(), loop.ranOut]).toEqual([[], false, false, false]);
  expect(ended).toEqual([[loop, []]]);
  await loop.released;
});

/** Makes the holder of a thread with one turn, which notes what it reports. */
const leased = async () => {
  const { host, store, clock } = stage({ script: [says("1")] });
  await host.ask("one");
  const reported: unknown[] = [];
  const observation = new Observation({}, [], (error) => reported.push(error));
  // No other members are used before the thread is opened.
  const context = {
    store,
    clock,
    observation,
    partLogging: null,
    logs: new TurnLogs(clock, 1),
  } as unknown as HostContext;
  const lease = { lease: { threadId: "default", owner: "o", token: 1 } } as HeldLease;
  const candidate = { threadId: "default", host: context } as unknown as ThreadLoop;
  const state = await host.thread().state();
  if (state === null) throw new Error("no thread");
  return { holder: new LeasedThread(lease, candidate, false), reported, state };
};

test("work on a state whose snapshot can't be read is done again with the state that the journal has", async () => {
  const { holder, reported, state } = await leased();
  const damage = new SnapshotDamagedError("a", "it is missing");
  const known: unknown[] = [];
  const worked: unknown[] = [];
  const done = await holder.withWholeState(
    state,
    (read) => known.push(read),
    async (each) => {
      worked.push(each);
      if (worked.length === 1) throw damage;
      return "done";
    },
  );
  expect([done, reported]).toEqual(["done", [damage]]);
  expect(known).toEqual([state]);
  expect(worked).toEqual([state, state]);
  expect(worked[1]).toBe(known[0]);
});

test("work on a state that fails for another reason is not done again", async () => {
  const { holder, reported, state } = await leased();
  const known: unknown[] = [];
  const failed = holder.withWholeState(
    state,
    (read) => known.push(read),
    async () => Promise.reject(new Error("broken")),
  );
  expect(await errorOf(failed)).toMatchObject({ message: "broken" });
  expect([known, reported]).toEqual([[], []]);
});
