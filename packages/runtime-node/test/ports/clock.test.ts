import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { systemClock } from "../../src/ports/system.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

test("wakes at the time, and not before it", () => {
  const woken = vi.fn();
  systemClock.wakeAt(systemClock.now() + 500, woken);
  vi.advanceTimersByTime(499);
  expect(woken).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(woken).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(1_000_000);
  expect(woken).toHaveBeenCalledOnce();
});

test("wakes for what is overdue at once, but after returning", () => {
  const woken = vi.fn();
  systemClock.wakeAt(0, woken);
  systemClock.wakeAt(Number.NEGATIVE_INFINITY, woken);
  expect(woken).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(woken).toHaveBeenCalledTimes(2);
});

test("waits longer than a timer of Node can", () => {
  const woken = vi.fn();
  const wait = 2 ** 31 + 12_345;
  systemClock.wakeAt(systemClock.now() + wait, woken);
  vi.advanceTimersByTime(wait - 1);
  expect(woken).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(woken).toHaveBeenCalledOnce();
});

test("is at most a minute late when the computer's time was set forward", () => {
  const woken = vi.fn();
  const dueAt = systemClock.now() + 86_400_000;
  systemClock.wakeAt(dueAt, woken);
  vi.setSystemTime(dueAt);
  vi.advanceTimersByTime(60_000);
  expect(woken).toHaveBeenCalledOnce();
});

test("does not wake early when the computer's time was set back", () => {
  const woken = vi.fn();
  systemClock.wakeAt(systemClock.now() + 500, woken);
  vi.setSystemTime(systemClock.now() - 10_000);
  vi.advanceTimersByTime(10_499);
  expect(woken).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(woken).toHaveBeenCalledOnce();
});

test("wakes nobody who cancelled, however long the wait was", () => {
  const woken = vi.fn();
  const cancel = systemClock.wakeAt(systemClock.now() + 200_000, woken);
  vi.advanceTimersByTime(150_000);
  cancel();
  cancel();
  vi.advanceTimersByTime(1_000_000);
  expect(woken).not.toHaveBeenCalled();
});

test("refuses a time that is none", () => {
  expect(() => systemClock.wakeAt(Number.NaN, () => {})).toThrow(/dueAt is NaN/);
});

test("keeps the process alive until it wakes somebody, unless that is background work", () => {
  vi.useRealTimers();
  // Lists only what keeps the event loop running.
  const alive = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === "Timeout" || name === "Immediate").length;
  const before = alive();
  for (const dueAt of [Date.now() + 1_000_000, Date.now() - 1]) {
    const cancel = systemClock.wakeAt(dueAt, () => {});
    expect(alive()).toBe(before + 1);
    cancel();
    const cancelOther = systemClock.wakeAt(dueAt, () => {}, "background");
    expect(alive()).toBe(before);
    cancelOther();
  }
});

test("wakes in the order of the calls, in this turn of the event loop, for what is overdue", async () => {
  vi.useRealTimers();
  const woken: string[] = [];
  setImmediate(() => woken.push("before"));
  systemClock.wakeAt(Date.now(), () => woken.push("overdue"));
  await new Promise((resolve) => void setImmediate(resolve));
  expect(woken).toEqual(["before", "overdue"]);
});
