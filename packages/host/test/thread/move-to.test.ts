import { EventRefusedError, ThreadExistsError, ThreadHeldError, ThreadUnknownError, memoryStore } from "@colloquy/host";
import { LeaseLostError } from "@colloquy/host/store";
import { describe, expect, test } from "vitest";
import { engineStage } from "../engine.ts";
import { overriding } from "../gated-store.ts";
import { calls, echo, entriesOf, errorOf, held, manualClock, says, settle, stage, during, stored } from "../stage.ts";

/** Makes another host over another store. */
const elsewhere = (options: Parameters<typeof stage>[0] = {}) => stage({ tools: [echo], ...options });

describe("moving a thread", () => {
  test("stores its journal with the other host, entry by entry, and leaves nothing here", async () => {
    const { host, store } = elsewhere({ script: [calls(["echo", { text: "a" }]), says("1")] });
    const other = elsewhere({ script: [says("2")] });
    await host.thread("ada").ask("one", { askId: "one" });
    await host.thread("ada").redact({ turn: 1 });
    const entries = await entriesOf(store, "ada");
    const moved = await host.thread("ada").moveTo(other.host);
    expect(await entriesOf(other.store, "ada")).toEqual(entries);
    expect(await store.read("ada")).toEqual([]);
    expect(await moved.ask("two", { askId: "two" })).toMatchObject({ threadId: "ada", turn: 2, text: "2" });
    expect(await errorOf(host.thread("ada").moveTo(other.host))).toBeInstanceOf(ThreadUnknownError);
  });

  test("stops the open turn here, and the other host continues it", async () => {
    const model = held();
    const { host } = elsewhere({ script: [model.step] });
    const other = elsewhere({ script: [says("there")] });
    const asked = host.thread().ask("one", { askId: "a" });
    await settle();
    const moved = await host.thread().moveTo(other.host);
    expect(model.signal()?.aborted).toBe(true);
    expect(await errorOf(asked)).toMatchObject({
      name: "ThreadClosedError",
      message: expect.stringMatching(/moved to another host/),
    });
    const { turn } = await moved.resume();
    expect(await turn).toMatchObject({ askId: "a", turn: 1, text: "there" });
  });

  test("is finished by a second call if the first one failed between the two stores", async () => {
    const inner = memoryStore({ clock: manualClock() });
    let isDown = true;
    const store = overriding(inner, {
      delete: async (...given) => {
        if (isDown) throw new Error("down");
        return inner.delete(...given);
      },
    });
    const { host } = elsewhere({ store, script: [says("1")] });
    const other = elsewhere({ script: [says("2")] });
    await host.ask("one", { askId: "one" });
    expect(await errorOf(host.thread().moveTo(other.host))).toMatchObject({ name: "StoreError" });
    expect(await entriesOf(other.store)).toEqual(await entriesOf(inner));
    isDown = false;
    // The thread continued there, and was redacted.
    await other.host.ask("two", { askId: "two" });
    await other.host.thread().redact({ turn: 1 });
    await host.thread().moveTo(other.host);
    expect(await inner.read("default")).toEqual([]);
    expect((await other.host.thread().state())?.context.conversation.turns.length).toBe(2);
  });

  test("deletes nothing if the process was paused past its lease, and another host continued the thread", async () => {
    const { clock, inner } = stored();
    const next = elsewhere({ store: inner, clock, owner: "next", script: [says("2")] });
    const store = overriding(inner, {
      delete: async (...given) => {
        // The process is paused: its timers do not fire.
        const later = clock.now() + 60_000;
        clock.now = () => later;
        await next.host.ask("two");
        return inner.delete(...given);
      },
    });
    const { host } = elsewhere({ store, clock, script: [says("1")] });
    await host.ask("one");
    expect(await errorOf(host.thread().moveTo(elsewhere({}).host))).toBeInstanceOf(LeaseLostError);
    expect((await next.host.thread().state())?.context.conversation.turns.length).toBe(2);
    expect(await entriesOf(inner)).toHaveLength(5);
  });

  test("does not call the store's delete after its lease was not renewed, even if delete checks no lease", async () => {
    const { clock, inner } = stored();
    const deleted: string[] = [];
    const store = overriding(inner, {
      renew: async () => false,
      delete: async (threadId) => deleted.push(threadId) > 0,
    });
    const { host } = elsewhere({ store, clock, script: [says("1")] });
    await host.ask("one");
    expect(await errorOf(host.thread().moveTo(elsewhere({}).host))).toBeInstanceOf(LeaseLostError);
    expect(deleted).toEqual([]);
  });

  test("is refused if the other host has another thread of that id, and nothing is lost or stopped", async () => {
    const model = held();
    const { host, store } = elsewhere({ script: [says("1")] });
    const other = elsewhere({ script: [model.step] });
    await host.ask("one", { askId: "one" });
    const asked = other.host.ask("else");
    await settle();
    const before = await entriesOf(store);
    expect(await errorOf(host.thread().moveTo(other.host))).toBeInstanceOf(ThreadExistsError);
    expect(await entriesOf(store)).toEqual(before);
    model.answer(says("still here"));
    expect((await asked).text).toBe("still here");
  });

  test("is refused to the same host and to another host over the same store, and nothing is lost", async () => {
    const model = held();
    const machine = { overlap: { type: "queue", max: 5 } } as const;
    const first = elsewhere({ owner: "first", idleMs: 0, machine, script: [says("1"), model.step] });
    await first.host.ask("one", { askId: "one" });
    await first.clock.advance(1_000);
    const second = first.another({ owner: "second" });
    const twin = first.another({ owner: "first" });
    const before = await entriesOf(first.store);
    expect(await errorOf(first.host.thread().moveTo(first.host))).toBeInstanceOf(EventRefusedError);
    const moved = (): Promise<unknown> => during(first.clock, 6_000, errorOf(first.host.thread().moveTo(second.host)));
    expect(await moved()).toBeInstanceOf(ThreadHeldError);
    // The other host leaves an ask in the inbox, and follows it.
    void first.host.ask("two", { askId: "two" });
    await settle();
    const followed = second.host.ask("three", { askId: "c" });
    await first.clock.advance(1_000);
    expect(await moved()).toBeInstanceOf(ThreadHeldError);
    expect(await errorOf(followed)).toMatchObject({ name: "ThreadClosedError" });
    expect(await errorOf(first.host.thread().moveTo(twin.host))).toMatchObject({ name: "LeaseLostError" });
    expect((await entriesOf(first.store)).slice(0, before.length)).toEqual(before);
  });

  test("is refused while another host works on the thread, and while its inbox has an item", async () => {
    const model = held();
    const first = elsewhere({ machine: { overlap: { type: "queue", max: 5 } }, script: [model.step, says("2")] });
    const other = elsewhere();
    void first.host.ask("one", { askId: "one" });
    await settle();
    const second = first.another();
    const moved = errorOf(second.host.thread().moveTo(other.host));
    expect(await during(first.clock, 400, moved)).toBeInstanceOf(ThreadHeldError);
    const { inbox } = first.store;
    await inbox?.post("default", {
      id: "item",
      event: { type: "ask.received", at: first.clock.now(), askId: "b", input: "two" },
    });
    expect(await errorOf(first.host.thread().moveTo(other.host))).toMatchObject({ refusal: { kind: "busy" } });
    expect(await other.store.read("default")).toEqual([]);
  });

  test("goes to the store of an engine and back", async () => {
    const there = engineStage({ tools: [echo], script: [says("2"), calls(["echo", { text: "a" }])] });
    const over = there.client();
    const { host, store } = elsewhere({ script: [says("1"), says("3")] });
    await host.ask("one", { askId: "one" });
    const entries = await entriesOf(store);
    const moved = await host.thread().moveTo(over);
    expect(await entriesOf(there.store)).toEqual(entries);
    const two = moved.ask("two", { askId: "two" });
    await there.worker.clock.advance(10_000);
    expect((await two).text).toBe("2");
    const journal = await entriesOf(there.store);
    const back = await moved.moveTo(host);
    expect(await entriesOf(store)).toEqual(journal);
    expect(await there.store.read("default")).toEqual([]);
    expect(await back.ask("three", { askId: "three" })).toMatchObject({ turn: 3, text: "3" });
  });
});

