import { setImmediate as macrotask } from "node:timers/promises";
import type { Clock } from "@colloquy/host";
import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { sequentialIds, runningClock, virtualClock } from "../../src/ports/virtual-clock.ts";

describe("virtualClock", () => {
  it("stops until it is driven, even for overdue timers", async () => {
    const clock = virtualClock(1000);
    const woken: string[] = [];
    clock.wakeAt(500, () => woken.push("overdue"));
    clock.wakeAt(1000, () => woken.push("now"));
    clock.wakeAt(1001, () => woken.push("later"));
    await Promise.resolve();
    expect(woken).toEqual([]);
    expect(clock.pending()).toEqual([500, 1000, 1001]);

    await clock.advance(0);
    expect(woken).toEqual(["overdue", "now"]);
    expect(clock.now()).toBe(1000);

    await clock.advance(1);
    expect(woken).toEqual(["overdue", "now", "later"]);
    expect(clock.now()).toBe(1001);
  });

  it("lets what a wake-up sets off settle before the next one, and calls new ones in their turn", async () => {
    const clock = virtualClock(0);
    const order: string[] = [];
    clock.wakeAt(10, () => {
      order.push(`first ${clock.now()}`);
      void (async () => {
        for (let hop = 0; hop < 50; hop++) await Promise.resolve();
        order.push(`settled ${clock.now()}`);
        clock.wakeAt(15, () => order.push(`new ${clock.now()}`));
      })();
    });
    clock.wakeAt(10, () => order.push(`second ${clock.now()}`));
    clock.wakeAt(20, () => order.push(`third ${clock.now()}`));
    await clock.advance(30);
    expect(order).toEqual(["first 10", "settled 10", "second 10", "new 15", "third 20"]);
    expect(clock.now()).toBe(30);
  });

  it("forgets a wake-up that was cancelled, and survives one that is cancelled twice", async () => {
    const clock = virtualClock(0);
    const woken: number[] = [];
    const cancel = clock.wakeAt(5, () => woken.push(5));
    clock.wakeAt(6, () => woken.push(6));
    cancel();
    cancel();
    await clock.runUntilIdle();
    expect(woken).toEqual([6]);
    expect(await clock.step()).toBe(false);
  });

  it("drives itself for as long as a promise is open, and no further", async () => {
    const clock = virtualClock(0);
    const task = async (): Promise<number> => {
      await sleep(clock, 100);
      // Meanwhile no timer is set, so the clock must wait for one.
      for (let turn = 0; turn < 3; turn++) await macrotask();
      await sleep(clock, 200);
      clock.wakeAt(1_000_000, () => undefined);
      return clock.now();
    };
    expect(await clock.runUntil(task())).toBe(300);
    expect(clock.pending()).toEqual([1_000_000]);
    await expect(clock.runUntil(Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(clock.now()).toBe(300);
  });

  it("refuses invalid times, and throws an error when it would run for ever", async () => {
    const clock = virtualClock(100);
    await expect(clock.advanceTo(99)).rejects.toThrow("can't go to 99: it is 100 already");
    await expect(clock.advance(-1)).rejects.toThrow(RangeError);
    expect(() => clock.wakeAt(Number.NaN, () => undefined)).toThrow("can't wake at NaN");
    const again = (): void => {
      clock.wakeAt(clock.now() + 1, again);
    };
    again();
    await expect(clock.runUntilIdle(10)).rejects.toThrow("still not idle after 10 wake-ups, now 111");
  });

  test.prop([fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 30 })])(
    "wakes by due time, and in the order of requests for equal times",
    async (dues) => {
      const clock = virtualClock(0);
      const woken: (readonly [number, number])[] = [];
      dues.forEach((due, index) => clock.wakeAt(due, () => woken.push([due, index])));
      await clock.runUntilIdle();
      const expected = dues.map((due, index) => [due, index] as const).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      expect(woken).toEqual(expected);
      expect(clock.now()).toBe(Math.max(0, ...dues));
    },
  );
});

describe("runningClock", () => {
  it("jumps by itself, in order, whenever all has settled", async () => {
    const clock = runningClock(0);
    const woken: string[] = [];
    const done = Promise.withResolvers<void>();
    clock.wakeAt(60_000, () => {
      woken.push(`b ${clock.now()}`);
      clock.wakeAt(clock.now() + 1000, () => {
        woken.push(`c ${clock.now()}`);
        done.resolve();
      });
    });
    clock.wakeAt(30_000, () => woken.push(`a ${clock.now()}`));
    expect(woken).toEqual([]);
    await done.promise;
    expect(woken).toEqual(["a 30000", "b 60000", "c 61000"]);
  });

  it("wakes up again after it had nothing to do", async () => {
    const clock = runningClock(0);
    await sleep(clock, 5);
    await macrotask();
    await sleep(clock, 5);
    expect(clock.now()).toBe(10);
  });
});

it("sequentialIds counts each kind by itself", () => {
  const ids = sequentialIds();
  expect([ids.draw("thread"), ids.draw("ask"), ids.draw("ask"), ids.draw("thread")]).toEqual([
    "thread-1",
    "ask-1",
    "ask-2",
    "thread-2",
  ]);
});

const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.wakeAt(clock.now() + ms, resolve);
  });
