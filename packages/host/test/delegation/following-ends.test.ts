// When a host no longer follows a thread that another host holds.
import { expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { countingIds, held, queue, says, settle, stage, stored } from "../stage.ts";

test("a host on which nothing waits for a busy thread of a living host follows it no longer than a lease lasts", async () => {
  const { clock, inner } = stored();
  const [one, three] = [held(), held()];
  const shared = { clock, ids: countingIds(), machine: queue, leaseTtlMs: 9_000, idleMs: 1_000 };
  const first = stage({ ...shared, store: inner, owner: "first", script: [one.step, says("2"), three.step] });
  void first.host.ask("one");
  await settle();
  const acquired: number[] = [];
  const store = overriding(inner, { acquire: (...given) => (acquired.push(clock.now()), inner.acquire(...given)) });
  const second = stage({ ...shared, store, owner: "second" });
  const two = second.host.ask("two");
  await clock.advance(400);
  first.host.ask("three").catch(() => {});
  await settle();
  one.answer(says("1"));
  await clock.advance(400);
  expect((await two).text).toBe("2");
  const idleSince = clock.now();
  await clock.advance(60_000);
  // Until then the holder may have died.
  const tried = acquired.filter((at) => at > idleSince).map((at) => at - idleSince);
  expect(tried.length).toBeGreaterThan(5);
  expect(Math.max(...tried)).toBeLessThan(10_000);
  await second.host.close();
  await first.host.close();
});
