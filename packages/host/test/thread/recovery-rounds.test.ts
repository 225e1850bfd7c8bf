import { expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { afterCrash, leaseTtlMs, recovering } from "./left-threads.ts";

test("a recovery of many threads lets the timers of the process fire between them", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `thread ${index}`);
  const { clock, store: inner } = await afterCrash(names);
  await clock.advance(leaseTtlMs + 1);
  let spent = 0;
  const happened = new Set<string>();
  const store = overriding(inner, {
    read: async (threadId, from) => {
      // Reading takes the process some time.
      spent += 20;
      happened.add(threadId);
      return inner.read(threadId, from);
    },
  });
  const busy = { ...clock, now: () => clock.now() + spent };
  const { host } = recovering({ clock: busy, store });
  host.start();
  clock.wakeAt(clock.now() + 2, () => happened.add("timer"));
  await clock.advance(60_000);
  const order = [...happened];
  expect(order).toHaveLength(names.length + 1);
  expect([order.at(0), order.at(-1)]).not.toContain("timer");
});

test("a recovery looks at sixteen threads at once", async () => {
  const { clock, store: inner } = await afterCrash(Array.from({ length: 20 }, (_, index) => `thread ${index}`));
  await clock.advance(leaseTtlMs + 1);
  const looked = new Set<string>();
  const never = new Promise<never>(() => {});
  const store = overriding(inner, {
    read: async (threadId) => {
      looked.add(threadId);
      return never;
    },
  });
  const { host } = recovering({ clock, store });
  host.start();
  await clock.advance(1);
  expect(looked.size).toBe(16);
});
