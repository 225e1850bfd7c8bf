import { describe, expect, test } from "vitest";
import { memoryStore, StoreError, tool } from "@colloquy/host";
import { gated, type GatedStore } from "../gated-store.ts";
import { calls, errorOf, held, journalOf, manualClock, says, settle, stage } from "../stage.ts";

const clock = manualClock();
const slow = (): GatedStore => gated(memoryStore({ clock }));

describe("nothing is performed before it is journalled", () => {
  test("neither a model call, nor a tool, nor a once-only tool before its start", async () => {
    const gate = slow();
    let runs = 0;
    const once = tool({
      name: "once",
      description: "",
      input: { jsonSchema: {} },
      recovery: "once",
      run: () => runs++,
    });
    const { host, model } = stage({
      clock,
      store: gate.store,
      tools: [once],
      script: [calls(["once", {}]), says("done")],
    });
    const handle = host.ask("go");
    await settle();
    expect(gate.waiting).toEqual(["thread.started"]);
    await gate.pass();
    expect([gate.waiting, model.calls.length]).toEqual([["ask.received"], 0]);
    await gate.pass();
    expect([gate.waiting, model.calls.length]).toEqual([["llm.completed"], 1]);
    await gate.pass();
    expect([gate.waiting, runs]).toEqual([["tool.started"], 0]);
    await gate.pass();
    expect([gate.waiting, runs]).toEqual([["tool.completed"], 1]);
    await gate.pass();
    expect([gate.waiting, model.calls.length]).toEqual([["llm.completed"], 2]);
    await gate.pass();
    expect((await handle).text).toBe("done");
    await host.close();
  });

  test("one entry at a time, in the order of the events", async () => {
    const gate = slow();
    const { host } = stage({ clock, store: gate.store, script: [held().step] });
    const thread = host.thread();
    const appended = [1, 2, 3].map((number) => thread.append({ role: "user", content: `${number}` }));
    await settle();
    for (let index = 0; index < 4; index++) {
      expect(gate.waiting).toHaveLength(1);
      await gate.pass();
    }
    await Promise.all(appended);
    expect((await thread.state())?.context.conversation.appended.map(({ parts }) => parts[0])).toMatchObject([
      { text: "1" },
      { text: "2" },
      { text: "3" },
    ]);
    await host.close();
  });

  test("a cancel stops what is shown at once, and a once-only tool that has not started never does", async () => {
    const gate = slow();
    let runs = 0;
    const once = tool({
      name: "once",
      description: "",
      input: { jsonSchema: {} },
      recovery: "once",
      run: () => runs++,
    });
    const { host } = stage({ clock, store: gate.store, tools: [once], script: [calls(["once", {}])] });
    const handle = host.ask("go");
    await settle();
    for (const type of ["thread.started", "ask.received"]) {
      expect(gate.waiting).toEqual([type]);
      await gate.pass();
    }
    // The cancel is in the mailbox before the reply is stored and the tool could say that it starts.
    handle.abort();
    await gate.pass();
    expect(gate.waiting).toEqual(["cancel.requested"]);
    await gate.pass();
    expect(await errorOf(handle)).toMatchObject({ name: "TurnCancelledError" });
    expect([gate.waiting, runs]).toEqual([[], 0]);
    await host.close();
  });

  test("pieces that come while a cancel is being stored are neither shown nor kept", async () => {
    const gate = slow();
    const model = held();
    const { host } = stage({ clock, store: gate.store, script: [model.step] });
    const handle = host.ask("go");
    await settle();
    await gate.pass();
    await gate.pass();
    model.show("kept");
    handle.abort();
    model.show(", lost");
    model.answer(says("kept, lost and all"));
    await settle();
    await gate.pass();
    const error = await errorOf(handle);
    expect(error).toMatchObject({ summary: { text: "kept" } });
    const texts: string[] = [];
    for await (const part of handle) if (part.type === "text.delta") texts.push(part.text);
    expect(texts).toEqual(["kept"]);
    await host.close();
  });
});

describe("an append that fails", () => {
  test("rejects the ask, performs nothing, and the next ask reads the journal again", async () => {
    const gate = slow();
    const { host, model } = stage({ clock, store: gate.store, script: [says("done")] });
    const handle = host.ask("go");
    await settle();
    await gate.pass();
    const cause = new Error("disk full");
    await gate.pass(cause);
    const error = await errorOf(handle);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ cause, threadId: "default" });
    expect(model.calls).toHaveLength(0);
    const again = host.ask("go");
    await settle();
    await gate.pass();
    await gate.pass();
    expect((await again).text).toBe("done");
    expect(await journalOf(gate.store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
    await host.close();
  });

  test("in the middle of a turn stops what is running, and asking again gets the turn", async () => {
    const gate = slow();
    const model = held();
    const { host } = stage({ clock, store: gate.store, script: [model.step, says("after all")] });
    const handle = host.ask("go", { askId: "a" });
    await settle();
    await gate.pass();
    await gate.pass();
    const waits = errorOf(host.thread().append({ role: "user", content: "too" }));
    await settle();
    await gate.pass(new Error("disk full"));
    expect(await errorOf(handle)).toBeInstanceOf(StoreError);
    expect(await waits).toBeInstanceOf(StoreError);
    expect(model.signal()?.aborted).toBe(true);
    const again = host.ask("go", { askId: "a" });
    await settle();
    await gate.pass();
    expect((await again).text).toBe("after all");
    await host.close();
  });

  test("is waited for when the host is closed", async () => {
    const gate = slow();
    const { host, model } = stage({ clock, store: gate.store, script: [says("unwanted")] });
    const handle = host.ask("go");
    await settle();
    await gate.pass();
    let closed = false;
    const closing = host.close().then(() => (closed = true));
    expect(await errorOf(handle)).toMatchObject({ name: "ThreadClosedError" });
    await settle();
    expect(closed).toBe(false);
    await gate.pass();
    await closing;
    expect(model.calls).toHaveLength(0);
    expect(await journalOf(gate.store)).toEqual(["thread.started", "ask.received"]);
    expect(await gate.store.acquire("default", "somebody", 1)).not.toBeNull();
  });
});
