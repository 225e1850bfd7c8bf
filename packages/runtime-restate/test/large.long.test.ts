import { expect, it } from "vitest";
import { withRestate } from "./engine.ts";

const llm = () => Promise.resolve({ type: "completed", reply: { content: "hello" }, finishReason: "stop" } as const);
const large = "y".repeat(9_000_000);

withRestate("a thread that is larger than a message of Restate", (engine) => {
  it.each([0, 8])(
    "is read and goes on, with a snapshot after %i entries",
    { timeout: 60_000 },
    async (snapshotEvery) => {
      const { host, name } = await engine.start({ llm, snapshotEvery, knownThreads: 1 });
      const thread = host.thread("large");
      for (let times = 0; times < 4; times++) await thread.ask(large);
      // Another one comes between, so that it is not known any more.
      await host.ask("hi", { threadId: "small" });
      expect((await thread.ask("go on")).text).toBe("hello");
      expect(await engine.connect({ name }).thread("large").exportJournal()).toHaveLength(11);
    },
  );
});
