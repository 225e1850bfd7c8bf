import { conversationMachine } from "@colloquy/machine";
import { expect, it } from "vitest";
import { withRestate } from "./engine.ts";

withRestate("what Restate keeps of a thread", (engine) => {
  it("is nothing once the thread is deleted", async () => {
    const llm = () =>
      Promise.resolve({ type: "completed", reply: { content: "hello" }, finishReason: "stop" } as const);
    const { host, name } = await engine.start({ machine: conversationMachine(), llm, snapshotEvery: 2 });
    const thread = host.thread("kept");
    await thread.ask("one");
    await thread.ask("two");
    expect(await thread.exportJournal()).toHaveLength(5);
    await thread.delete();
    // Restate keeps only the results of events, which say whether they were handled.
    const invocations = `SELECT DISTINCT target_handler_name AS kept FROM sys_invocation WHERE target_service_name = '${name}'`;
    expect(await engine.rows(invocations)).toEqual([{ kept: "tell" }]);
    expect(await engine.rows(`SELECT key AS kept FROM state WHERE service_name = '${name}'`)).toEqual([]);
  });
});
