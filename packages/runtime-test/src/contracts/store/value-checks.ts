import type { Entry, Json } from "@colloquy/machine";
import * as fc from "fast-check";
import { expect } from "vitest";
import { append, atMost, begun, entryOf, take, ttlMs } from "./sample-entries.ts";
import type { StoreChecks, Subject } from "./subject.ts";
import type { Store } from "@colloquy/host";
import { type Lease, SequenceConflictError } from "@colloquy/host/store";
import type { ManualClock } from "./manual-clock.ts";

export const valueChecks: StoreChecks = {
  "gives back every JSON value exactly": async ({ fresh }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(jsonValue, { minLength: 1, maxLength: 5 }), (values) =>
        comesBack(
          fresh,
          values.map((value, seq) => entryOf(seq, { value })),
        ),
      ),
      { numRuns: atMost(50) },
    );
  },
  ...Object.fromEntries(
    Object.entries<() => Json>({
      "characters outside the basic plane": () => "🙂 𝒳 👩‍👩‍👧 \u{10ffff}",
      "lone surrogates": () => ["\ud800", "a\udc00b", "\udc00\ud800", { "\udfff": "\ud83d" }],
      "control characters and line separators": () => "\0 \b \u001f \u007f \u2028 \u2029 \ufeff \uffff \r\n",
      "numbers at the edges": () => [2 ** 53 - 1, -(2 ** 53) + 1, 5e-324, 1.7976931348623157e308, 0.1, 1e21, 1e-7],
      "keys with a meaning elsewhere": () =>
        JSON.parse('{"__proto__":{"a":1},"constructor":null,"":[],"toJSON":1}') as Json,
      "empty values": () => ["", [], {}, [[]], null, false, 0],
      "values nested 500 deep": () => Array.from({ length: 500 }).reduce<Json>((inner) => ({ inner: [inner] }), "deep"),
      "10 MB in one entry": () => `${"ten megabytes, é 🙂 ".repeat(500_000)}\ud800`,
    }).map(([name, value]) => [
      `gives back ${name}`,
      ({ fresh }: Subject) => comesBack(fresh, [entryOf(0), entryOf(1, { value: value() }), entryOf(2)]),
    ]),
  ),
  "is not changed by what is done to an entry after it was appended": async ({ store }) => {
    const lease = await take(store, "thread");
    const entries = (): Entry[] => [0, 1].map((seq) => entryOf(seq, { list: [1, { deep: true }] }));
    const batch = entries().map(frozenOutside);
    const given = [...batch];
    const appending = append(store, lease, -1, batch);
    batch.push(entryOf(2));
    disturb(given);
    await appending;
    disturb(given);
    expect(await store.read("thread")).toEqual(entries());
  },
  "is not changed by what is done to an entry that was read": async ({ store }) => {
    await begun(store, [entryOf(0, { list: [1, { deep: true }] })]);
    for (const entry of await store.read("thread")) disturb(entry);
    expect(await store.read("thread")).toEqual([entryOf(0, { list: [1, { deep: true }] })]);
  },
  "takes ids that mean something to a file system, a shell, a query or a format": async ({ store }) => {
    const ids = [
      "../../etc/passwd",
      "a/b\\c",
      ".",
      "..",
      "C:",
      "a'b\"c`d",
      "'; DROP TABLE entries; --",
      "%_*?",
      "a b\tc",
    ];
    const more = ["Ünïcödé", "e\u0301", "\u00e9", "🙂", "null", "__proto__", "-1", "1", "01", " 1", "a".repeat(1000)];
    await areKeptApart(store, [...ids, ...more]);
    expect((await store.list()).threads).toHaveLength(ids.length + more.length);
  },
  "takes any id, or refuses it in words, and never takes one for another": async ({ fresh }) => {
    const id = fc
      .array(fc.constantFrom("a", "\0", "\ud83d", "\ude42", "\ufffd", "é", "\uffff", "/"), { maxLength: 4 })
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(id, { maxLength: 8 }), async (threadIds) => {
        const { store } = await fresh();
        await areKeptApart(store, threadIds);
        await store.close();
      }),
      { numRuns: atMost(50) },
    );
  },
  "gives the lease to only one of many concurrent callers": async ({ store, another }) => {
    const stores = [store, await another()];
    const leases = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (stores[index % 2] ?? store).acquire("thread", `owner ${index}`, ttlMs)),
    );
    expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
  },
  "accepts only one of many concurrent appends at the same place": async ({ store }) => {
    const lease = await take(store, "thread");
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, writer) => append(store, lease, -1, [entryOf(0, { writer })])),
    );
    const refused = outcomes.flatMap((outcome): readonly unknown[] =>
      outcome.status === "rejected" ? [outcome.reason] : [],
    );
    expect(refused).toHaveLength(9);
    for (const reason of refused) expect(reason).toBeInstanceOf(SequenceConflictError);
    const writer = outcomes.findIndex(({ status }) => status === "fulfilled");
    expect(await store.read("thread")).toEqual([entryOf(0, { writer })]);
  },
  "keeps every acknowledged append of racing lease holders, in one journal, in the order of their leases": async ({
    fresh,
  }) => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const { store, another, clock } = await fresh();
        const stores = [store, await another(), store];
        const race: Race = { clock, acknowledged: [], pause: () => scheduler.schedule(Promise.resolve()) };
        const holders = stores.map((each, index) => hold(each, `owner ${index}`, race));
        await scheduler.waitFor(Promise.all([...holders, passTime(race)]));
        const inOrder = [...race.acknowledged].sort((one, other) => one.seq - other.seq);
        expect(await store.read("thread")).toEqual(inOrder.map(({ seq, token }) => entryOf(seq, { token })));
        expect(inOrder.map(({ seq }) => seq)).toEqual(inOrder.map((_, index) => index));
        expect(inOrder).toEqual([...inOrder].sort((one, other) => one.token - other.token));
        await Promise.all(stores.map((each) => each.close()));
      }),
      { numRuns: atMost(100) },
    );
  },
};

