import { describe, expect, test } from "vitest";
import { memoryStore } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { gated, overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import { errorOf, queue, says, settle, stored } from "../stage.ts";
import { afterCrash, everyMs, leaseTtlMs, recovering, replies, stage, statusOf } from "./left-threads.ts";

describe("a thread that was left", () => {
  test("continues a turn that another host closed in its middle, and no thread that it closed idle", async () => {
    const { clock, inner: store } = stored();
    const first = stage({
      clock,
      store,
      machine: queue,
      leaseTtlMs,
      script: [says("done"), () => new Promise(() => {})],
    });
    await first.host.ask("hi", { threadId: "idle" });
    void first.host.ask("hi", { threadId: "open" }).catch(() => {});
    await settle();
    await first.host.close();
    expect(await store.abandoned()).toEqual(["open"]);
    const { host, rounds } = recovering({ clock, store });
    host.start();
    await clock.advance(1);
    expect(rounds).toEqual([{ continued: ["open"], left: [] }]);
    expect(await statusOf(store, clock, "open")).toEqual(["completed"]);
    await host.close();
    expect(await store.abandoned()).toEqual([]);
  });

  test("continues a thread whose last append was stored as its host was closed", async () => {
    const { clock, inner } = stored();
    const { store, pass } = gated(inner);
    const first = stage({ clock, store, machine: queue, leaseTtlMs, script: [] });
    void first.host.ask("hi", { threadId: "a" }).catch(() => {});
    await settle();
    // The thread is started, and its ask is being stored.
    await pass();
    const closed = first.host.close();
    await pass();
    await closed;
    expect(await inner.read("a")).toHaveLength(2);
    expect(await inner.abandoned()).toEqual(["a"]);
  });

  test("continues an imported turn, and does not look at an imported thread without one", async () => {
    const { clock, store } = await afterCrash(["open"]);
    const entries = (await store.read("open")) as readonly Entry[];
    const other = memoryStore({ clock });
    const importing = stage({ clock, store: other, machine: queue });
    await importing.host.importJournal(entries, { threadId: "turn" });
    await importing.host.importJournal(entries.slice(0, 1), { threadId: "none" });
    expect(await other.abandoned()).toEqual(["turn"]);
    const { host, rounds } = recovering({ clock, store: other });
    host.start();
    await clock.advance(1);
    expect(rounds).toEqual([{ continued: ["turn"], left: [] }]);
    await host.close();
    expect(await other.abandoned()).toEqual([]);
  });

  test("continues a thread although its lease was taken to redact an earlier turn", async () => {
    const { clock, store } = await afterCrash(["a"]);
    await clock.advance(leaseTtlMs + 1);
    const refused = await errorOf(stage({ clock, store, machine: queue }).host.thread("a").redact({ turn: 5 }));
    expect(refused).toMatchObject({ name: "EventRefusedError" });
    expect(await store.abandoned()).toEqual(["a"]);
  });

  test("is not given back if the store fails while a host looks under its lease", async () => {
    const { clock, inner } = stored();
    const first = stage({ clock, store: inner, machine: queue, script: [] });
    await first.host.thread("a").start();
    await first.host.close();
    await inner.acquire("a", "somebody dead", 0);
    let reads = 0;
    const store = overriding(inner, {
      read: async (...given) => {
        if (++reads === 2) throw new Error("no connection");
        return inner.read(...given);
      },
    });
    const { host, rounds } = recovering({ clock, store });
    host.start();
    await clock.advance(1);
    expect(rounds).toMatchObject([{ continued: [], left: [{ threadId: "a" }] }]);
    expect(await inner.abandoned()).toEqual(["a"]);
    await clock.advance(everyMs);
    expect(await inner.abandoned()).toEqual([]);
  });

  test("is not reported as held if its last item is answered between the two looks at it", async () => {
    const { host: first, store: inner, clock } = stage();
    await first.thread("a").start();
    await first.close();
    const item = { id: "item", event: { type: "ask.received", at: 1, askId: "other", input: "hi" } } as const;
    await inner.inbox?.post("a", item);
    const { inbox } = inner;
    if (inbox === undefined) throw new Error("a memoryStore has an inbox");
    let looks = 0;
    const unanswered: typeof inbox.unanswered = async (threadId) => {
      const items = await inbox.unanswered(threadId);
      if (++looks === 1) await inbox.discard("a", item.id);
      return items;
    };
    const store = overriding(inner, { inbox: { ...inbox, unanswered } });
    const { host, rounds } = recovering({ clock, store });
    host.start();
    await clock.advance(1);
    expect(rounds).toEqual([{ continued: [], left: [] }]);
  });

  test("gives back a thread that it would not continue, once nothing is outstanding in it", async () => {
    const { host, store, clock } = stage({ script: replies });
    await host.thread("a").start({ metadata: { kind: "chat" } });
    await host.close();
    await store.acquire("a", "somebody dead", 0);
    const second = recovering({ clock, store, recovery: { continues: () => false } });
    second.host.start();
    await clock.advance(1);
    expect(second.rounds).toEqual([{ continued: [], left: [] }]);
    expect(await store.abandoned()).toEqual([]);
  });

  test("handles an ask that waits in the inbox of a thread whose first host died before its first entry", async () => {
    const { clock, inner: store } = stored();
    await store.acquire("a", "somebody dead", 0);
    await store.inbox?.post("a", { id: "item", event: { type: "ask.received", at: 1, askId: "left", input: "hi" } });
    const { host, rounds } = recovering({ clock, store });
    host.start();
    await clock.advance(1);
    expect(rounds).toEqual([{ continued: ["a"], left: [] }]);
    expect(await statusOf(store, clock, "a")).toEqual(["completed"]);
  });

  test("drops the request of a dead host for a thread in which nothing is outstanding", async () => {
    const { host, store, clock } = stage();
    await host.thread("a").start();
    await host.close();
    const event = { type: "cancel.requested", at: 1, askId: "item" } as const;
    await store.inbox?.post("a", { id: "item", event });
    recovering({ clock, store }).host.start();
    await clock.advance(1);
    expect(await store.inbox?.waiting()).toEqual([]);
  });

  test("finishes a redaction during which its host died", async () => {
    const { host, store: inner, clock } = stage({ script: replies });
    await host.ask("the secret", { threadId: "a" });
    await host.close();
    const dying = mortal(inner);
    const store = overriding(dying.store, { rewrite: () => new Promise(() => {}) });
    void stage({ clock, store, leaseTtlMs }).host.thread("a").redact({ turn: 1 });
    await settle();
    dying.die();
    expect(JSON.stringify(await inner.read("a"))).toContain("the secret");
    const second = recovering({ clock, store: inner });
    second.host.start();
    await clock.advance(leaseTtlMs + 2_000);
    expect(JSON.stringify(await inner.read("a"))).not.toContain("the secret");
    expect(second.rounds).toEqual([{ continued: [], left: [] }]);
  });
});
