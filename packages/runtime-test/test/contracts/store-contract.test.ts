import { type Clock, LeaseLostError, memoryStore, type Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { expect, test } from "vitest";

import { storeChecks, subjectOf } from "../../src/contracts/index.ts";

/** The names of the checks that a store does not pass, of those whose name has `part` in it. */
const brokenPromises = async (makeStore: (clock: Clock) => Store, part = ""): Promise<readonly string[]> => {
  const broken: string[] = [];
  for (const { name, check } of storeChecks.filter(({ name }) => name.includes(part))) {
    const subject = await subjectOf(
      async ({ clock }) => ({ store: makeStore(clock) }),
      () => {},
    );
    await check(subject).catch(() => broken.push(name));
  }
  return broken;
};

type Fault = (sound: Store, clock: Clock) => Partial<Store>;

/** A store with one fault, and a part of the name of a check that has to notice it. */
const faults: Readonly<Record<string, readonly [noticedBy: string, Fault]>> = {
  "a lease for everybody": [
    "to nobody else while the lease is in force",
    (sound) => ({ acquire: async (threadId, owner) => (await sound.acquire(threadId, owner, 0)) ?? never() }),
  ],
  "a lease that never runs out": [
    "when its lease has run out, and not before",
    (sound) => ({ acquire: (threadId, owner) => sound.acquire(threadId, owner, 1e9) }),
  ],
  "a lease that runs out early": [
    "when its lease has run out, and not before",
    (sound) => ({ acquire: (threadId, owner, ttlMs) => sound.acquire(threadId, owner, ttlMs - 1) }),
  ],
  "tokens that stay the same": [
    "a greater token",
    (sound) => ({
      acquire: async (threadId, owner, ttlMs) => {
        const lease = await sound.acquire(threadId, owner, ttlMs);
        return lease && { ...lease, token: 1 };
      },
    }),
  ],
  "a renewal of anything": ["does not renew a lease that was taken over", () => ({ renew: async () => true })],
  "a renewal that prolongs nothing": [
    "from the moment of renewal",
    (sound) => ({ renew: (lease) => sound.renew(lease, 1) }),
  ],
  "a release that releases nothing": ["gives a released thread to the next", () => ({ release: async () => {} })],
  "a release of another's lease": [
    "lets nobody give back the lease of another",
    (sound) => ({ release: async (lease) => sound.release({ ...lease, token: lease.token + 1 }) }),
  ],
  "no look at the lease": ["though the seq is right", withoutLease],
  "no look at the seq": ["refuses to append where the journal does not stand", withoutSeq],
  "half of a batch": [
    "appends one entry or many",
    (sound) => ({ append: (lease, seq, entries) => sound.append(lease, seq, entries.slice(0, 1)) }),
  ],
  "a batch entry by entry": [
    "all of a batch or nothing",
    (sound) => ({
      append: async (lease, seq, entries) => {
        for (const [index, entry] of entries.entries()) await sound.append(lease, seq + index, [entry]);
      },
    }),
  ],
  "an append that is looked at late": ["what is done to an entry after it was appended", late],
  "entries that stay the writer's": ["what is done to an entry after it was appended", shared],
  "entries that are the same for each reader": ["what is done to an entry that was read", cached],
  "all entries, whatever was asked for": ["from a seq on", (sound) => ({ read: (threadId) => sound.read(threadId) })],
  "entries in another order": [
    "reads from a seq on",
    (sound) => ({ read: async (id, seq) => (await sound.read(id, seq)).toReversed() }),
  ],
  "lost surrogates": ["lone surrogates", rewriting((text) => text.replaceAll(/\\ud[89a-f]../g, "\\ufffd"))],
  "lost NULs": ["control characters", rewriting((text) => text.replaceAll("\\u0000", ""))],
  "keys in another order": [
    "every JSON value to the letter",
    rewriting((text) => JSON.stringify(sorted(JSON.parse(text)))),
  ],
  "a list in no order": [
    "lists threads by id",
    (sound) => ({ list: async (page) => (await sound.list(page)).toReversed() }),
  ],
  "pages without a limit": [
    "lists threads by id",
    (sound) => ({ list: async (page) => sound.list({ ...page, limit: 1e9 }) }),
  ],
  "a page that begins with the end of the one before": [
    "shows each thread once",
    (sound) => ({
      list: async (page) =>
        (await sound.list()).filter(({ threadId }) => threadId >= (page?.after ?? "")).slice(0, page?.limit),
    }),
  ],
  "a delete that keeps": ["deletes a thread, and no other", () => ({ delete: async () => true })],
  "a delete that leaves the lease": ["bring back a deleted thread", forgetful],
  "ids without case": ["ids that mean something", renaming((id) => id.toLowerCase())],
  "ids in another normal form": ["ids that mean something", renaming((id) => id.normalize("NFC"))],
  "ids as UTF-8": ["never takes one for another", renaming((id) => id.toWellFormed())],
};

test("a sound store breaks no promise", async () => {
  expect(await brokenPromises((clock) => memoryStore({ clock }))).toEqual([]);
});

test.each(Object.entries(faults))("the contract notices %s", async (_, [noticedBy, fault]) => {
  const makeStore = (clock: Clock): Store => {
    const sound = memoryStore({ clock });
    return { ...bound(sound), ...fault(sound, clock) };
  };
  expect(await brokenPromises(makeStore, noticedBy)).not.toEqual([]);
});

/** A store's methods, each for itself. */
const bound = (store: Store): Store => ({
  acquire: (...given) => store.acquire(...given),
  renew: (...given) => store.renew(...given),
  release: (...given) => store.release(...given),
  append: (...given) => store.append(...given),
  read: (...given) => store.read(...given),
  list: (...given) => store.list(...given),
  delete: (...given) => store.delete(...given),
  close: () => store.close(),
});

function withoutLease(sound: Store): Partial<Store> {
  const newest = new Map<string, Parameters<Store["append"]>[0]>();
  return {
    acquire: async (threadId, owner, ttlMs) => {
      const lease = await sound.acquire(threadId, owner, ttlMs);
      if (lease !== null) newest.set(threadId, lease);
      return lease;
    },
    append: (lease, seq, entries) => sound.append(newest.get(lease.threadId) ?? lease, seq, entries),
  };
}

function withoutSeq(sound: Store): Partial<Store> {
  return {
    append: async (lease, _, entries) => {
      const length = (await sound.read(lease.threadId)).length;
      await sound.append(
        lease,
        length - 1,
        entries.map((entry, index) => ({ ...entry, seq: length + index }) as Entry),
      );
    },
  };
}

function late(sound: Store): Partial<Store> {
  return {
    append: async (lease, seq, entries) => {
      await Promise.resolve();
      await sound.append(lease, seq, entries);
    },
  };
}

function shared(sound: Store): Partial<Store> {
  const kept = new Map<string, Entry[]>();
  return {
    append: async (lease, seq, entries) => {
      const given = [...entries];
      await sound.append(lease, seq, entries);
      kept.set(lease.threadId, [...(kept.get(lease.threadId) ?? []), ...given]);
    },
    read: async (threadId, fromSeq = 0) => (kept.get(threadId) ?? []).slice(fromSeq),
  };
}

function cached(sound: Store): Partial<Store> {
  let last: Promise<readonly unknown[]> | undefined;
  return { read: (threadId, seq) => (last ??= sound.read(threadId, seq)) };
}

function forgetful(sound: Store, clock: Clock): Partial<Store> {
  const journals = new Map<string, Entry[]>();
  const leases = new Map<string, number>();
  return {
    acquire: async (threadId, owner, ttlMs) => {
      const lease = await sound.acquire(threadId, owner, ttlMs);
      if (lease !== null) leases.set(threadId, clock.now() + ttlMs);
      return lease;
    },
    append: async (lease, _, entries) => {
      if ((leases.get(lease.threadId) ?? 0) <= clock.now()) throw new LeaseLostError(lease);
      journals.set(lease.threadId, [...(journals.get(lease.threadId) ?? []), ...entries]);
    },
    read: async (threadId) => journals.get(threadId) ?? [],
    delete: async (threadId) => journals.delete(threadId),
  };
}

function rewriting(rewrite: (text: string) => string): Fault {
  return (sound) => ({
    read: async (threadId, seq) =>
      (await sound.read(threadId, seq)).map((entry): unknown => JSON.parse(rewrite(JSON.stringify(entry)))),
  });
}

function renaming(rename: (id: string) => string): Fault {
  return (sound) => ({
    acquire: (threadId, owner, ttlMs) => sound.acquire(rename(threadId), owner, ttlMs),
    read: (threadId, seq) => sound.read(rename(threadId), seq),
    delete: (threadId) => sound.delete(rename(threadId)),
  });
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? 1 : -1))
      .map(([key, member]) => [key, sorted(member)]),
  );
};

const never = (): never => {
  throw new Error("it should have been given");
};
