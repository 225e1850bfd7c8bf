import { describe, expect, test } from "vitest";
import { memoryStore, SearchUnavailableError, ThreadClosedError } from "@colloquy/host";
import { gated, overriding } from "./gated-store.ts";
import { errorOf, inboxOf, journalOf, manualClock, says, settle, stage, stored } from "./stage.ts";

describe("all threads", () => {
  test("cannot be searched if the store cannot, which the error says", async () => {
    const clock = manualClock();
    const store = overriding(memoryStore({ clock }), {});
    delete store.search;
    expect(await errorOf(stage({ clock, store }).host.search("queen"))).toBeInstanceOf(SearchUnavailableError);
  });
});

test("a host that is closed while a deletion waits for a write deletes nothing", async () => {
  const gate = gated(memoryStore({ clock: manualClock() }));
  const { host } = stage({ store: gate.store });
  host.ask("one").catch(() => {});
  await settle();
  void host.thread().close();
  const deleted = errorOf(host.thread().delete());
  await settle();
  const closing = host.close();
  await gate.pass();
  await closing;
  expect(await deleted).toBeInstanceOf(ThreadClosedError);
  expect(await journalOf(gate.store)).toEqual(["thread.started"]);
});

describe("a host without options for its times", () => {
  test("a host takes leases for 30 seconds, looks at inboxes every 200 ms, and releases an idle thread after five seconds", async () => {
    const { clock, inner } = stored();
    const ttls: number[] = [];
    let looks = 0;
    const inbox = inboxOf(inner);
    const store = overriding(inner, {
      acquire: (threadId, owner, ttlMs) => {
        ttls.push(ttlMs);
        return inner.acquire(threadId, owner, ttlMs);
      },
      inbox: { ...inbox, waiting: () => (looks++, inbox.waiting()) },
    });
    const { host } = stage({ clock, store, script: [says("1")] });
    await host.ask("one");
    await clock.advance(199);
    expect(looks).toBe(0);
    await clock.advance(1);
    expect(looks).toBe(1);
    await clock.advance(4_799);
    expect(await inner.acquire("default", "another", 1)).toBeNull();
    await clock.advance(1);
    expect(await inner.acquire("default", "another", 1)).not.toBeNull();
    expect(ttls).toEqual([30_000]);
  });

  test("a host gives a call of the store 30 seconds", async () => {
    const clock = manualClock();
    const { host } = stage({ clock, store: gated(memoryStore({ clock })).store });
    let isOver = false;
    const failed = errorOf(host.ask("one")).finally(() => (isOver = true));
    await clock.advance(29_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await failed).toMatchObject({ name: "StoreError" });
  });
});

test("a host in memory has the same parts, keeps nothing in the store, and lets go of its threads when it is closed", async () => {
  const { host } = stage({ script: [says("kept"), says("not kept")] });
  await host.ask("one", { threadId: "a" });
  const memory = host.inMemory();
  expect((await memory.ask("two", { threadId: "b" })).text).toBe("not kept");
  expect((await host.threads()).threads.map(({ threadId }) => threadId)).toEqual(["a"]);
  expect(await memory.thread("a").state()).toBeNull();
  await memory.close();
  expect(await host.inMemory().thread("b").state()).toBeNull();
});
