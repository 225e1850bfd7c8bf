// Requests for a lease: which host ends them, and what remains of them.
import { describe, expect, test } from "vitest";
import { type Host, type Store, ThreadHeldError } from "@colloquy/host";
import type { Inbox, Lease } from "@colloquy/host/store";
import { overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import {
  during,
  errorOf,
  held,
  journalOf,
  type ManualClock,
  says,
  type ScriptedStep,
  settle,
  type Stage,
  stage,
  stored,
} from "../stage.ts";

/** Longer than any of these tests. */
const idleMs = 1_000_000;

const uses: readonly (readonly [string, (host: Host) => PromiseLike<unknown>])[] = [
  ["redacts", (host) => host.thread().redact({ turn: 1 })],
  ["deletes", (host) => host.thread().delete()],
  ["moves", (host) => host.thread().moveTo(stage().host)],
  ["imports", (host) => host.importMessages({ turns: [] }, { threadId: "default" })],
];

describe("a host that closes", () => {
  test.each(uses)("does nothing more on a thread whose lease it requested, if it %s", async (_, use) => {
    const first = stage({ idleMs, script: [says("1")] });
    const { store, clock } = first;
    await first.host.ask("one");
    await first.host.close();
    const lease = await store.acquire("default", "stopped", 1_000_000);
    const { host } = stage({ clock, store, script: [] });
    const failed = errorOf(use(host));
    await settle();
    const closed = host.close();
    if (lease !== null) await store.release(lease);
    await during(clock, 200, closed);
    expect(await failed).toMatchObject({ name: "ThreadClosedError" });
    expect(await journalOf(store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
    expect(await store.inbox?.unanswered("default")).toEqual([]);
    expect(clock.sleepers).toBe(0);
  });

  test("refuses further work on its threads at once, even if its store is slow to release them", async () => {
    const { clock, inner } = stored();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const store = overriding(inner, {
      release: async (lease) => {
        await released;
        await inner.release(lease);
      },
    });
    const { host } = stage({ clock, store, script: [says("1")] });
    await host.ask("one");
    const closed = host.close();
    const errors: unknown[] = [];
    for (const [, use] of uses.slice(0, 2)) void errorOf(use(host)).then((error) => errors.push(error));
    await settle();
    expect(errors).toMatchObject(Array.from({ length: 2 }, () => ({ name: "ThreadClosedError" })));
    release();
    await closed;
  });

  test("begins no work that waited for other work on the thread", async () => {
    const { host, clock, store } = stage({ script: [says("1")] });
    await host.ask("one");
    await host.thread().close();
    const lease = await store.acquire("default", "stopped", 1_000_000);
    const [redacted, deleted] = [errorOf(host.thread().redact({ turn: 1 })), errorOf(host.thread().delete())];
    await settle();
    const closed = host.close();
    if (lease !== null) await store.release(lease);
    await during(clock, 200, closed);
    for (const error of [redacted, deleted]) expect(await error).toMatchObject({ name: "ThreadClosedError" });
    expect(await journalOf(store)).toHaveLength(3);
  });
});

describe("the request of a host that died", () => {
  test.each<[string, (host: Host) => PromiseLike<unknown>]>([
    ["delete the thread", (host) => host.thread().delete()],
    ["edit the thread", (host) => host.thread().append({ role: "user", content: "so" })],
  ])("does not keep the thread from being moved, if it was to %s", async (_, use) => {
    const first = stage({ idleMs, script: [says("1")] });
    await first.host.ask("one");
    await first.host.close();
    const lease = await first.store.acquire("default", "stopped", 1_000_000);
    await dying(first.store, first.clock, use);
    if (lease !== null) await first.store.release(lease);
    expect(await first.store.inbox?.unanswered("default")).toHaveLength(1);
    const target = stage({ clock: first.clock });
    await first.another().host.thread().moveTo(target.host);
    expect(await journalOf(target.store)).toHaveLength(3);
    expect(await journalOf(first.store)).toEqual([]);
  });

  test("is deleted by an idle holder, which is asked for the thread no more than once", async () => {
    const { store, left, acquired, clock, host } = kept([says("1")]);
    await host.ask("one");
    await dying(store, clock);
    expect(left()).toHaveLength(1);
    const before = acquired();
    await clock.advance(60_000);
    expect(left()).toEqual([]);
    // The holder acquires the lease once more, to delete the request.
    expect(acquired() - before).toBe(1);
  });

  test("is deleted with its answer by a busy holder that closes", async () => {
    const model = held();
    const { store, left, clock, host } = kept([model.step]);
    const asked = host.ask("one");
    await settle();
    await dying(store, clock);
    await clock.advance(400);
    model.answer(says("1"));
    await asked;
    await host.close();
    expect(left()).toEqual([]);
  });

  test("is left by a redaction to the next holder, which deletes it", async () => {
    const { store, left, clock, host } = kept([says("1"), says("2")]);
    await host.ask("one");
    await host.thread().close();
    await store.inbox?.post("default", request("dead"));
    await host.thread().redact({ turn: 1 });
    await host.ask("two");
    await clock.advance(60_000);
    expect(left()).toEqual([]);
  });

  test("is not counted as work by a recovery", async () => {
    const first = stage({ idleMs, script: [says("1")] });
    await first.host.ask("one");
    await first.host.close();
    await first.store.inbox?.post("default", request("dead"));
    const continued: string[] = [];
    const { host, clock } = first.another({
      recovery: {},
      observers: [{ recovered: (report) => void continued.push(...report.continued) }],
    });
    host.start();
    await clock.advance(10_000);
    expect(continued).toEqual([]);
    await host.close();
  });
});

describe("a host that took the lease which it requested", () => {
  test("leaves nothing in the inbox when it closes", async () => {
    const { store, left, clock, host } = kept([says("1")]);
    await host.ask("one");
    const second = stage({ clock, store, owner: "second", idleMs });
    await during(clock, 1_000, second.host.thread().append({ role: "user", content: "so" }));
    await second.host.close();
    expect(left()).toEqual([]);
  });

  test.each(uses.slice(0, 3))("uses it, if the holder refused it and then closed, and %s", async (_, use) => {
    const { store, left, clock, host } = kept([says("1")]);
    await host.ask("one");
    await host.close();
    const lease = await store.acquire("default", "busy", 1_000_000);
    if (lease === null) throw new Error("it is held");
    const used = use(stage({ clock, store, owner: "second" }).host);
    await refuseAll(store, lease);
    await store.release(lease);
    await during(clock, 1_000, used);
    expect(left()).toEqual([]);
  });

  test("uses it for an edit that the holder refused before it closed, ahead of later asks", async () => {
    const { store, left, clock, host } = kept([says("1")]);
    await host.ask("one");
    await host.close();
    const lease = await store.acquire("default", "busy", 1_000_000);
    if (lease === null) throw new Error("it is held");
    const second = stage({ clock, store, owner: "second", script: [says("2")] });
    const cancelled = errorOf(second.host.thread().cancel("stop"));
    await settle();
    const [cancel] = (await store.inbox?.unanswered("default")) ?? [];
    const asked = second.host.ask("two");
    await settle();
    await refuseAll(store, lease, [cancel]);
    await store.release(lease);
    expect((await during(clock, 1_000, asked)).text).toBe("2");
    expect(await cancelled).toMatchObject({ refusal: { kind: "stale" } });
    await second.host.close();
    expect(left()).toEqual([]);
  });

  test("withdraws its request when it closes before", async () => {
    const { store, left, clock, host } = kept([held().step]);
    void host.ask("one").catch(() => {});
    await settle();
    const second = stage({ clock, store, owner: "second" });
    const refused = errorOf(second.host.thread().append({ role: "user", content: "so" }));
    await settle();
    expect(left()).toHaveLength(1);
    await second.host.close();
    expect(await refused).toMatchObject({ name: "ThreadClosedError" });
    expect(left()).toEqual([]);
  });
});

describe("hosts that look at different times", () => {
  test.each([
    [10, 300],
    [300, 10],
    [50, 300],
    [50, 2_000],
    [2_000, 50],
    [4_000, 10],
  ])("give the lease to each other, polling every %i ms and every %i ms", async (holder, asker) => {
    for (const [, use] of uses.slice(0, 3)) {
      const first = stage({ idleMs, pollMs: holder, script: [says("1")] });
      await first.host.ask("one");
      const second = first.another({ pollMs: asker, script: [] });
      await during(first.clock, 10_000, use(second.host));
    }
    const first = stage({ idleMs, pollMs: holder, script: [says("1")] });
    await first.host.ask("one");
    const second = first.another({ pollMs: asker, script: [] });
    await during(first.clock, 10_000, second.host.thread().append({ role: "user", content: "so" }));
  });

  test.each([
    [10, 300],
    [300, 10],
    [4_000, 10],
  ])("are refused by a busy holder, polling every %i ms and every %i ms", async (holder, asker) => {
    const model = held();
    const first = stage({ idleMs, pollMs: holder, script: [model.step] });
    void first.host.ask("one");
    await settle();
    const second = first.another({ pollMs: asker, script: [] });
    const edits = ["so", "or so"].map((content) => errorOf(second.host.thread().append({ role: "user", content })));
    for (const error of await during(first.clock, 5_000, Promise.all(edits)))
      expect(error).toBeInstanceOf(ThreadHeldError);
    expect(first.clock.now()).toBe(1_005_000);
  });
});

const request = (id: string): Parameters<Inbox["post"]>[1] => ({
  id,
  event: { type: "cancel.requested", at: 0, askId: id },
});

/** Makes a host over a store that lists the items in its inbox, answered or not, and counts acquired leases. */
const kept = (
  script: readonly ScriptedStep[],
): Stage & { readonly left: () => readonly string[]; readonly acquired: () => number } => {
  const { clock, inner } = stored();
  const { inbox } = inner;
  if (inbox === undefined) throw new Error("no inbox");
  const items = new Set<string>();
  let acquired = 0;
  const store = overriding(inner, {
    acquire: (...given) => (acquired++, inner.acquire(...given)),
    inbox: {
      ...inbox,
      post: (id, item) => (items.add(item.id), inbox.post(id, item)),
      discard: (id, itemId) => (items.delete(itemId), inbox.discard(id, itemId)),
    },
    delete: (...given) => (items.clear(), inner.delete(...given)),
  });
  const first = stage({ clock, store, owner: "first", idleMs, script });
  return { ...first, left: () => [...items], acquired: () => acquired };
};

const refuseAll = async ({ inbox }: Store, lease: Lease, items?: readonly unknown[]): Promise<void> => {
  await settle();
  const stored = items ?? (await inbox?.unanswered("default")) ?? [];
  const refusal = { kind: "busy", reason: "a turn is open" } as const;
  // This store returns the posted items.
  const ids = (stored as readonly { readonly id: string }[]).map(({ id }) => id);
  await inbox?.answer(
    lease,
    ids.map((id) => ({ id, handled: false, refusal })),
  );
};

/** Requests the lease like a process that dies afterwards. */
const dying = async (
  inner: Store,
  clock: ManualClock,
  use = (host: Host): PromiseLike<unknown> => host.thread().delete(),
): Promise<void> => {
  const { store, die } = mortal(inner);
  void use(stage({ clock, store, owner: "dead" }).host);
  await settle();
  die();
};
