// A golden trace: the machine's steps as a text to read and to keep. docs/testing.md shows it.
import { conversationMachine } from "@colloquy/machine";
import { traceOf } from "@colloquy/runtime-test";
import { expect, test } from "vitest";

test("cancelling an answer gives this trace", async () => {
  const trace = traceOf(conversationMachine(), [
    { type: "ask.received", askId: "a", input: "Tell me a story.", at: 1 },
    "What was shown is kept, and marked.",
    { type: "cancel.requested", partial: { content: "Once upon" }, at: 2 },
  ]);
  await expect(trace).toMatchFileSnapshot("cancelled.txt");
});