const comesBack = async (fresh: Subject["fresh"], entries: readonly Entry[]): Promise<void> => {
  const { store, reopen } = await fresh();
  const lease = await take(store, "thread");
  for (const [index, entry] of entries.entries()) await append(store, lease, index - 1, [entry]);
  const written = JSON.stringify(entries);
  // Compared as one boolean, because a failing comparison would print 10 MB.
  expect(JSON.stringify(await store.read("thread")) === written).toBe(true);
  const later = await reopen();
  expect(JSON.stringify(await later.read("thread")) === written).toBe(true);
  await later.close();
};

/** Any code units, so that lone surrogates occur anywhere. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

const jsonValue: fc.Arbitrary<Json> = fc
  .oneof(fc.jsonValue(), anyText, fc.dictionary(anyText, fc.jsonValue(), { noNullPrototype: true }))
  // Normalised as by a transfer as JSON: no -0, and one spelling of each number.
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);

/** Freezes an entry and its event, but nothing within the event. Leaves the first entry as it is. */
const frozenOutside = (entry: Entry): Entry => {
  if (entry.seq === 0) return entry;
  Object.freeze(entry.event);
  return Object.freeze(entry);
};

/** Changes each member that can be changed, also within frozen values. */
const disturb = (value: unknown): void => {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    disturb(member);
    Reflect.set(value, key, "disturbed");
  }
  Reflect.set(value, "added", true);
};

const areKeptApart = async (store: Store, threadIds: readonly string[]): Promise<void> => {
  const taken: string[] = [];
  for (const threadId of threadIds) {
    try {
      const lease = await take(store, threadId);
      await append(store, lease, -1, [entryOf(0, { threadId })]);
      taken.push(threadId);
    } catch (error) {
      // Only ids that few stores can hold may be refused.
      expect(
        threadId.includes("\0") || threadId === "" || !threadId.isWellFormed(),
        `refused ${JSON.stringify(threadId)}`,
      ).toBe(true);
      expect(error).toMatchObject({ name: "StorageError", kind: "invalid-id" });
    }
  }
  for (const threadId of taken) expect(await store.read(threadId)).toEqual([entryOf(0, { threadId })]);
  const listed = (await store.list()).threads.map(({ threadId }) => threadId);
  expect(new Set(listed)).toEqual(new Set(taken));
  expect(listed.length).toBe(taken.length);
};

interface Race {
  readonly clock: ManualClock;
  readonly acknowledged: { readonly seq: number; readonly token: number }[];
  /** Lets other writers run first. */
  readonly pause: () => Promise<void>;
}

/** Takes the lease a few times, and keeps it every other time. Appends until an append fails, three entries at most. */
const hold = async (store: Store, owner: string, race: Race): Promise<void> => {
  for (let round = 0; round < 4; round += 1) {
    await race.pause();
    const lease = await store.acquire("thread", owner, ttlMs);
    if (lease === null) continue;
    await race.pause();
    let seq = (await store.read("thread")).length - 1;
    for (let count = 0; count < 3 && (await appended(store, lease, seq, race)); count += 1) seq += 1;
    await race.pause();
    if (round % 2 === 0) await store.release(lease);
  }
};

const appended = async (store: Store, lease: Lease, seq: number, { acknowledged, pause }: Race): Promise<boolean> => {
  await pause();
  const next = { seq: seq + 1, token: lease.token };
  try {
    await append(store, lease, seq, [entryOf(next.seq, { token: next.token })]);
  } catch {
    return false;
  }
  acknowledged.push(next);
  return true;
};

const passTime = async ({ clock, pause }: Race): Promise<void> => {
  for (let step = 0; step < 8; step += 1) {
    await pause();
    clock.advance(ttlMs / 2);
  }
};