describe("deleting", () => {
  test("leaves nothing, closes what is open here, and makes room for a new thread of that id", async () => {
    const model = held();
    const { host, store } = stage({ script: [says("1"), model.step, says("new")] });
    const thread = host.thread();
    await thread.ask("one");
    const asked = thread.ask("two");
    await settle();
    expect(await thread.delete()).toBe(true);
    expect(await errorOf(asked)).toMatchObject({
      name: "ThreadClosedError",
      message: expect.stringMatching(/deleted\. Asking again begins a new one/),
    });
    expect(model.signal()?.aborted).toBe(true);
    expect(await thread.state()).toBeNull();
    expect(await store.read("default")).toEqual([]);
    expect(await thread.delete()).toBe(false);
    expect(await thread.ask("again")).toMatchObject({ text: "new", turn: 1 });
  });

  test("is refused while another host works on the thread, and an ask that follows it there continues", async () => {
    const model = held();
    const machine = { overlap: { type: "queue", max: 5 } } as const;
    const first = stage({ machine, script: [model.step, says("2")] });
    const asked = first.host.ask("one");
    await settle();
    const second = first.another();
    const deleted = (): Promise<unknown> => during(first.clock, 400, errorOf(second.host.thread().delete()));
    expect(await deleted()).toBeInstanceOf(ThreadHeldError);
    const followed = second.host.ask("two");
    await first.clock.advance(1_000);
    expect(await deleted()).toBeInstanceOf(ThreadHeldError);
    model.answer(says("1"));
    expect((await asked).text).toBe("1");
    await first.clock.advance(1_000);
    expect((await followed).text).toBe("2");
  });
});
