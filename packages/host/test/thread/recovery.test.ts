import { describe, expect, test, vi } from "vitest";
import type { Store } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import { errorOf, queue, says, settle, type StageOptions, stored } from "../stage.ts";
import { afterCrash, everyMs, leaseTtlMs, recovering, stage, statusOf } from "./left-threads.ts";

describe("a host that is started", () => {
  test("calls neither its store nor its model before it is started or used", async () => {
    const { clock, store } = await afterCrash(["a"]);
    const calls: string[] = [];
    const watched = new Proxy(store, {
      get: (target, name): unknown => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return (...given: unknown[]): unknown => {
          calls.push(String(name));
          return Reflect.apply(member, target, given);
        };
      },
    });
    const { host, model } = recovering({ clock, store: watched });
    await clock.advance(2 * everyMs);
    expect([calls, model.calls]).toEqual([[], []]);
    host.start();
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls[0]).toBe("abandoned");
  });

  test("continues each thread whose dead holder's lease ran out, and no other", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const { clock, store } = await afterCrash(names);
    const { host, rounds, model } = recovering({ clock, store });
    await stage({ clock, store }).host.thread("quiet").append({ role: "user", content: "nothing to do" });
    host.start();
    host.start();
    await clock.advance(1);
    expect(rounds).toEqual([{ continued: [], left: [] }]);
    await clock.advance(leaseTtlMs + 2_000);
    expect(
      rounds
        .slice(1)
        .flatMap(({ continued }) => continued)
        .toSorted(),
    ).toEqual(names);
    expect(rounds.at(-1)?.left).toEqual([]);
    for (const name of names) expect(await statusOf(store, clock, name)).toEqual(["completed"]);
    await clock.advance(3 * everyMs);
    expect(model.calls).toHaveLength(names.length);
  });

  test("takes over a thread whose holder dies long after", async () => {
    const { clock, inner: store } = stored();
    const { host } = recovering({ clock, store });
    host.start();
    await clock.advance(10 * everyMs);
    const dying = mortal(store);
    const dead = stage({
      clock,
      store: dying.store,
      machine: queue,
      leaseTtlMs,
      script: [() => new Promise(() => {})],
    });
    void dead.host.ask("hi", { threadId: "a" });
    await clock.advance(5 * everyMs);
    expect(await statusOf(store, clock, "a")).toEqual(["open"]);
    dying.die();
    await clock.advance(leaseTtlMs + everyMs);
    expect(await statusOf(store, clock, "a")).toEqual(["completed"]);
  });

  test("continues a thread again where its store failed meanwhile", async () => {
    const { clock, store: inner } = await afterCrash(["a"]);
    let failures = 1;
    const append: Store["append"] = async (...given) => {
      if (given[2].some(({ event }) => event.type === "llm.completed") && failures-- > 0) throw new Error("it is full");
      await inner.append(...given);
    };
    const { host, rounds } = recovering({ clock, store: overriding(inner, { append }) });
    // So long that nothing has changed in it since the last look.
    await clock.advance(5 * everyMs);
    host.start();
    await clock.advance(1_000);
    expect(await statusOf(inner, clock, "a")).toEqual(["open"]);
    await clock.advance(2 * everyMs);
    expect(await statusOf(inner, clock, "a")).toEqual(["completed"]);
    expect(rounds.flatMap(({ continued }) => continued)).toEqual(["a", "a"]);
  });

  test("leaves a thread to its living holder", async () => {
    const { clock, inner: store } = stored();
    const alive = stage({ clock, store, machine: queue, leaseTtlMs, script: [() => new Promise(() => {})] });
    void alive.host.ask("hi");
    await settle();
    const { host, model, rounds } = recovering({ clock, store });
    host.start();
    await clock.advance(10 * everyMs);
    expect(model.calls).toEqual([]);
    expect(rounds).toHaveLength(1);
  });

  test("reports a store that does not name the abandoned threads, and looks again", async () => {
    const { clock, store } = await afterCrash(["a"]);
    const { host, reported, rounds } = recovering({ clock, store });
    const naming = vi.spyOn(store, "abandoned").mockRejectedValueOnce(new Error("no connection"));
    host.start();
    await clock.advance(leaseTtlMs + 2_000);
    expect([reported, rounds]).toEqual([["recovery: Error: no connection"], []]);
    await clock.advance(everyMs);
    naming.mockRestore();
    expect(rounds).toMatchObject([{ continued: ["a"], left: [] }]);
  });

  test("looks no more once it is closed", async () => {
    const { clock, store } = await afterCrash(["a"]);
    const { host, model } = recovering({ clock, store });
    const before = clock.sleepers;
    host.start();
    await clock.advance(1);
    expect(clock.sleepers).toBe(before + 1); // the next look
    await host.close();
    host.start();
    expect(clock.sleepers).toBe(before);
    await clock.advance(3 * everyMs);
    expect(model.calls).toEqual([]);
  });

  test("takes and reports nothing more if it is closed while its store names the abandoned threads", async () => {
    const { clock, store } = await afterCrash(["a"]);
    for (const fails of [false, true]) {
      const { host, reported, rounds } = recovering({ clock, store });
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      const naming = vi.spyOn(store, "abandoned").mockReturnValueOnce(promise);
      const reading = vi.spyOn(store, "read");
      host.start();
      await clock.advance(1);
      await host.close();
      if (fails) reject(new Error("no connection"));
      else resolve(["a"]);
      await clock.advance(3 * everyMs);
      expect([naming.mock.calls.length, reading.mock.calls.length, clock.sleepers]).toEqual([1, 0, 0]);
      expect([reported, rounds]).toEqual([[], []]);
      naming.mockRestore();
      reading.mockRestore();
    }
  });

  test("refuses to start while its model handler can make no call", async () => {
    const { host, clock, rounds } = recovering({
      check: () => {
        throw new Error("no key");
      },
    });
    expect(() => host.start()).toThrow("no key");
    await host.thread("a").start();
    await clock.advance(1);
    expect(rounds).toEqual([]);
  });
});

