import type { Clock } from "@colloquy/host";
import { systemClock } from "@colloquy/runtime-node";
import { expect, it } from "vitest";
import { withRestate } from "./engine.ts";

const llm = () => Promise.resolve({ type: "completed", reply: { content: "hello" }, finishReason: "stop" } as const);
const large = "y".repeat(9_000_000);

withRestate("a thread that is larger than a message of Restate", (engine) => {
  it.each([0, 8])(
    "is read and continues, with a snapshot after %i entries",
    { timeout: 240_000 },
    async (snapshotEvery) => {
      const { host, name } = await engine.start({ llm, snapshotEvery, knownThreads: 1 });
      const thread = host.thread("large");
      for (let times = 0; times < 4; times++) await thread.ask(large);
      // Another thread comes between, so that the worker forgets this one.
      await host.ask("hi", { threadId: "small" });
      expect((await thread.ask("go on")).text).toBe("hello");
      expect(await engine.connect({ name, clock: slowClock }).thread("large").exportJournal()).toHaveLength(11);
    },
  );
});

const startedAt = systemClock.now();

/** A clock of a quarter of the speed, so that a host waits long enough for a whole journal on a busy machine. */
const slowClock: Clock = {
  now: () => startedAt + (systemClock.now() - startedAt) / 4,
  wakeAt: (at, wake) => systemClock.wakeAt(startedAt + (at - startedAt) * 4, wake),
};
