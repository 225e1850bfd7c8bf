import type { Clock, Store } from "@colloquy/host";
import { LeaseLostError } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { fault, type Fault, type Faults } from "./fault.ts";

/** Stores with faults in journals or leases. */
export const journalFaults: Faults = [
  fault("a lease for everybody", "to nobody else while the lease is in force", (sound) => ({
    acquire: async (threadId, owner) => (await sound.acquire(threadId, owner, 0)) ?? never(),
  })),
  fault("a lease that never runs out", "when its lease has run out, and not before", (sound) => ({
    acquire: (threadId, owner) => sound.acquire(threadId, owner, 1e9),
  })),
  fault("a lease that runs out early", "when its lease has run out, and not before", (sound) => ({
    acquire: (threadId, owner, ttlMs) => sound.acquire(threadId, owner, ttlMs - 1),
  })),
  fault("tokens that stay the same", "a greater token", (sound) => ({
    acquire: async (threadId, owner, ttlMs) => {
      const lease = await sound.acquire(threadId, owner, ttlMs);
      return lease && { ...lease, token: 1 };
    },
  })),
  fault("a lease that is taken from a holder who writes on", "of a store that was closed", (sound) => ({
    acquire: async (threadId, owner, ttlMs) =>
      (await sound.acquire(threadId, owner, ttlMs)) ?? { threadId, owner, token: 1e9 },
  })),
  fault("a renewal of anything", "does not renew a lease that was taken over", () => ({ renew: async () => true })),
  fault("a renewal that prolongs nothing", "from the moment of renewal", (sound) => ({
    renew: (lease) => sound.renew(lease, 1),
  })),
  fault("a release that releases nothing", "gives a released thread to the next", () => ({ release: async () => {} })),
  fault("a release of another's lease", "lets nobody give back the lease of another", (sound) => ({
    release: async (lease) => sound.release({ ...lease, token: lease.token + 1 }),
  })),
  fault("an abandoned thread without its name", "names the threads whose lease ran out", (sound) => ({
    abandoned: async () => (await sound.abandoned()).slice(1),
  })),
  fault("threads that were given back as abandoned", "names the threads whose lease ran out", (sound) => ({
    release: async (lease) => void (await sound.renew(lease, 0)),
  })),
  fault("no look at the lease", "slept while another took over", withoutLease),
  fault("no look at the seq", "refuses to append where the journal does not stand", withoutSeq),
  fault("half of a batch", "appends one entry or many", (sound) => ({
    append: (lease, seq, entries) => sound.append(lease, seq, entries.slice(0, 1)),
  })),
  fault("a batch entry by entry", "all of a batch or nothing", (sound) => ({
    append: async (lease, seq, entries) => {
      for (const [index, entry] of entries.entries()) await sound.append(lease, seq + index, [entry]);
    },
  })),
  fault("an append that is looked at late", "what is done to an entry after it was appended", late),
  fault("entries that stay the writer's", "what is done to an entry after it was appended", shared),
  fault("entries that are the same for each reader", "what is done to an entry that was read", cached),
  fault("all entries, whatever was asked for", "from a seq on", (sound) => ({
    read: (threadId) => sound.read(threadId),
  })),
  fault("entries in another order", "reads from a seq on", (sound) => ({
    read: async (id, seq) => (await sound.read(id, seq)).toReversed(),
  })),
  fault(
    "lost surrogates",
    "lone surrogates",
    rewriting((text) => text.replaceAll(/\\ud[89a-f]../g, "\\ufffd")),
  ),
  fault(
    "lost NULs",
    "control characters",
    rewriting((text) => text.replaceAll("\\u0000", "")),
  ),
  fault(
    "keys in another order",
    "every JSON value exactly",
    rewriting((text) => JSON.stringify(sorted(JSON.parse(text)))),
  ),
  fault("a delete that keeps", "deletes a thread, and no other", () => ({ delete: async () => true })),
  fault("a delete that heeds no lease", "deletes under a lease only while that is in force", (sound) => ({
    delete: (threadId) => sound.delete(threadId),
  })),
  fault("a delete that leaves the lease", "bring back a deleted thread", forgetful),
  fault(
    "ids without case",
    "ids that mean something",
    renaming((id) => id.toLowerCase()),
  ),
  fault(
    "ids in another normal form",
    "ids that mean something",
    renaming((id) => id.normalize("NFC")),
  ),
  fault(
    "ids as UTF-8",
    "never takes one for another",
    renaming((id) => id.toWellFormed()),
  ),
];

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
