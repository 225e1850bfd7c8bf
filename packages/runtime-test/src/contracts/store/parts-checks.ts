import { LeaseLostError, type PartBatch, type PartLog, type StoredPartBatch } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { expect } from "vitest";

import { begun, entryOf, lostLeases, saying, take, ttlMs } from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

export const partsChecks: StoreChecks = {
  "keeps the parts of turns in order, and shows them to every reader": async ({ store, another, reopen }) => {
    const lease = await begun(store, [entryOf(0)]);
    for (const number of [0, 1, 2, 9, 10]) await logOf(store).append(lease, batch(number));
    const elsewhere = await take(store, "elsewhere");
    await logOf(store).append(elsewhere, batch(0, { body: '["another"]' }));
    const inOrder = [0, 1, 2, 9, 10].map((number) => stored(lease.token, number));
    expect(await logOf(store).read("thread", all)).toEqual(inOrder);
    expect(await logOf(await another()).read("thread", all)).toEqual(inOrder);
    expect(await logOf(store).read("elsewhere", all)).toEqual([stored(elsewhere.token, 0, { body: '["another"]' })]);
    expect(await logOf(store).read("nowhere", all)).toEqual([]);
    expect(await store.read("thread")).toEqual([entryOf(0)]);
    expect(await logOf(await reopen()).read("thread", all)).toEqual(inOrder);
  },
  "reads parts behind a batch, of whichever lease, and those of one turn": async ({ store, clock }) => {
    const first = await begun(store, [entryOf(0)]);
    for (const number of [0, 1, 2]) await logOf(store).append(first, batch(number, { turn: 1 + (number % 2) }));
    clock.advance(ttlMs);
    const second = await take(store, "thread", "another");
    for (const number of [0, 1]) await logOf(store).append(second, batch(number));
    const [, b, c] = [0, 1, 2].map((number) => stored(first.token, number, { turn: 1 + (number % 2) }));
    const [d, e] = [0, 1].map((number) => stored(second.token, number));
    const log = logOf(store);
    const behind = (token: number, number: number) => log.read("thread", { ...all, after: { token, number } });
    expect(await behind(first.token, 0)).toEqual([b, c, d, e]);
    expect(await behind(first.token, 2)).toEqual([d, e]);
    expect(await behind(first.token, 7)).toEqual([d, e]);
    expect(await behind(second.token, 0)).toEqual([e]);
    expect(await behind(second.token, 1)).toEqual([]);
    expect(await log.read("thread", { ...all, turn: 2 })).toEqual([b]);
    expect(await log.read("thread", { ...all, turn: 1, after: { token: first.token, number: 0 } })).toEqual([c, d, e]);
    expect(await log.read("thread", { ...all, turn: 12 })).toEqual([]);
  },
  "adds no parts under a lease that is not in force": async (subject) => {
    await subject.store.release(await begun(subject.store, [entryOf(0)]));
    for (const lease of Object.values(await lostLeases(subject, "thread")))
      await expect(logOf(subject.store).append(lease, batch(0))).rejects.toBeInstanceOf(LeaseLostError);
    expect(await logOf(subject.store).read("thread", all)).toEqual([]);
  },
  "shows no parts whose time is over, and forgets them when others are added": async ({ store }) => {
    const lease = await begun(store, [entryOf(0)]);
    const log = logOf(store);
    await log.append(lease, batch(0, { until: 200 }));
    await log.append(lease, batch(1, { until: 600_000 }));
    expect(await log.read("thread", { at: 199, after: null })).toEqual([0, 1].map((each) => stored(lease.token, each)));
    expect(await log.read("thread", { at: 200, after: null })).toEqual([stored(lease.token, 1)]);
    await log.append(lease, batch(2, { turn: 2, at: 700_000, until: 900_000 }));
    expect(await log.read("thread", { at: 0, after: null })).toEqual([stored(lease.token, 2, { turn: 2 })]);
  },
  "deletes parts with their thread, and when the journal is rewritten": async ({ store, reopen }) => {
    for (const threadId of ["thread", "rewritten", "only parts", "other"]) {
      const lease = await take(store, threadId);
      if (threadId !== "only parts") await store.append(lease, -1, [entryOf(0), saying(1, "hello")]);
      await logOf(store).append(lease, batch(0));
      if (threadId === "rewritten") await store.rewrite(lease, [saying(1, "")]);
    }
    await store.delete("thread");
    await store.delete("only parts");
    const later = logOf(await reopen());
    for (const threadId of ["thread", "only parts", "rewritten"]) expect(await later.read(threadId, all)).toEqual([]);
    expect(await later.read("other", all)).toHaveLength(1);
  },
  "gives back the texts of parts exactly": async ({ store }) => {
    const lease = await begun(store, [entryOf(0)]);
    const bodies = [[], ["é e\u0301 🙂 \0 \ud800 \u2028 '; DROP"], "x".repeat(100_000)].map((each) =>
      JSON.stringify(each),
    );
    for (const [number, body] of bodies.entries()) await logOf(store).append(lease, batch(number, { body }));
    expect((await logOf(store).read("thread", all)).map(({ body }) => body)).toEqual(bodies);
  },
};

const logOf = ({ parts }: Store): PartLog => {
  if (parts === undefined) throw new Error("the store has no log of parts");
  return parts;
};

const all = { at: 0, after: null } as const;

const batch = (number: number, others: Partial<PartBatch> = {}): PartBatch => ({
  number,
  turn: 1,
  body: `["batch ${number}"]`,
  at: 0,
  until: 600_000,
  ...others,
});

const stored = (token: number, number: number, others: Partial<StoredPartBatch> = {}): StoredPartBatch => ({
  token,
  number,
  turn: 1,
  body: `["batch ${number}"]`,
  ...others,
});
