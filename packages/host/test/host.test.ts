import { describe, expect, test } from "vitest";
import { memoryStore, SearchUnavailableError, ThreadClosedError } from "@colloquy/host";
import { gated, overriding } from "./gated-store.ts";
import { errorOf, journalOf, manualClock, says, settle, stage } from "./stage.ts";

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
