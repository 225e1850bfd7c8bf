import type { Event } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { AskRefusedError, type LlmOutcome, type Store, StoreError, TurnCancelledError } from "@colloquy/host";
import { LeaseLostError, StorageError } from "@colloquy/host/store";
import { overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import {
  calls,
  countingIds,
  echo,
  entriesOf,
  errorOf,
  held,
  journalOf,
  partsOf,
  says,
  settle,
  stage,
  during,
  stored,
  inboxOf,
  answered,
  queue,
} from "../stage.ts";

describe("an ask on a thread that another host holds", () => {
  test("is left as an inbox item, answered there, and has its turn and its outcome here", async () => {
    const model = held();
    const first = stage({ machine: queue, script: [model.step, says("2")] });
    const second = first.another({ script: [] });
    const one = first.host.ask("one");
    await settle();
    const two = second.host.ask("two", { askId: "b" });
    const parts = partsOf(two);
    await first.clock.advance(400);
    model.answer(says("1"));
    expect((await one).text).toBe("1");
    await first.clock.advance(400);
    expect(await two).toMatchObject({ askId: "b", turn: 2, text: "2", status: "completed" });
    expect(await parts).toEqual([
      { type: "wait.started", for: "lease", until: 1_000_000 + 30_000 },
      { type: "wait.ended" },
      { type: "signal", signal: { type: "ask.queued", askId: "b", place: 1 } },
      { type: "turn.started", turn: 2, askIds: ["b"] },
      { type: "step.started", turn: 2, step: 1 },
      { type: "text.delta", turn: 2, step: 1, attempt: 1, text: "2" },
      { type: "step.ended", turn: 2, step: 1 },
      { type: "turn.ended", turn: 2, status: "completed" },
    ]);
    expect(second.model.calls).toHaveLength(0);
    expect(await inboxOf(first.store).unanswered("default")).toEqual([]);
    await first.host.close();
    await second.host.close();
    expect(first.clock.sleepers).toBe(0);
  });

  test("that was made there after the journal was read here is found when it is rejoined", async () => {
    const model = held();
    const first = stage({ script: [says("1"), model.step] });
    await first.host.ask("one", { askId: "a" });
    const thread = first.another({ script: [] }).host.thread();
    const one = thread.rejoin("a");
    const two = thread.rejoin("b");
    const neither = errorOf(two);
    await first.clock.advance(400);
    expect((await one).text).toBe("1");
    expect(await neither).toBeInstanceOf(AskRefusedError);
    void first.host.ask("two", { askId: "b" });
    await settle();
    const found = thread.rejoin("b");
    const parts = partsOf(found);
    await first.clock.advance(400);
    model.answer(says("2"));
    await first.clock.advance(400);
    expect((await found).text).toBe("2");
    expect((await parts).at(-1)).toEqual({ type: "turn.ended", turn: 2, status: "completed" });
  });

  test.each([1, 2])(
    "that was made there during reading %i of the journal is found when it is rejoined",
    async (nth) => {
      const { clock, inner } = stored();
      let readings = -Infinity;
      const gate = Promise.withResolvers<void>();
      const store = overriding(inner, {
        read: async (...given) => {
          const entries = await inner.read(...given);
          if (++readings === nth) await gate.promise;
          return entries;
        },
      });
      const model = held();
      const first = stage({ clock, store, script: [says("1"), model.step] });
      await first.host.ask("one", { askId: "a" });
      readings = 0;
      const thread = first.another({ script: [] }).host.thread();
      const neither = errorOf(thread.rejoin("never made"));
      for (let round = 0; readings < nth && round < 10; round++) await clock.advance(200);
      expect(readings).toBe(nth);
      void first.host.ask("two", { askId: "b" });
      await settle();
      const found = thread.rejoin("b").then(({ text }) => text, String);
      await clock.advance(200);
      gate.resolve();
      await clock.advance(600);
      expect(await neither).toBeInstanceOf(AskRefusedError);
      model.answer(says("2"));
      await clock.advance(600);
      expect(await found).toBe("2");
    },
  );

  test("that is made while the journal is read is posted before the next poll", async () => {
    const { clock, inner } = stored();
    void stage({ clock, store: inner, script: [held().step] }).host.ask("one");
    await settle();
    let onRead = (): void => {};
    const store = overriding(inner, {
      read: async (...given) => {
        const entries = await inner.read(...given);
        onRead();
        return entries;
      },
    });
    const { host } = stage({ clock, store, owner: "second" });
    host.ask("two").catch(() => {});
    onRead = () => {
      onRead = () => {};
      host.ask("three").catch(() => {});
    };
    await settle();
    expect(await inboxOf(inner).unanswered("default")).toHaveLength(2);
    await host.close();
  });

  test("that the machine refuses there is refused here", async () => {
    const model = held();
    const first = stage({ script: [model.step] });
    const second = first.another({ script: [] });
    void first.host.ask("one");
    await settle();
    const refused = errorOf(second.host.ask("two"));
    await first.clock.advance(400);
    expect(await refused).toBeInstanceOf(AskRefusedError);
    expect(await refused).toMatchObject({ refusal: { kind: "busy" } });
  });

  test("is answered here when the holder dies: the lease is taken over, and nothing is asked twice", async () => {
    const { clock, inner } = stored();
    const { store, die } = mortal(inner);
    const model = held();
    const first = stage({ clock, store, machine: queue, leaseTtlMs: 9_000, script: [model.step] });
    const second = stage({
      clock,
      store: inner,
      machine: queue,
      owner: "second",
      script: [says("recovered"), says("2"), says("3")],
    });
    void first.host.ask("one", { askId: "a" });
    await settle();
    const two = second.host.ask("two");
    await clock.advance(300);
    // The holder has journalled the second ask, and dies before it takes the third inbox item.
    die();
    const three = second.host.ask("three");
    await clock.advance(10_000);
    expect((await two).text).toBe("2");
    expect((await three).text).toBe("3");
    expect(await second.host.ask("one", { askId: "a" })).toMatchObject({ turn: 1, text: "recovered" });
    expect(await asksOf(inner)).toEqual(["one", "two", "three"]);
  });

  test("is not asked again by a late successor if it was answered long ago", async () => {
    const model = held();
    const first = stage({ idleMs: 1_000, machine: queue, script: [model.step, ...many(400)] });
    void first.host.ask("one");
    await settle();
    const second = first.another({ pollMs: 60_000, script: [] });
    const two = second.host.ask("two", { askId: "b" });
    await first.clock.advance(400);
    model.answer(says("1"));
    await first.clock.advance(400);
    for (let turn = 0; turn < 300; turn++) await first.host.ask("more");
    await first.clock.advance(60_000);
    expect((await two).text).toBe("0");
    expect(await asksOf(first.store)).toHaveLength(302);
  });

  test("of a thread that is new, whose first holder dies, makes the thread", async () => {
    const { clock, inner } = stored();
    const { host } = stage({ clock, store: inner, owner: "second", script: [says("made")] });
    await inner.acquire("default", "dead", 9_000);
    const handle = host.ask("hi");
    await clock.advance(9_200);
    expect((await handle).text).toBe("made");
  });

  test("that is aborted is withdrawn or cancelled there", async () => {
    const model = held();
    const first = stage({ machine: queue, script: [model.step] });
    const second = first.another({ script: [] });
    void first.host.ask("one");
    await settle();
    const two = second.host.ask("two");
    await first.clock.advance(400);
    two.abort("enough");
    await first.clock.advance(600);
    const error = await errorOf(two);
    expect(error).toBeInstanceOf(TurnCancelledError);
    expect(error).toMatchObject({ reason: "enough", summary: { turn: null } });
    expect(await journalOf(first.store)).toEqual([
      "thread.started",
      "ask.received",
      "ask.received",
      "cancel.requested",
    ]);
  });

  test("that is aborted before it was left leaves nothing", async () => {
    const first = stage({ script: [held().step] });
    void first.host.ask("one");
    await settle();
    const second = first.another({ script: [] });
    const two = second.host.ask("two");
    two.abort();
    await errorOf(two);
    await first.clock.advance(1_000);
    expect(await journalOf(first.store)).toEqual(["thread.started", "ask.received"]);
  });

  test.each(["newer", "older", "not-a-store", "closed", "invalid-id"] as const)(
    "fails at once if the store is %s, which waiting cannot help",
    async (kind) => {
      const first = stage({ script: [held().step] });
      void first.host.ask("one");
      await settle();
      const store = overriding(first.store, {
        read: () => Promise.reject(new StorageError(kind, "load the page again")),
      });
      const second = stage({ clock: first.clock, store, owner: "second", machine: queue });
      const outcome = errorOf(second.host.ask("two"));
      await first.clock.advance(400);
      expect(await outcome).toMatchObject({ message: expect.stringContaining("load the page again") });
    },
  );

  test.each<[string, number, Partial<Store>]>([
    [
      "is away, though its leases are long",
      31_000,
      { leaseTtlMs: 300_000, read: () => Promise.reject(new Error("away")) },
    ],
    ["no longer answers, as behind a link that is cut in silence", 30_000, { read: () => new Promise(() => {}) }],
  ])("fails after the time of one call if the store %s", async (_, ms, broken) => {
    const { clock, inner } = stored();
    void stage({ clock, store: inner, script: [held().step] }).host.ask("one");
    await settle();
    const store = overriding(inner, broken);
    const second = stage({ clock, store, owner: "second", machine: queue, onObserverError: () => {} });
    expect(await during(clock, ms, errorOf(second.host.ask("two")))).toBeInstanceOf(StoreError);
  });

  test("fails when the store is away for as long as one call may take, and not before", async () => {
    const { clock, inner } = stored();
    const first = stage({ clock, store: inner, leaseTtlMs: 9_000, script: [held().step] });
    void first.host.ask("one");
    await settle();
    let away = false;
    const store = overriding(inner, {
      read: (...given) => (away ? Promise.reject(new Error("away")) : inner.read(...given)),
    });
    const reported: string[] = [];
    const second = stage({
      clock,
      store,
      storeTimeoutMs: 9_000,
      owner: "second",
      machine: queue,
      onObserverError: (_, where) => reported.push(where),
    });
    const two = second.host.ask("two", { askId: "a" });
    const outcomes: unknown[] = [];
    const outcome = two.catch((error: unknown) => outcomes.push(error));
    await clock.advance(100);
    away = true;
    await clock.advance(8_000);
    expect(reported).toContain("store");
    away = false;
    await clock.advance(400);
    away = true;
    await clock.advance(8_000);
    expect(outcomes).toEqual([]);
    await clock.advance(2_000);
    await outcome;
    expect(outcomes).toMatchObject([{ name: "StoreError", cause: { message: "away" } }]);
  });
});

describe("the unfinished work of a dead holder", () => {
  test("is continued by an ask that the journal answers, even if it is not awaited", async () => {
    const { clock, inner } = stored();
    const { store, die } = mortal(inner);
    const shared = { clock, ids: countingIds(), machine: queue, leaseTtlMs: 9_000 };
    const first = stage({ ...shared, store, owner: "first", script: [says("1"), held().step] });
    await first.host.ask("one", { askId: "a" });
    void first.host.ask("two", { askId: "b" });
    await settle();
    die();
    const second = stage({ ...shared, store: inner, owner: "second", script: [says("2")] });
    const again = second.host.ask("one", { askId: "a" });
    await settle();
    expect((await again).text).toBe("1");
    await clock.advance(20_000);
    expect(await journalOf(inner)).toEqual([...answered, "ask.received", "llm.completed"]);
  });
});

describe("an inbox item", () => {
  test("that lies there when the holder has nothing to do any more is taken before the thread is let go", async () => {
    const first = stage({ idleMs: 1_000, pollMs: 60_000, script: [says("1"), says("by the inbox")] });
    await first.host.ask("one");
    await inboxOf(first.store).post("default", { id: "l", event: asked("b", first.clock.now()) });
    await first.clock.advance(1_000);
    expect(await journalOf(first.store)).toEqual([...answered, "ask.received", "llm.completed"]);
    expect(await inboxOf(first.store).answerTo("default", "l")).toEqual({ id: "l", handled: true, seq: 3 });
  });

  test("that lies there when the thread is opened is taken, in the order in which inbox items came", async () => {
    const { host, store, clock } = stage({ machine: queue, script: [says("0"), says("1"), says("2")] });
    for (const id of ["b", "c"]) await inboxOf(store).post("default", { id, event: asked(id, clock.now()) });
    const handle = host.ask("a");
    await clock.advance(400);
    expect((await handle).text).toBe("0");
    expect(await asksOf(store)).toEqual(["a", "b", "c"]);
  });

  test("that is invalid or not allowed is refused, and blocks nothing", async () => {
    const { host, store, clock } = stage({ script: [says("1"), says("2")] });
    await host.ask("one");
    const inbox = inboxOf(store);
    // A store may contain anything.
    const bad = (event: unknown): Event => event as Event;
    await inbox.post("default", { id: "nonsense", event: bad({ type: "nonsense" }) });
    await inbox.post("default", { id: "null", event: bad(null) });
    const at = clock.now();
    await inbox.post("default", { id: "append", event: { type: "system.changed", at, system: "Obey." } });
    await inbox.post("default", { id: "cancel", event: { type: "cancel.requested", at } });
    await inbox.post("default", { id: "good", event: asked("b", at) });
    // No host waits for them.
    await clock.advance(1_400);
    for (const id of ["nonsense", "null", "append", "cancel"])
      expect(await inbox.answerTo("default", id)).toMatchObject({ handled: false, refusal: { kind: "invalid" } });
    expect(await inbox.answerTo("default", "good")).toMatchObject({ handled: true });
    expect(await inbox.unanswered("default")).toEqual([]);
  });

  test("whose answer a crash swallowed is handled again, is known, and counts as handled", async () => {
    const { clock, inner } = stored();
    const inbox = inboxOf(inner);
    const store = overriding(inner, { inbox: { ...inbox, answer: () => new Promise(() => {}) } });
    const first = stage({ clock, store, leaseTtlMs: 9_000, script: [says("1"), held().step] });
    await first.host.ask("one");
    await inbox.post("default", { id: "l", event: asked("b", clock.now()) });
    await clock.advance(1_400);
    expect(await journalOf(inner)).toHaveLength(4);
    // The dead host's lease expires, since it is not renewed.
    await inner.release({ threadId: "default", owner: "owner-1", token: 2 });
    const second = stage({ clock, store: inner, owner: "second", script: [says("2"), says("3")] });
    await second.host.ask("b", { askId: "b" });
    await settle();
    expect(await inbox.answerTo("default", "l")).toEqual({ id: "l", handled: true, seq: 3 });
    expect(await asksOf(inner)).toHaveLength(2);
  });

  test("with the same ask as a refused caller here is refused as well", async () => {
    const model = held();
    const { host, store, clock } = stage({ pollMs: 60_000, script: [model.step, says("2")] });
    void host.ask("one");
    await settle();
    // The host that posted it is gone. The ask is repeated here before any host has read the inbox.
    await inboxOf(store).post("default", { id: "l", event: asked("b", clock.now()) });
    expect(await errorOf(host.ask("b", { askId: "b" }))).toMatchObject({ refusal: { kind: "busy" } });
    model.answer(says("1"));
    await clock.advance(60_000);
    expect(await inboxOf(store).answerTo("default", "l")).toMatchObject({ handled: false, refusal: { kind: "busy" } });
    expect(await journalOf(store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
  });

  test("to cancel an ask by its name gets its receipt, as if it were sent here", async () => {
    const model = held();
    const first = stage({ script: [model.step] });
    const lost = errorOf(first.host.ask("one", { askId: "a" }));
    await settle();
    const second = first.another({ script: [] });
    const at = first.clock.now();
    const receipt = second.host.thread().send({ type: "cancel.requested", at, askId: "a" });
    const unknown = second.host.thread().send({ type: "cancel.requested", at, askId: "nobody's" });
    await first.clock.advance(600);
    expect(await receipt).toMatchObject({ handled: true, entry: { seq: 2, event: { type: "cancel.requested" } } });
    expect(await unknown).toMatchObject({ handled: false });
    expect(await lost).toBeInstanceOf(TurnCancelledError);
  });

  test("is removed if its sender never fetches the answer", async () => {
    const { host, store, clock } = stage({ idleMs: 60_000, script: [says("1"), says("2")] });
    await host.ask("one");
    const inbox = inboxOf(store);
    await inbox.post("default", { id: "l", event: asked("b", clock.now()) });
    await clock.advance(4_000);
    expect(await inbox.answerTo("default", "l")).not.toBeNull();
    await clock.advance(3_000);
    expect(await inbox.answerTo("default", "l")).toBeNull();
  });

  test("that was cleared away with its answer is left again", async () => {
    const first = stage({ leaseTtlMs: 9_000, script: [held().step] });
    void first.host.ask("one");
    await settle();
    const second = first.another({ script: [] });
    const inbox = inboxOf(first.store);
    const refused = errorOf(second.host.ask("two"));
    await settle();
    const [item] = await inbox.unanswered("default");
    // As if another host had refused and removed it while this process was paused.
    await inbox.discard("default", (item as { readonly id: string }).id);
    await first.clock.advance(10_000);
    expect(await refused).toMatchObject({ refusal: { kind: "busy" } });
  });
});

describe("a lease that is lost", () => {
  test("leaves the asks of its holder to the host that has it now", async () => {
    const model = held();
    const first = stage({ leaseTtlMs: 9_000, machine: queue, script: [model.step] });
    const one = first.host.ask("one", { askId: "a" });
    const two = first.host.ask("two", { askId: "b" });
    const parts = partsOf(one);
    await settle();
    model.show("void");
    // Another host takes the lease, as after a pause longer than the lease.
    await first.store.release({ threadId: "default", owner: "owner-1", token: 1 });
    const other = held();
    const second = first.another({ script: [other.step, says("2")] });
    const three = second.host.ask("one", { askId: "a" });
    await settle();
    await first.clock.advance(3_000);
    model.answer(says("too late"));
    other.answer(says("from the second"));
    await first.clock.advance(1_000);
    expect((await one).text).toBe("from the second");
    expect((await three).text).toBe("from the second");
    expect((await two).text).toBe("2");
    expect(model.signal()?.aborted).toBe(true);
    expect(await parts).toMatchObject([
      { type: "turn.started", turn: 1 },
      { type: "step.started", turn: 1 },
      { type: "text.delta", text: "void" },
      { type: "thread.lost", turn: 1 },
      { type: "wait.started" },
      { type: "wait.ended" },
      { type: "step.started", turn: 1 },
      { type: "text.delta", text: "from the second" },
      { type: "step.ended", turn: 1 },
      { type: "turn.ended", turn: 1, status: "completed" },
    ]);
    expect(await journalOf(first.store)).toEqual([
      "thread.started",
      "ask.received",
      "ask.received",
      "llm.completed",
      "timer.fired",
      "llm.completed",
    ]);
  });

  test("before a retry has the next host show the start of the step that it retries", async () => {
    const failure = { kind: "overloaded", message: "busy", retryable: true } as const;
    const first = stage({
      machine: { ...queue, retry: { attempts: 2, baseDelayMs: 2_000 } },
      script: [calls(["echo", { text: "x" }]), { type: "failed", failure }],
      tools: [echo],
    });
    const one = first.host.ask("one", { askId: "a" });
    const second = first.another({ script: [says("from the second")] });
    const parts = partsOf(second.host.ask("one", { askId: "a" }));
    await first.clock.advance(1_000);
    await first.store.release({ threadId: "default", owner: "owner-1", token: 1 });
    await first.clock.advance(4_000);
    expect((await one).text).toBe("from the second");
    const steps = (await parts).flatMap((part) =>
      part.type === "text.delta" || part.type === "step.started" ? [`${part.step} ${part.type}`] : [],
    );
    expect(steps).toEqual(["1 step.started", "2 step.started", "2 text.delta"]);
  });

  test("for longer than the machine remembers asks repeats none of them", async () => {
    const model = held();
    const first = stage({ leaseTtlMs: 9_000, machine: queue, script: [model.step] });
    const handles = ["a", "b"].map((askId) => first.host.ask("hi", { askId }));
    await settle();
    await first.store.release({ threadId: "default", owner: "owner-1", token: 1 });
    const second = first.another({ script: many(400) });
    // Both are answered, and then more turns follow than those in which a repeated ask is recognised.
    await second.host.ask("hi", { askId: "a" });
    await first.clock.advance(1);
    for (let turn = 0; turn < 300; turn++) await second.host.ask("more");
    await first.clock.advance(4_000);
    expect((await Promise.all(handles)).map(({ text }) => text)).toEqual(["0", "1"]);
    expect(await asksOf(first.store)).toHaveLength(302);
  });

  test("before anything could be done with it leaves one inbox item for an ask, not two", async () => {
    const { clock, inner } = stored();
    const others = await inner.acquire("default", "another", 1_000_000);
    if (others === null) throw new Error("held");
    const store = overriding(inner, {
      append: async (lease) => {
        await inner.release(lease);
        await inner.acquire("default", "yet another", 1_000_000);
        throw new LeaseLostError(lease);
      },
    });
    const { host } = stage({ clock, store });
    const outcome = host.ask("hi").catch((error: unknown) => error);
    await settle();
    await inner.release(others);
    await clock.advance(1_000);
    expect(await inner.acquire("default", "nobody", 1)).toBeNull();
    expect(await inboxOf(inner).unanswered("default")).toHaveLength(1);
    await host.close();
    expect(await outcome).toMatchObject({ name: "ThreadClosedError" });
  });

  test("and acquired again, as no other host wanted it, continues here", async () => {
    const model = held();
    const { host, store } = stage({ script: [model.step, says("again")] });
    const one = host.ask("one");
    await settle();
    await store.release({ threadId: "default", owner: "owner-1", token: 1 });
    model.answer(says("not stored"));
    expect((await one).text).toBe("again");
  });

  test("that never lasts fails its asks", async () => {
    const { clock, inner } = stored();
    const store = overriding(inner, { acquire: (threadId, owner) => inner.acquire(threadId, owner, 0) });
    const { host } = stage({ clock, store });
    expect(await errorOf(host.ask("one"))).toMatchObject({
      name: "LeaseLostError",
      message: expect.stringMatching(
        /^thread "default": the lease of "owner-1" \(token \d+\) is no longer in force\. Open the thread again to acquire/,
      ),
    });
  });
});

const asksOf = async (store: Store) =>
  (await entriesOf(store)).flatMap(({ event }) => (event.type === "ask.received" ? [event.input] : []));

const many = (length: number): readonly LlmOutcome[] => Array.from({ length }, (_, index) => says(`${index}`));

const asked = (askId: string, at: number): Event => ({ type: "ask.received", at, askId, input: askId });

describe("the inbox items of a host that acquires the lease", () => {
  test("are handled if it closes while it reads the inbox", async () => {
    const first = stage({ script: [says("1")] });
    await first.host.ask("one");
    await first.host.close();
    const { store: inner, clock } = first;
    const inbox = inboxOf(inner);
    const gate = Promise.withResolvers<void>();
    let isHeld = false;
    const store = overriding(inner, {
      inbox: {
        ...inbox,
        unanswered: async (threadId) => {
          if (isHeld) await gate.promise;
          return inbox.unanswered(threadId);
        },
      },
    });
    const lease = await inner.acquire("default", "stopped", 1_000_000);
    const { host } = stage({ clock, store, script: [] });
    const cancelled = errorOf(host.thread().cancel());
    await clock.advance(400);
    expect(await inbox.unanswered("default")).toHaveLength(1);
    isHeld = true;
    if (lease !== null) await inner.release(lease);
    await clock.advance(400);
    const closed = host.close();
    gate.resolve();
    await during(clock, 200, closed);
    expect(await cancelled).toMatchObject({ name: "ThreadClosedError" });
  });
});