describe("a host that is only used", () => {
  test("looks once, with its first change of a thread, and not when it only reads", async () => {
    const { clock, store } = await afterCrash(["a", "b"]);
    await clock.advance(leaseTtlMs + 1);
    const { host, rounds } = recovering({ clock, store });
    await host.threads();
    await host.thread("a").state();
    await host.thread("a").approvals();
    await clock.advance(everyMs);
    expect(rounds).toEqual([]);
    const asked = host.ask("hi", { threadId: "other" });
    await clock.advance(1);
    await asked;
    expect(rounds).toMatchObject([{ left: [] }]);
    expect(rounds[0]?.continued.toSorted()).toEqual(["a", "b"]);
    await clock.advance(10 * everyMs);
    expect([rounds.length, clock.sleepers]).toEqual([1, 0]);
  });

  test("looks again with a later use if its store failed, not before the time between two looks", async () => {
    const { clock, store } = await afterCrash(["a"]);
    await clock.advance(leaseTtlMs + 1);
    const { host, rounds, reported } = recovering({ clock, store });
    vi.spyOn(store, "abandoned").mockRejectedValueOnce(new Error("no connection"));
    for (const [waited, threadId] of [
      [1, "b"],
      [everyMs - 2, "c"],
    ] as const) {
      void host.ask("hi", { threadId });
      await clock.advance(waited);
    }
    expect([rounds, reported]).toEqual([[], ["recovery: Error: no connection"]]);
    await clock.advance(1);
    void host.ask("hi", { threadId: "d" });
    await clock.advance(1);
    expect(rounds).toEqual([{ continued: ["a"], left: [] }]);
  });

  test("continues nothing by itself where recovery is false, or its threads live in memory alone", async () => {
    const { clock, store } = await afterCrash(["a"]);
    await clock.advance(leaseTtlMs + 1);
    const { host, rounds } = recovering({ clock, store, recovery: false });
    host.start();
    const asked = [host.ask("hi", { threadId: "b" }), host.inMemory().ask("hi")];
    await clock.advance(1);
    await Promise.all(asked);
    await clock.advance(3 * everyMs);
    expect(rounds).toEqual([]);
    expect(await statusOf(store, clock, "a")).toEqual(["open"]);
  });
});

