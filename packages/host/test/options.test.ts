import { conversationMachine } from "@colloquy/machine";
import { memoryStore, type HostOptions } from "@colloquy/host";
import { expect, test } from "vitest";
import { hostContextOf } from "../src/options.ts";
import { overriding } from "./gated-store.ts";
import { countingIds, manualClock, says } from "./stage.ts";

/** Makes the context of a host with some options, and the least of the others. */
const contextWith = (options: Partial<HostOptions>) => {
  const clock = manualClock();
  return hostContextOf(
    {
      clock,
      ids: countingIds(),
      llm: () => Promise.resolve(says(".")),
      machine: conversationMachine(),
      store: memoryStore({ clock }),
      ...options,
    },
    new AbortController().signal,
  );
};

test("a host has the documented defaults", () => {
  const { partLogging, recovery, toolContext, owner, ...rest } = contextWith({});
  expect(rest).toMatchObject({
    leaseTtlMs: 30_000,
    storeTimeoutMs: 30_000,
    idleMs: 5_000,
    pollMs: 200,
    whenHeld: "enqueue",
    progressMs: null,
    partials: "askAgain",
    snapshotEvery: 512,
  });
  expect([partLogging, recovery, toolContext, owner]).toEqual([null, {}, {}, "owner-1"]);
  expect(contextWith({ partsMs: 100 }).partLogging).toMatchObject({ everyMs: 100, keepMs: 300_000 });
});

test("a host has the lease time that its store gives, unless it is given another", () => {
  const store = overriding(memoryStore({ clock: manualClock() }), { leaseTtlMs: 7_000 });
  expect(contextWith({ store }).leaseTtlMs).toBe(7_000);
  expect(contextWith({ store, leaseTtlMs: 8_000 }).leaseTtlMs).toBe(8_000);
  const odd = overriding(memoryStore({ clock: manualClock() }), { leaseTtlMs: 2 });
  expect(() => contextWith({ store: odd })).toThrow("leaseTtlMs of the store must be a whole number ≥ 3 (got 2)");
});

test("a host continues no threads by itself if that is turned off", () => {
  expect(contextWith({ recovery: false }).recovery).toBeNull();
  expect(contextWith({ recovery: { everyMs: 1 } }).recovery).toEqual({ everyMs: 1 });
});

test.each<readonly [Partial<HostOptions>, Partial<HostOptions>, string]>([
  [{ leaseTtlMs: 3 }, { leaseTtlMs: 2 }, "leaseTtlMs must be a whole number ≥ 3 (got 2)"],
  [{ storeTimeoutMs: 1 }, { storeTimeoutMs: 0 }, "storeTimeoutMs must be a whole number ≥ 1 (got 0)"],
  [{ idleMs: 0 }, { idleMs: -1 }, "idleMs must be a whole number ≥ 0 (got -1)"],
  [{ pollMs: 1 }, { pollMs: 0 }, "pollMs must be a whole number ≥ 1 (got 0)"],
  [{ progressMs: 1 }, { progressMs: 0 }, "progressMs must be a whole number ≥ 1, or null for never (got 0)"],
  [{ progressMs: null }, { progressMs: 1.5 }, "progressMs must be a whole number ≥ 1, or null for never (got 1.5)"],
  [{ partsMs: 1 }, { partsMs: 0 }, "partsMs must be a whole number ≥ 1, or null for never (got 0)"],
  [{ keepPartsMs: 0 }, { keepPartsMs: -1 }, "keepPartsMs must be a whole number ≥ 0 (got -1)"],
  [{ snapshotEvery: 0 }, { snapshotEvery: -1 }, "snapshotEvery must be a whole number ≥ 0 (got -1)"],
  [{ recovery: { everyMs: 1 } }, { recovery: { everyMs: 0 } }, "everyMs must be a whole number ≥ 1 (got 0)"],
  // JavaScript may pass this.
  [{ recovery: {} }, { recovery: true as never }, "recovery must be false or an object (got true)"],
])("a host takes the option %j, and refuses %j", (valid, invalid, problem) => {
  expect(() => contextWith(valid)).not.toThrow();
  expect(() => contextWith(invalid)).toThrow(problem);
});
