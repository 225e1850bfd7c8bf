import { conversationMachine } from "@colloquy/machine";
import { traceOf } from "@colloquy/runtime-test";
import { expect, test } from "vitest";

test("a trace tells what was said, what was decided and asked for, and what is out", () => {
  const machine = conversationMachine({ tools: [{ name: "search" }], limits: { deadlineMs: 1_000 } });
  const trace = traceOf(
    machine,
    [
      "One line of prose,",
      "and another.",
      { type: "ask.received", at: 1, askId: "a", input: "Find it." },
      { type: "timer.fired", at: 2, effectId: "nobody's" },
      {
        type: "llm.completed",
        at: 3,
        effectId: "t/1.1#1",
        reply: { toolCalls: [{ id: null, name: "search", arguments: "{}" }] },
        finishReason: null,
      },
      "The end.",
    ],
    { threadId: "t", at: 0, system: "Be brief." },
  );
  expect(trace).toMatchInlineSnapshot(`
    "thread.started threadId="t" at=0 system="Be brief."
    ----
    0 idle

    # One line of prose,
    # and another.
    ask.received at=1 askId="a" input="Find it."
    ----
    1 awaiting_llm.responding
    decided deadlineAt 1001
    decided cut {"policy":"keep-all@1","from":null,"interrupted":"keep"}
    publish turn.started turn=1 askIds=["a"]
    startTimer t/1!deadline deadline dueAt=1001
    callLlm t/1.1#1 prompt=1lqzk1k5j6g
      s1 system "Be brief."
      1.0 user "Find it."
    out: t/1!deadline t/1.1#1

    timer.fired at=2 effectId="nobody's"
    ----
    refused (stale): no timer "nobody's" is awaited: it was answered or cancelled, or it is of another thread

    llm.completed at=3 effectId="t/1.1#1" reply={"toolCalls":[{"id":null,"name":"search","arguments":"{}"}]} finishReason=null
    ----
    2 awaiting_tool.running
    publish model.replied turn=1 step=1 attempt=1 purpose="answer" finishReason=null toolCalls=1
    callTool t/1.1.0#1 search({}) providerCallId=null
    out: t/1!deadline t/1.1.0#1

    # The end.
    "
  `);
});
