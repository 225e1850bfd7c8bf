import { fingerprintOf } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { memoryStore, SearchUnavailableError } from "@colloquy/host";
import { overriding } from "./gated-store.ts";
import { errorOf, manualClock, says, stage } from "./stage.ts";

describe("all threads", () => {
  test("are listed and searched", async () => {
    const { host, clock } = stage({ script: [says("the queen"), says("the king")] });
    await host.ask("who", { threadId: "a" });
    await clock.advance(1);
    await host.ask("who", { threadId: "b" });
    expect((await host.threads()).threads.map(({ threadId }) => threadId)).toEqual(["b", "a"]);
    expect((await host.search("queen")).hits.map(({ threadId, seq }) => [threadId, seq])).toEqual([["a", 2]]);
  });

  test("cannot be searched if the store cannot, which the error says", async () => {
    const clock = manualClock();
    const store = overriding(memoryStore({ clock }), {});
    delete store.search;
    expect(await errorOf(stage({ clock, store }).host.search("queen"))).toBeInstanceOf(SearchUnavailableError);
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

test("a host says by which machine it decides", async () => {
  const { host } = stage({ script: [says("the queen")] });
  await host.ask("who", { threadId: "a" });
  const state = await host.thread("a").state();
  expect(state?.context.configuration.fingerprint).toBe(fingerprintOf(host.machine));
});
