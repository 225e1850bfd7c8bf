import { describe, expect, test } from "vitest";
import { LeaseLostError } from "@colloquy/host/store";
import { AskRefusedError, memoryStore, StoreError, ThreadHeldError } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import { calls, echo, errorOf, held, journalOf, manualClock, says, settle, stage, during, stored } from "../stage.ts";

describe("the lease", () => {
  test("of another host keeps this one out, until it is given back", async () => {
    const model = held();
    const first = stage({ whenHeld: "reject", script: [model.step] });
    const handle = first.host.ask("one");
    await settle();
    const second = first.another({ script: [says("2")] });
    const refused = await during(first.clock, 400, errorOf(second.host.ask("two")));
    expect(refused).toBeInstanceOf(ThreadHeldError);
    expect(String(refused)).not.toContain("owner-");
    expect((await second.host.thread().state())?.context.open?.number).toBe(1);
    model.answer(says("1"));
    await handle;
    await first.host.close();
    expect((await second.host.ask("two")).text).toBe("2");
  });

  test("is renewed while work is under way, and released afterwards", async () => {
    const model = held();
    const first = stage({ whenHeld: "reject", leaseTtlMs: 9_000, idleMs: 1_000, script: [model.step, says("more")] });
    const handle = first.host.ask("one");
    await first.clock.advance(100_000);
    const second = first.another({ script: [says("2")] });
    expect(await during(first.clock, 400, errorOf(second.host.ask("two")))).toBeInstanceOf(ThreadHeldError);
    model.answer(says("1"));
    await handle;
    await first.clock.advance(900);
    expect((await first.host.ask("three")).text).toBe("more");
    await first.clock.advance(999);
    expect(await first.store.acquire("default", "another", 1)).toBeNull();
    await first.clock.advance(1);
    expect((await second.host.ask("two")).text).toBe("2");
    // The second one has timers to renew, to release when idle, and to read its inbox.
    expect(first.clock.sleepers).toBe(3);
  });

  test("a host that closes leaves no timer of a thread that was used several times", async () => {
    const { host, clock } = stage({ idleMs: 1_000, script: [says("1"), says("2"), says("3")] });
    for (const input of ["one", "two", "three"]) {
      await host.ask(input);
      await clock.advance(100);
    }
    await host.close();
    expect(clock.sleepers).toBe(0);
  });

  test("of a thread whose first ask was refused is given back, and nothing stays awake for it", async () => {
    const { host, clock, store } = stage({ idleMs: 1_000 });
    expect(await errorOf(host.ask(""))).toBeInstanceOf(AskRefusedError);
    await clock.advance(1_000);
    expect(clock.sleepers).toBe(0);
    expect(await store.acquire("default", "another", 1)).not.toBeNull();
  });

  test("lost stops everything, and journals nothing more", async () => {
    const model = held();
    const first = stage({ whenHeld: "reject", leaseTtlMs: 9_000, script: [model.step] });
    const lost = errorOf(first.host.ask("one", { askId: "a" }));
    await settle();
    // Another host takes the lease, as after a pause longer than the lease.
    const lease = { threadId: "default", owner: "owner-1", token: 1 };
    await first.store.release(lease);
    const second = first.another({ script: [says("from the second")] });
    expect((await second.host.ask("one", { askId: "a" })).text).toBe("from the second");
    await first.clock.advance(3_000);
    expect(await lost).toBeInstanceOf(LeaseLostError);
    expect(model.signal()?.aborted).toBe(true);
    model.answer(says("from the first"));
    await settle();
    expect(await journalOf(first.store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
  });

  test("that expired during a hook keeps its tool from running", async () => {
    const hook = Promise.withResolvers<void>();
    const runs: unknown[] = [];
    const first = stage({
      whenHeld: "reject",
      leaseTtlMs: 9_000,
      tools: [{ ...echo, run: (input) => runs.push(input) }],
      hooks: { beforeToolCall: () => hook.promise },
      script: [calls(["echo", { text: "x" }])],
    });
    const lost = errorOf(first.host.ask("one"));
    await settle();
    // The process was paused: its clock has advanced, but its timers have not fired.
    const later = first.clock.now() + 9_000;
    first.clock.now = () => later;
    hook.resolve();
    expect(await lost).toBeInstanceOf(LeaseLostError);
    expect(runs).toEqual([]);
  });

  test("lost is noticed at the next append, before anything is performed", async () => {
    const model = held();
    const first = stage({ whenHeld: "reject", script: [model.step] });
    const lost = errorOf(first.host.ask("one", { askId: "a" }));
    await settle();
    await first.store.release({ threadId: "default", owner: "owner-1", token: 1 });
    model.answer(says("too late"));
    expect(await lost).toBeInstanceOf(LeaseLostError);
    expect(await journalOf(first.store)).toEqual(["thread.started", "ask.received"]);
  });

  test("can't be had from a store that is away, which fails the ask", async () => {
    const clock = manualClock();
    const cause = new Error("away");
    const away = overriding(memoryStore({ clock }), { acquire: () => Promise.reject(cause) });
    const { host } = stage({ clock, store: away });
    expect(await errorOf(host.ask("one"))).toMatchObject({ name: "StoreError", cause });
  });

  test("that is being given back is waited for by the next use of the thread", async () => {
    const { clock, inner } = stored();
    let holders = 0;
    const { promise: mayRelease, resolve: release } = Promise.withResolvers<void>();
    const store = overriding(inner, {
      acquire: async (...given) => (holders++ === 0 ? inner.acquire(...given) : null),
      release: async (lease) => {
        await mayRelease;
        holders--;
        await inner.release(lease);
      },
    });
    const { host } = stage({ clock, store, script: [says("1"), says("2")] });
    await host.ask("one");
    const closing = host.thread().close();
    const next = host.ask("two");
    await settle();
    release();
    expect((await next).text).toBe("2");
    await closing;
  });

  test("that is given back while it is being renewed leaves no timer behind", async () => {
    const { clock, inner } = stored();
    const { promise: renewed, resolve: renew } = Promise.withResolvers<boolean>();
    const { host } = stage({
      clock,
      store: overriding(inner, { renew: async (lease, ttlMs) => (ttlMs === 0 ? inner.renew(lease, 0) : renewed) }),
      leaseTtlMs: 9_000,
      script: [held().step],
    });
    host.ask("one");
    await clock.advance(3_000);
    await host.close();
    renew(true);
    await settle();
    expect(clock.sleepers).toBe(0);
  });

  test("that is left while it is being renewed is free afterwards", async () => {
    const { clock, inner } = stored();
    const renewal = Promise.withResolvers<void>();
    const { host } = stage({
      clock,
      store: overriding(inner, {
        renew: async (lease, ttlMs) => {
          if (ttlMs > 0) await renewal.promise;
          return inner.renew(lease, ttlMs);
        },
      }),
      leaseTtlMs: 9_000,
      script: [held().step],
    });
    host.ask("one").catch(() => {});
    await clock.advance(3_000);
    await host.close();
    renewal.resolve();
    await settle();
    expect(await inner.abandoned()).toEqual(["default"]);
  });

  test("that is given back while it is being renewed is not renewed again", async () => {
    const { clock, inner } = stored();
    const renewal = Promise.withResolvers<void>();
    const renewals: number[] = [];
    const { host } = stage({
      clock,
      store: overriding(inner, {
        renew: async (_, ttlMs) => {
          renewals.push(ttlMs);
          await renewal.promise;
          return true;
        },
      }),
      leaseTtlMs: 9_000,
      script: [says("1")],
    });
    await host.ask("one");
    await clock.advance(3_000);
    await host.close();
    renewal.resolve();
    await settle();
    expect(renewals).toEqual([9_000]);
  });

  test("survives a store that is away for a moment, and not one that is away for longer", async () => {
    const clock = manualClock();
    for (const [failures, survives] of [
      [2, true],
      [4, false],
    ] as const) {
      const inner = memoryStore({ clock });
      let left: number = failures;
      const store = overriding(inner, {
        renew: async (...given) => {
          if (left-- > 0) throw new Error("away");
          return inner.renew(...given);
        },
      });
      const model = held();
      const reported: string[] = [];
      const { host } = stage({
        clock,
        store,
        whenHeld: "reject",
        leaseTtlMs: 9_000,
        script: [model.step],
        onObserverError: (_, where) => reported.push(where),
      });
      const handle = host.ask("one");
      const outcome = handle.catch((error: unknown) => error);
      await clock.advance(survives ? 8_999 : 9_000);
      if (survives) model.answer(says("done"));
      expect(await outcome).toMatchObject(survives ? { text: "done" } : { name: "LeaseLostError" });
      expect(reported.length).toBeGreaterThan(0);
      await host.close();
    }
  });

  test("is lost by the end of its time when the store answers nothing any more", async () => {
    const { clock, inner } = stored();
    const silent = overriding(inner, { renew: () => new Promise<never>(() => {}) });
    const model = held();
    const options = { whenHeld: "reject", leaseTtlMs: 4_000, storeTimeoutMs: 30_000 } as const;
    const { host } = stage({ clock, store: silent, ...options, script: [model.step] });
    const lost = errorOf(host.ask("one"));
    await clock.advance(3_999);
    expect(model.signal()?.aborted).toBe(false);
    await clock.advance(3);
    expect(model.signal()?.aborted).toBe(true);
    expect(await lost).toBeInstanceOf(LeaseLostError);
  });

  test("is renewed late by a process that stalled past its end, if no other host took it", async () => {
    const model = held();
    const { host, clock } = stage({ whenHeld: "reject", leaseTtlMs: 4_000, script: [model.step] });
    const handle = host.ask("one");
    await settle();
    const now = clock.now.bind(clock);
    clock.now = () => now() + 60_000;
    await clock.advance(2_000);
    model.answer(says("1"));
    expect((await handle).text).toBe("1");
  });

  test.each([undefined, "lease", {}])(
    "that is invalid, from a store that returns %j, fails with a reason and leaves nothing behind",
    async (given) => {
      const clock = manualClock();
      const store = Object.assign(overriding(memoryStore({ clock }), {}), { acquire: async () => given });
      const { host } = stage({ clock, store });
      const error = await errorOf(host.ask("one"));
      expect(error).toBeInstanceOf(StoreError);
      expect(String(error)).toMatch(/failed to acquire its lease: it gave .* in place of a lease/);
      await host.close();
    },
  );
});
