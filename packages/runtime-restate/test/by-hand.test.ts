import { LeaseLostError } from "@colloquy/host/store";
import { virtualClock } from "@colloquy/runtime-test";
import { afterAll, beforeAll, expect, it } from "vitest";
import { World } from "./simulation/conversation.ts";
import { ending, engineIn } from "./simulation/engine.ts";
import { combineDoubles } from "./simulation/promise.ts";

let restore = (): void => {};
beforeAll(() => {
  restore = combineDoubles();
});
afterAll(() => restore());

const begun = () => {
  const world = new World(virtualClock(), { kinds: [], movedAt: null, isShown: false });
  const { restate, store } = engineIn(world, { seed: 1, snapshotEvery: 8, strikes: 0, lost: 0 });
  const send = async (id: string): Promise<unknown> => {
    const message = { role: "user", content: id } as const;
    return store.engine?.send("t", id, { type: "message.appended", at: world.clock.now(), message });
  };
  return { world, send, store, done: <Ended>(work: Promise<Ended>) => ending(world, restate, work) };
};

it("a lease that expired is lost if the thread has had an event since, and can be renewed otherwise", async () => {
  const { world, send, store, done } = begun();
  const whatIsLeft = async (whileIsOut: () => unknown): Promise<readonly unknown[]> => {
    const lease = await store.acquire("t", "a host", 1_000);
    if (lease === null) throw new Error("nobody else has it");
    await new Promise<void>((resolve) => void world.clock.wakeAt(world.clock.now() + 2_000, resolve));
    await whileIsOut();
    const kept = await store.renew(lease, 1_000);
    const failure = await Promise.resolve(store.rewrite(lease, [])).then(
      () => null,
      (error: unknown) => error,
    );
    await store.release(lease);
    return [kept, failure];
  };
  await done(send("first"));
  expect(await done(whatIsLeft(() => null))).toEqual([true, null]);
  expect(await done(whatIsLeft(() => send("second")))).toEqual([false, expect.any(LeaseLostError)]);
});