describe("recovery", () => {
  const seconds = (...numbers: readonly number[]): readonly number[] => numbers.map((number) => number * 1_000);
  const first = seconds(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);

  test.each<[string, NonNullable<StageOptions["recovery"]>, readonly number[]]>([
    ["used", {}, [...first, 11_000]],
    ["started", {}, [...first, ...seconds(11, 30, 60)]],
    ["used, and started later", {}, [...first, ...seconds(11, 30, 60)]],
    ["started", { everyMs: 10_500 }, [...first, ...seconds(10.5, 11.5, 21, 31.5, 42, 52.5, 63)]],
  ])(
    "of a host that is %s with %j asks the store each second while a dead holder may have a lease, then seldom",
    async (use, recovery, expected) => {
      const { clock, inner } = stored();
      const begunAt = clock.now();
      const looks: number[] = [];
      const abandoned: Store["abandoned"] = () => (looks.push(clock.now() - begunAt), inner.abandoned());
      const { host } = recovering({ clock, store: overriding(inner, { abandoned }), recovery });
      if (use === "started") host.start();
      else await host.thread("a").start();
      await clock.advance(20_000);
      if (use.endsWith("later")) host.start();
      await clock.advance(50_000);
      expect(looks).toEqual(expected);
      await host.close();
    },
  );

  test("goes by what is outstanding when another host releases a thread, not by what was when it first looked", async () => {
    const { clock, inner } = stored();
    const { store, die } = mortal(inner);
    const gate = Promise.withResolvers<void>();
    const script = Array.from({ length: 9 }, () => async ({ turn }: { readonly turn: number }) => {
      await (turn === 1 ? gate.promise : new Promise<never>(() => {}));
      return says("done");
    });
    const first = stage({ clock, store, machine: queue, leaseTtlMs, script });
    const asked = ["ended", "goes on"].map((threadId) => first.host.ask("hi", { threadId }));
    await settle();
    const { host, rounds } = recovering({ clock, store: inner });
    host.start();
    await clock.advance(1);
    gate.resolve();
    await Promise.all(asked);
    void first.host.ask("and then?", { threadId: "goes on" });
    void first.host.ask("and last?", { threadId: "goes on" });
    await settle();
    die();
    await clock.advance(leaseTtlMs + 2_000);
    expect(rounds.slice(1)).toEqual([{ continued: ["goes on"], left: [] }]);
    expect(await statusOf(inner, clock, "goes on")).toEqual(["completed", "completed", "completed"]);
  });

  test("reads no thread that is open here, or that was given back", async () => {
    const { clock, inner } = stored();
    const read: string[] = [];
    const store = overriding(inner, {
      read: async (threadId, from) => {
        read.push(threadId);
        return inner.read(threadId, from);
      },
    });
    await stage({ clock, store: inner }).host.thread("other").append({ role: "user", content: "nothing to do" });
    const { host, rounds } = recovering({ clock, store });
    await host.ask("hi", { threadId: "used" });
    const opened = read.splice(0);
    await clock.advance(1);
    expect(rounds).toEqual([{ continued: [], left: [] }]);
    expect([opened, read]).toEqual([["used"], []]);
  });

  test("says what it could not take, and why", async () => {
    const { clock, store } = await afterCrash(["held", "odd", "sound"]);
    await clock.advance(leaseTtlMs + 1);
    await store.acquire("held", "somebody alive", 1_000_000);
    const broken = overriding(store, {
      // Somebody may take a thread just after it was named.
      abandoned: async () => ["held", ...(await store.abandoned())],
      read: async (threadId, from) => (threadId === "odd" ? [{ seq: "?" }] : store.read(threadId, from)),
    });
    const { host, rounds } = recovering({ clock, store: broken });
    host.start();
    await clock.advance(1);
    expect(rounds[0]?.continued).toEqual(["sound"]);
    expect(rounds[0]?.left.toSorted((one, other) => one.threadId.localeCompare(other.threadId))).toMatchObject([
      { threadId: "held", error: { name: "ThreadHeldError" } },
      { threadId: "odd", error: { name: "JournalUnreadableError" } },
    ]);
  });

  test("continues what only lies in an inbox, in the threads of some metadata", async () => {
    const { host, store, clock } = stage();
    await host.thread("a").start({ metadata: { kind: "chat" } });
    await host.thread("b").start({ metadata: { kind: "mail" } });
    await host.close();
    const ask = { type: "ask.received", at: 1, askId: "left", input: "hi" } as const;
    for (const id of ["a", "b"]) await store.inbox?.post(id, { id: "item", event: ask });
    const second = recovering({ clock, store, recovery: { continues: ({ kind }) => kind === "mail" } });
    second.host.start();
    await clock.advance(1);
    expect(second.rounds).toEqual([{ continued: ["b"], left: [] }]);
    expect(await second.host.thread("b").asked("left")).toMatchObject({ status: "completed" });
    expect(await second.host.thread("a").asked("left")).toBeNull();
  });

  test("continues what is left in an inbox later, where the store says in which threads items wait", async () => {
    const { host, store: inner, clock } = stage();
    for (const kind of ["chat", "mail"]) await host.thread(kind).start({ metadata: { kind } });
    await host.close();
    const { inbox } = inner;
    if (inbox === undefined) throw new Error("the store has no inbox");
    const posted = new Set<string>();
    const store = overriding(inner, { inbox: { ...inbox, waiting: async () => [...posted] } });
    const { host: second, rounds } = recovering({
      clock,
      store,
      recovery: { everyMs, continues: ({ kind }) => kind === "mail" },
    });
    second.start();
    // So long that nothing has changed in the threads since the last look.
    await clock.advance(5 * everyMs);
    const event = { type: "ask.received", at: 1, askId: "left", input: "hi" } as const;
    for (const id of ["chat", "mail", "unknown"]) {
      await inbox.post(id, { id: "item", event });
      posted.add(id);
    }
    await clock.advance(everyMs);
    expect(await statusOf(inner, clock, "mail")).toEqual(["completed"]);
    expect(await statusOf(inner, clock, "chat")).toEqual([]);
    expect(rounds.flatMap(({ continued, left }) => [...continued, ...left])).toEqual(["mail"]);
  });

  test.each([
    ["fails", () => Promise.reject(new Error("it can't say")), "recovery: Error: it can't say"],
    ["says nothing", () => new Promise<never>(() => {}), "recovery: StoreTimeoutError"],
  ])("looks at the threads that are listed if the store %s when asked where items wait", async (_, waiting, said) => {
    const { clock, store } = await afterCrash(["a"]);
    const { inbox } = store;
    if (inbox === undefined) throw new Error("the store has no inbox");
    const failing = overriding(store, { inbox: { ...inbox, waiting } });
    const { host, rounds, reported } = recovering({ clock, store: failing });
    await clock.advance(leaseTtlMs + 1);
    host.start();
    await clock.advance(2 * everyMs);
    expect(rounds.flatMap(({ continued }) => continued)).toEqual(["a"]);
    expect(reported[0]).toContain(said);
    expect(await statusOf(store, clock, "a")).toEqual(["completed"]);
  });

  test("does not open a thread for an inbox item without an id, which stays", async () => {
    const { host, store: inner, clock } = stage();
    await host.thread("a").start();
    await host.close();
    const { inbox } = inner;
    if (inbox === undefined) throw new Error("the store has no inbox");
    const odd = { ...inbox, unanswered: async () => [{ event: "?" }], waiting: async () => ["a"] };
    const { host: second, rounds, reported } = recovering({ clock, store: overriding(inner, { inbox: odd }) });
    second.start();
    await clock.advance(5 * everyMs);
    expect([rounds, reported]).toEqual([[{ continued: [], left: [] }], []]);
  });

  test("reports a later look if another thread cannot be judged, or one that could be before", async () => {
    const { clock, store } = await afterCrash(["a"]);
    let isOdd = true;
    // Cast: a function in JavaScript may return anything.
    const continues = (() => (isOdd ? Promise.resolve(false) : false)) as () => boolean;
    const { host, rounds } = recovering({ clock, store, recovery: { everyMs, continues } });
    host.start();
    await clock.advance(leaseTtlMs + everyMs);
    const message = "createHost: recovery: continues(metadata) must be true or false (got an object)";
    const left = [{ threadId: "a", error: expect.objectContaining({ message }) }];
    expect(rounds).toEqual([
      { continued: [], left: [] },
      { continued: [], left },
    ]);
    await clock.advance(3 * everyMs);
    expect(rounds).toHaveLength(2);
    await store.acquire("b", "somebody dead", 0);
    await store.inbox?.post("b", { id: "item", event: { type: "ask.received", at: 1, askId: "left", input: "hi" } });
    await clock.advance(everyMs);
    expect(rounds.slice(2).map((round) => round.left.map(({ threadId }) => threadId))).toEqual([["a", "b"]]);
    isOdd = false;
    await clock.advance(everyMs);
    expect(rounds).toHaveLength(3);
    isOdd = true;
    await clock.advance(everyMs);
    expect(rounds.slice(3).map((round) => round.left.map(({ threadId }) => threadId))).toEqual([["a", "b"]]);
  });

  test.each([true, 1, { everyMs: 0 }, { everyMs: "fast" }, { continues: 1 }, { leaseMs: 1 }])(
    "refuses %j as its options",
    async (recovery) => {
      // JavaScript may pass anything.
      const options = { recovery } as object;
      expect(await errorOf(Promise.resolve().then(() => stage(options)))).toMatchObject({ name: "ConfigurationError" });
    },
  );
});
