import { AskRefusedError, ThreadUnknownError, EventRefusedError, ThreadExistsError } from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { entriesOf, errorOf, held, partsOf, says, settle, stage, stored, texts, calls, echo } from "../stage.ts";

const answers = ["A1", "A2", "A3", "A4"].map(says);

describe("an ask after an earlier turn", () => {
  test("options that say nothing are refused in words", async () => {
    const { host } = stage({ script: answers });
    const thread = host.thread();
    const reasonOf = async (ask: PromiseLike<unknown>): Promise<string> => String(await errorOf(ask));
    expect(await reasonOf(thread.ask("Q", { whenBusy: "fork" }))).toMatch(/needs from/);
    // @ts-expect-error -- as a caller in JavaScript may write
    expect(await reasonOf(thread.ask("Q", { from: 0, whenBusy: "wait" }))).toMatch(/must be "reject" or "fork"/);
    // @ts-expect-error -- as above
    expect(await reasonOf(thread.steer("Q", { from: 0 }))).toMatch(/no option "from"/);
  });

  test("a busy thread refuses it, and names the ways out", async () => {
    const model = held();
    const { host } = stage({ script: [says("A1"), model.step], machine: { overlap: { type: "queue", max: 5 } } });
    await host.ask("Q1");
    const open = host.ask("Q2");
    await settle();
    const error = await errorOf(host.ask("Q3", { from: 1 }));
    expect(error).toBeInstanceOf(AskRefusedError);
    expect(String(error)).toMatch(/busy: turn 2 is open.*wait for its end, cancel it, or ask in a fork/);
    model.answer(says("A2"));
    await open;
  });
});

describe("an ask after an earlier turn of a busy thread that may fork it", () => {
  const busy = async () => {
    const model = held();
    const on = stage({ script: [says("A1"), model.step, says("in the fork"), says("later")] });
    await on.host.ask("Q1");
    const open = on.host.ask("Q2");
    await settle();
    return { ...on, open, end: () => model.answer(says("A2")) };
  };
  const asking = { from: 1, whenBusy: "fork", askId: "branch" } as const;

  test("goes on in a fork, which handle, parts and result name, and nothing is run again", async () => {
    const { host, model, store, open, end } = await busy();
    const before = await entriesOf(store);
    const asked = host.ask("Q3", asking);
    const result = await asked;
    expect(result).toMatchObject({ text: "in the fork", turn: 2 });
    expect(asked.threadId).toBe(result.threadId);
    expect(result.threadId).toMatch(/^fork-[a-z\d]+$/);
    expect((await partsOf(asked))[0]).toEqual({ type: "thread.forked", threadId: result.threadId, turn: 1 });
    expect(await entriesOf(store)).toEqual(before);
    expect(model.calls.map(({ messages }) => messages.length)).toEqual([1, 3, 3]);
    expect(await texts(host.thread(asked.threadId))).toEqual(["Q1", "A1", "Q3", "in the fork"]);
    end();
    expect((await open).text).toBe("A2");
  });

  test("the same ask again finds the same fork, also from another process when the thread is free again", async () => {
    const { host, another, open, end } = await busy();
    const first = await host.ask("Q3", asking);
    end();
    await open;
    await host.close();
    const second = another({ script: [says("never")] });
    expect(await second.host.ask("Q3", asking)).toEqual(first);
    expect(second.model.calls).toEqual([]);
    const other = await errorOf(second.host.ask("something else", asking));
    expect(other).toMatchObject({ threadId: first.threadId, refusal: { kind: "invalid" } });
  });

  test("a fork that a crash left without its ask is gone on with", async () => {
    const { host, another, end, open } = await busy();
    const { threadId } = await host.ask("Q3", asking);
    await host.thread(threadId).delete();
    await host.thread().fork({ turn: 1, threadId });
    end();
    await open;
    await host.close();
    const second = another({ script: [says("anew")] });
    expect(await second.host.ask("Q3", asking)).toMatchObject({ text: "anew", threadId, turn: 2 });
  });

  test("a checkpoint is the turn that it was when it was asked first", async () => {
    const model = held();
    const { host } = stage({ script: [says("A1"), says("A2"), model.step, says("in the fork")] });
    const thread = host.thread();
    await thread.ask("Q1");
    await thread.checkpoint("here");
    await thread.ask("Q2");
    const open = thread.ask("open");
    await settle();
    const again = { from: { checkpoint: "here" }, whenBusy: "fork", askId: "branch" } as const;
    const first = await thread.ask("Q3", again);
    expect(await texts(host.thread(first.threadId))).toEqual(["Q1", "A1", "Q3", "in the fork"]);
    model.answer(says("A3"));
    await open;
    await thread.checkpoint("here");
    expect(await thread.ask("Q3", again)).toEqual(first);
  });

  test("another thread of the fork's id is never asked", async () => {
    const { host, end, open } = await busy();
    const { threadId } = await host.ask("Q3", asking);
    await host.thread(threadId).delete();
    await host.thread(threadId).start();
    expect(await errorOf(host.ask("Q3", asking))).toMatchObject({ refusal: { kind: "invalid" } });
    end();
    await open;
  });

  test("one that is aborted before it was posted leaves nothing behind", async () => {
    const { host, store, end, open } = await busy();
    const before = await entriesOf(store);
    const asked = host.ask("Q3", asking);
    asked.abort("never mind");
    expect(await errorOf(asked)).toMatchObject({ name: "TurnCancelledError" });
    await settle();
    expect(await entriesOf(store)).toEqual(before);
    expect((await host.threads()).threads).toHaveLength(1);
    end();
    await open;
  });

  test("an ask that two processes make at the same time is answered once, in one fork", async () => {
    const { host, another, clock, open, end } = await busy();
    const second = another({ script: [says("never")] });
    const elsewhere = second.host.ask("Q3", asking);
    await settle();
    const here = await host.ask("Q3", asking);
    for (let polls = 0; polls < 40; polls++) await clock.advance(1_000);
    expect(await elsewhere).toEqual(here);
    expect(second.model.calls).toEqual([]);
    expect((await host.threads()).threads).toHaveLength(2);
    end();
    await open;
  });

  test("an ask rejects with the error of the store if its fork could not be stored", async () => {
    const { clock, inner } = stored();
    const cause = new Error("disk full");
    let isFull = true;
    const store = overriding(inner, {
      append: (lease, ...given) => {
        if (!isFull || lease.threadId === "default") return inner.append(lease, ...given);
        isFull = false;
        return Promise.reject(cause);
      },
    });
    const model = held();
    const { host } = stage({ clock, store, script: [says("A1"), model.step, says("in the fork")] });
    await host.ask("Q1");
    const open = host.ask("Q2");
    await settle();
    expect(await errorOf(host.ask("Q3", asking))).toMatchObject({ name: "StoreError", cause });
    expect((await host.ask("Q3", asking)).text).toBe("in the fork");
    model.answer(says("A2"));
    await open;
  });

  test("a host that has not the thread reaches it by the inbox, and forks it where it is refused", async () => {
    const { host, another, clock, open, end } = await busy();
    const second = another({ script: [says("elsewhere"), says("in place")] });
    const refused = errorOf(second.host.ask("Q3", { from: 1, askId: "plain" }));
    const asked = second.host.ask("Q3", asking);
    for (let polls = 0; polls < 5; polls++) await clock.advance(1_000);
    expect(await refused).toMatchObject({ refusal: { kind: "busy" } });
    const result = await asked;
    expect(result.text).toBe("elsewhere");
    end();
    expect((await open).text).toBe("A2");
    const inPlace = second.host.ask("Q4", { from: 1 });
    for (let polls = 0; polls < 5; polls++) await clock.advance(1_000);
    expect(await inPlace).toMatchObject({ threadId: "default", turn: 3, text: "in place" });
    await host.close();
  });
});

