import { expect, test } from "vitest";
import type { HostContext } from "../../src/context/host-context.ts";
import { KeptEnvelope, msOfPolls, requestPollMsOf } from "../../src/delegation/requested-lease.ts";
import type { Envelope } from "../../src/mailbox/mailbox.ts";
import { countingIds, manualClock } from "../stage.ts";

test("a host waits for polls of another one as long as its own take, but at least as long as usual ones", () => {
  expect([1, 199, 200, 201, 1_000].map((pollMs) => msOfPolls(3, { pollMs }))).toEqual([600, 600, 600, 603, 3_000]);
});

test("a host tries for a requested lease as often as it polls, but at least as often as usual", () => {
  expect([1, 199, 200, 201, 1_000].map((pollMs) => requestPollMsOf({ pollMs }))).toEqual([1, 199, 200, 200, 200]);
});

/** Makes an envelope that waits for a lease, and notes how it failed. */
const keptEnvelope = (pollMs = 200) => {
  const clock = manualClock();
  const failures: string[] = [];
  const envelope: Envelope = { task: () => {}, sender: { failed: ({ name }) => failures.push(name) } };
  // No other members are used.
  const host = { clock, ids: countingIds(), pollMs } as unknown as HostContext;
  return { clock, envelope, failures, kept: new KeptEnvelope(envelope, "t", host) };
};

test("an envelope that waits for a lease is refused when the holder says so, or after 25 polls", () => {
  const { clock, kept } = keptEnvelope();
  const now = clock.now();
  expect([now, now + 4_999, now + 5_000].map((at) => kept.isRefused(at))).toEqual([false, false, true]);
  kept.refused();
  expect(kept.isRefused(now)).toBe(true);
  const slow = keptEnvelope(1_000);
  expect([24_999, 25_000].map((ms) => slow.kept.isRefused(slow.clock.now() + ms))).toEqual([false, true]);
});

test("an envelope that waits for a lease is taken once, and fails only if it was not taken", () => {
  const { clock, envelope, failures, kept } = keptEnvelope();
  expect([kept.isOver, kept.id]).toEqual([false, "item-1"]);
  expect(kept.request).toEqual({ type: "cancel.requested", at: clock.now(), askId: "item-1" });
  expect([kept.take(), kept.isOver, kept.take()]).toEqual([[envelope], true, []]);
  kept.refused();
  kept.fail();
  expect([failures, kept.isRefused(clock.now() + 1_000_000)]).toEqual([[], false]);
  const other = keptEnvelope();
  other.kept.fail();
  other.kept.fail();
  expect([other.failures, other.kept.isOver]).toEqual([["ThreadHeldError"], true]);
});
