// A lease that renews itself, without a thread.
import type { Entry } from "@colloquy/machine";
import { type Store, StoreError, StoreTimeoutError } from "@colloquy/host";
import { expect, test } from "vitest";
import type { HostContext } from "../../src/context/host-context.ts";
import { Observation } from "../../src/context/hooks.ts";
import { HeldLease, renewMsOf } from "../../src/journal/lease.ts";
import { overriding } from "../gated-store.ts";
import { errorOf, settle, stored } from "../stage.ts";

/** Takes the lease of a thread for 9 seconds from a store with some changed methods. */
const leaseFrom = async (change: Partial<Store> = {}) => {
  const { clock, inner } = stored();
  const reported: string[] = [];
  const lost: string[] = [];
  const calls: string[] = [];
  const store = overriding(inner, {
    ...change,
    renew: async (lease, ttlMs) => {
      calls.push(`renew ${ttlMs}`);
      return change.renew?.(lease, ttlMs) ?? true;
    },
    release: async () => void calls.push("release"),
  });
  const observation = new Observation({}, [], (error) => reported.push(String(error)));
  // A lease uses no other members.
  const host = { clock, store, observation, owner: "o", leaseTtlMs: 9_000 } as unknown as HostContext;
  const held = await HeldLease.take("t", host, ({ name }) => lost.push(name));
  if (held === null) throw new Error("no lease");
  return { clock, held, reported, lost, calls, host };
};

test("a lease is renewed at a third of its time, and runs out at its end", async () => {
  expect([9_000, 9_001, 10].map(renewMsOf)).toEqual([3_000, 3_001, 4]);
  const { clock, held, calls, lost } = await leaseFrom();
  await clock.advance(2_999);
  expect(calls).toEqual([]);
  await clock.advance(1);
  expect(calls).toEqual(["renew 9000"]);
  await clock.advance(6_000);
  expect([calls.length, held.ranOut, lost]).toEqual([3, false, []]);
});

test("a lease that cannot be renewed in time is lost at its end, and not before", async () => {
  const { clock, held, calls, lost, reported } = await leaseFrom({ renew: () => Promise.reject(new Error("away")) });
  await clock.advance(8_999);
  expect([held.ranOut, lost, calls.length]).toEqual([false, [], 2]);
  await clock.advance(1);
  expect([held.ranOut, lost, calls.length]).toEqual([true, ["LeaseLostError"], 3]);
  expect(reported).toEqual(["Error: away", "Error: away", "Error: away"]);
  await clock.advance(20_000);
  expect([calls.length, clock.sleepers]).toEqual([3, 0]);
});

test("a lease that another host has taken is lost at once, without a report", async () => {
  const { clock, lost, reported } = await leaseFrom({ renew: async () => false });
  await clock.advance(3_000);
  expect([lost, reported, clock.sleepers]).toEqual([["LeaseLostError"], [], 0]);
});

test("a lease lasts from when its renewal was asked for, not from its answer", async () => {
  const answers: (() => void)[] = [];
  const { clock, held, calls } = await leaseFrom({
    renew: () => new Promise((resolve) => answers.push(() => resolve(true))),
  });
  await clock.advance(5_000);
  answers[0]?.();
  await settle();
  // The next one is due at twice a third of its time, whenever this one was answered.
  await clock.advance(999);
  expect(calls).toHaveLength(1);
  await clock.advance(1);
  expect(calls).toHaveLength(2);
  await clock.advance(5_999);
  expect(held.ranOut).toBe(false);
  await clock.advance(1);
  expect(held.ranOut).toBe(true);
});

test("a lease is released if nothing is outstanding, and otherwise runs out at once", async () => {
  const left = await leaseFrom();
  await left.held.end();
  expect([left.calls, left.clock.sleepers]).toEqual([["renew 0"], 0]);
  const over = await leaseFrom();
  over.held.isOver = true;
  await over.held.end();
  expect([over.calls, over.clock.sleepers]).toEqual([["release"], 0]);
});

test.each([
  [false, ["renew 9000", "renew 0", "renew 0"]],
  [true, ["renew 9000", "release"]],
])(
  "a lease that is given back while it is renewed runs out again only if work is outstanding",
  async (isOver, expected) => {
    const answers: ((isKept: boolean) => void)[] = [];
    const { clock, held, calls, lost } = await leaseFrom({
      renew: (_, ttlMs) => (ttlMs === 0 ? Promise.resolve(true) : new Promise((resolve) => answers.push(resolve))),
    });
    await clock.advance(3_000);
    held.isOver = isOver;
    await held.end();
    answers[0]?.(true);
    await settle();
    expect([calls, lost, clock.sleepers]).toEqual([expected, [], 0]);
  },
);

test("a lease that was lost while it was given back is left alone", async () => {
  const answers: ((isKept: boolean) => void)[] = [];
  const { clock, held, calls, lost } = await leaseFrom({
    renew: (_, ttlMs) => (ttlMs === 0 ? Promise.resolve(true) : new Promise((resolve) => answers.push(resolve))),
  });
  await clock.advance(3_000);
  await held.end();
  answers[0]?.(false);
  await settle();
  expect([calls, lost]).toEqual([["renew 9000", "renew 0"], []]);
});

test("a store that fails to take a lease back is reported, and nothing is thrown", async () => {
  const { held, reported } = await leaseFrom({ renew: () => Promise.reject(new Error("away")) });
  await held.end();
  expect(reported).toEqual(["Error: away"]);
});

test("an append continues the entry before its first, and notes whether the store left it without an answer", async () => {
  const seqs: number[] = [];
  const timeout = new StoreTimeoutError("append", 1);
  let cause: Error = new Error("disk full");
  const { held } = await leaseFrom({
    append: async (_, expectedSeq) => {
      seqs.push(expectedSeq);
      throw new StoreError("t", "append", cause);
    },
  });
  // Only the seq of an entry is read.
  const entryWith = (seq: number): Entry => ({ seq }) as unknown as Entry;
  expect(await errorOf(Promise.resolve(held.append([entryWith(5), entryWith(6)])))).toMatchObject({ cause });
  expect([seqs, held.isUnanswered]).toEqual([[4], false]);
  cause = timeout;
  expect(await errorOf(Promise.resolve(held.append([entryWith(5)])))).toMatchObject({ cause: timeout });
  expect(held.isUnanswered).toBe(true);
});

test("no lease is taken while another host has it", async () => {
  const { host } = await leaseFrom();
  // The first one took it from the same store.
  const taken = await HeldLease.take("t", { ...host, owner: "other" }, () => {});
  expect(taken).toBeNull();
});
