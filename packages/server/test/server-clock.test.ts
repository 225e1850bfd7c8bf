import { expect, test, vi } from "vitest";
import { serverContextOf } from "../src/http/server-options.ts";

test.each([
  [1_000, 1_000],
  [0, 0],
  [-5_000, 0],
  [Number.MAX_SAFE_INTEGER, 2_147_483_647],
])(
  "the clock of a server that is to wake it in %d ms sets a timer of %d, which keeps no process alive",
  (inMs, delay) => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    const cleared = vi.spyOn(globalThis, "clearTimeout");
    vi.spyOn(Date, "now").mockReturnValue(7_000);
    const { clock } = serverContextOf({ authenticate: () => null });
    const stop = clock.wakeAt(clock.now() + inMs, () => {});
    const [call] = timers.mock.calls;
    const timer = timers.mock.results[0]?.value;
    stop();
    const [ended] = cleared.mock.calls;
    vi.restoreAllMocks();
    expect([call?.[1], timer?.hasRef()]).toEqual([delay, false]);
    expect(ended).toEqual([timer]);
  },
);
