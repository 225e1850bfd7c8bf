import type { Entry } from "@colloquy/machine";
import { StoreError } from "@colloquy/host";
import { type Lease, LeaseLostError, SequenceConflictError, type Store } from "@colloquy/host/store";
import { expect, test } from "vitest";
import { guardedStore } from "../../src/ports/guarded-store.ts";
import { overriding } from "../gated-store.ts";
import { errorOf, inboxOf, stored } from "../stage.ts";

const lease: Lease = { threadId: "t", owner: "me", token: 1 };
const entry = (seq: number): Entry => ({ seq, event: { type: "cancel.requested", at: 0 } });

/** Makes a guarded store with other members, and its clock. */
const guarded = (change: (inner: Store) => Partial<Store> = () => ({})) => {
  const { clock, inner } = stored();
  const store = guardedStore(overriding(inner, change(inner)), { clock, timeoutMs: 1_000, renewMs: 300 });
  return { clock, inner, store };
};

const fail = (): never => {
  throw new Error("broken");
};
const failing = async (): Promise<never> => fail();
const failingInbox = (inner: Store) => ({
  ...inboxOf(inner),
  post: failing,
  unanswered: failing,
  answer: failing,
  answerTo: failing,
  discard: failing,
});

test.each<readonly [doing: string, change: (inner: Store) => Partial<Store>, call: (store: Store) => unknown]>([
  ["acquire its lease", () => ({ acquire: failing }), (store) => store.acquire("t", "me", 1)],
  ["renew a lease", () => ({ renew: failing }), (store) => store.renew(lease, 1)],
  ["release a lease", () => ({ release: failing }), (store) => store.release(lease)],
  ["append an entry", () => ({ append: failing }), (store) => store.append(lease, -1, [entry(0)])],
  ["append entries", () => ({ append: failing }), (store) => store.append(lease, -1, [entry(0), entry(1)])],
  ["append an entry", () => ({ append: fail }), (store) => store.append(lease, -1, [entry(0)])],
  ["read the journal", () => ({ read: failing }), (store) => store.read("t")],
  ["redact its journal", () => ({ rewrite: failing }), (store) => store.rewrite(lease, [])],
  ["delete it", () => ({ delete: failing }), (store) => store.delete("t")],
  [
    "leave an inbox item",
    (inner) => ({ inbox: failingInbox(inner) }),
    (store) => inboxOf(store).post("t", { id: "i", event: { type: "cancel.requested", at: 0 } }),
  ],
  ["look into its inbox", (inner) => ({ inbox: failingInbox(inner) }), (store) => inboxOf(store).unanswered("t")],
  ["answer inbox items", (inner) => ({ inbox: failingInbox(inner) }), (store) => inboxOf(store).answer(lease, [])],
  ["look for an answer", (inner) => ({ inbox: failingInbox(inner) }), (store) => inboxOf(store).answerTo("t", "i")],
  ["discard an inbox item", (inner) => ({ inbox: failingInbox(inner) }), (store) => inboxOf(store).discard("t", "i")],
])("an error of a store says that the host could not %s, and names the thread and the cause", async (...given) => {
  const [doing, change, call] = given;
  const { clock, store } = guarded(change);
  const error = await errorOf(Promise.resolve().then(() => call(store)));
  expect(error).toBeInstanceOf(StoreError);
  expect(String(error)).toContain('thread "t"');
  expect(String(error)).toContain(doing);
  expect(error).toMatchObject({ cause: { message: "broken" } });
  expect(clock.sleepers).toBe(0);
});

test.each([new LeaseLostError(lease), new SequenceConflictError("t", 1, 2), new StoreError("t", "do it", "full")])(
  "a host gets an error that says what to do as the store threw it: %s",
  async (thrown) => {
    const { store } = guarded(() => ({ append: () => Promise.reject(thrown) }));
    expect(await errorOf(Promise.resolve(store.append(lease, -1, [entry(0)])))).toBe(thrown);
  },
);