describe("a fork", () => {
  test("leaves behind what is under way, says so, and runs nothing again", async () => {
    const { host, model } = stage({
      tools: [{ ...echo, run: () => new Promise(() => {}) }],
      script: [says("1"), calls(["echo", { text: "x" }]), says("on its own")],
      machine: { overlap: { type: "queue", max: 5 } },
    });
    const thread = host.thread();
    await thread.ask("one");
    thread.ask("two", { askId: "open" }).catch(() => {});
    thread.ask("three", { askId: "waits" }).catch(() => {});
    await settle();
    const { thread: fork, left } = await thread.fork({ threadId: "copy" });
    expect(left.effects).toEqual(["default/2.1.0#1"]);
    expect(left.asks).toEqual(expect.arrayContaining(["open", "waits"]));
    expect(fork.id).toBe("copy");
    expect(await texts(fork)).toEqual(["one", "1"]);
    expect((await fork.ask("go on")).text).toBe("on its own");
    expect(model.calls).toHaveLength(3);
  });

  test("of a turn or a thread that is not there, or over one that is, is refused", async () => {
    const model = held();
    const { host, store } = stage({ script: [says("1"), says("2"), model.step] });
    await host.ask("one", { threadId: "one" });
    await host.ask("two", { threadId: "two" });
    expect(await errorOf(host.thread("one").fork({ turn: 7 }))).toBeInstanceOf(EventRefusedError);
    expect(await errorOf(host.thread("none").fork())).toBeInstanceOf(ThreadUnknownError);
    const before = await entriesOf(store, "two");
    const asked = host.ask("go on", { threadId: "two" });
    await settle();
    expect(await errorOf(host.thread("one").fork({ threadId: "two" }))).toBeInstanceOf(ThreadExistsError);
    model.answer(says("3"));
    expect(await asked).toMatchObject({ text: "3", turn: 2 });
    for (const open of [true, false]) {
      if (!open) await host.thread("two").close();
      expect(await errorOf(host.thread("one").fork({ threadId: "two" }))).toBeInstanceOf(ThreadExistsError);
    }
    expect((await entriesOf(store, "two")).slice(0, before.length)).toEqual(before);
  });

  test("can be made of a thread that another host holds", async () => {
    const model = held();
    const first = stage({ script: [says("1"), model.step] });
    await first.host.ask("one");
    first.host.ask("two").catch(() => {});
    await settle();
    const second = first.another();
    expect(await texts((await second.host.thread().fork()).thread)).toEqual(["one", "1"]);
  });
});