test.each([
  [undefined, /it gave nothing in place of a lease, or of null while another owner has it/],
  [7, /it gave what is no lease \(number\)/],
  ["t", /it gave what is no lease \(string\)/],
  [{ threadId: "t" }, /it gave what is no lease \(object\)/],
  [{ token: 7 }, /it gave what is no lease \(object\)/],
])("a host refuses %j of a store in place of a lease", async (value, words) => {
  // Stores are foreign code.
  const { store } = guarded(() => ({ acquire: async () => value as unknown as Lease }));
  expect(String(await errorOf(store.acquire("t", "me", 1)))).toMatch(words);
});

test("a host refuses what is not a list of entries, and reads only ids of threads", async () => {
  // Stores are foreign code.
  const odd = (value: unknown) => async () => value as readonly string[];
  for (const [value, words] of [
    [null, "it gave null, not a list of entries"],
    [7, "it gave number, not a list of entries"],
  ] as const)
    expect(String(await errorOf(guarded(() => ({ read: odd(value) })).store.read("t")))).toContain(words);
  const { store } = guarded((inner) => ({
    abandoned: odd(["a", 7, "b"]),
    inbox: { ...inboxOf(inner), waiting: odd([null, "c"]) },
  }));
  expect([await store.abandoned(), await inboxOf(store).waiting()]).toEqual([["a", "b"], ["c"]]);
});

test("a store has as long to renew a lease as the host says, and the usual time for any other call about it", async () => {
  const never = new Promise<never>(() => {});
  const { clock, store } = guarded(() => ({ renew: () => never, release: () => never }));
  const errors: unknown[] = [];
  for (const call of [store.renew(lease, 1), store.release(lease)])
    void errorOf(call).then((error) => errors.push(error));
  await clock.advance(299);
  expect(errors).toEqual([]);
  await clock.advance(1);
  expect(errors.map(String)).toEqual([expect.stringContaining("within 300 ms")]);
  await clock.advance(700);
  expect(errors.map(String)).toEqual([
    expect.stringContaining("within 300 ms"),
    expect.stringContaining("within 1000 ms"),
  ]);
});

test.each([
  ["a lease", true],
  ["no lease", false],
])("a store that gives %s too late is asked to let it run out only if there is one", async (_, isGiven) => {
  const late = Promise.withResolvers<Lease | null>();
  const renewed: unknown[] = [];
  const { clock, store } = guarded(() => ({
    acquire: () => late.promise,
    renew: async (...given) => (renewed.push(given), true),
  }));
  const acquired = errorOf(store.acquire("t", "me", 1));
  await clock.advance(1_000);
  expect(String(await acquired)).toContain("within 1000 ms");
  late.resolve(isGiven ? lease : null);
  await clock.advance(0);
  expect(renewed).toEqual(isGiven ? [[lease, 0]] : []);
});

test("a lease that comes in time is not renewed", async () => {
  let renewals = 0;
  const { store } = guarded(() => ({ renew: async () => ++renewals > 0 }));
  expect(await store.acquire("t", "me", 1)).toMatchObject({ threadId: "t", owner: "me" });
  expect(renewals).toBe(0);
});

test("a host sees the optional parts that a store has, and no others", () => {
  const names = ["search", "inbox", "parts", "engine"] as const;
  const { clock, inner } = stored();
  const members = Object.entries(overriding(inner, {})).filter(([name]) => !names.some((other) => other === name));
  // Only optional members are missing.
  const plain = Object.fromEntries(members) as unknown as Store;
  const optional = (store: Store) => {
    const guarded = guardedStore(store, { clock, timeoutMs: 1_000, renewMs: 300 });
    return names.filter((name) => name in guarded);
  };
  expect([optional(plain), optional(inner)]).toEqual([[], ["search", "inbox", "parts"]]);
});
