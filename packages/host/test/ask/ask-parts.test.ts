import { describe, expect, test } from "vitest";
import { type AskPart, ThreadClosedError } from "@colloquy/host";
import { calls, echo, errorOf, held, partsOf, says, settle, stage } from "../stage.ts";

describe("an ask that is read", () => {
  test("shows its parts in order, joined if they are read late", async () => {
    const model = held();
    const { host } = stage({ tools: [echo], script: [calls(["echo", { text: "ping" }]), model.step] });
    const handle = host.ask("hi", { askId: "a" });
    await settle();
    model.show("po");
    model.show("ng");
    model.answer(says("pong"));
    await handle;
    expect(await partsOf(handle)).toEqual([
      { type: "turn.started", turn: 1, askIds: ["a"] },
      { type: "step.started", turn: 1, step: 1 },
      { type: "toolCall", turn: 1, step: 1, position: 0, callId: "1.1.0", name: "echo", arguments: '{"text":"ping"}' },
      {
        type: "toolResult",
        turn: 1,
        step: 1,
        position: 0,
        callId: "1.1.0",
        name: "echo",
        outcome: "completed",
        content: "ping",
      },
      { type: "step.ended", turn: 1, step: 1 },
      { type: "step.started", turn: 1, step: 2 },
      { type: "text.delta", turn: 1, step: 2, attempt: 1, text: "pong" },
      { type: "step.ended", turn: 1, step: 2 },
      { type: "turn.ended", turn: 1, status: "completed" },
    ]);
  });

  test("shows each piece to each prompt reader, and the whole of a reply without pieces", async () => {
    const model = held();
    const { host } = stage({ script: [model.step, says("whole")] });
    const handle = host.ask("hi", { askId: "a" });
    await settle();
    const readings = [handle, host.thread().rejoin("a")].map(partsOf);
    await settle();
    model.show("a");
    await settle();
    model.show("b");
    model.answer(says("ab"));
    const texts = (parts: readonly AskPart[]): readonly string[] =>
      parts.flatMap((part) => (part.type === "text.delta" ? [part.text] : []));
    for (const reading of readings) expect(texts(await reading)).toEqual(["a", "b"]);
    expect(texts(await partsOf(host.ask("more")))).toEqual(["whole"]);
  });

  test("continues when its reader leaves", async () => {
    const { host } = stage({ script: [says("done")] });
    const handle = host.ask("hi");
    for await (const part of handle) if (part.type === "turn.started") break;
    expect((await handle).text).toBe("done");
  });

  test("throws to its reader when no turn could be had", async () => {
    const { host } = stage();
    await host.close();
    const handle = host.ask("hi");
    const error = await errorOf(partsOf(handle));
    expect(error).toBeInstanceOf(ThreadClosedError);
    expect(String(error)).toContain("was closed here. Ask again to continue, on a new host if this one is closed.");
  });

  test("shows its reader results that were never run", async () => {
    const { host } = stage({ tools: [echo], script: [calls(["nope", {}], ["echo", { text: "a" }]), says("ok")] });
    const parts = await partsOf(host.ask("hi"));
    const results = parts.flatMap((part) => (part.type === "toolResult" ? [`${part.name} ${part.outcome}`] : []));
    expect(results).toEqual(["nope refused", "echo completed"]);
  });
});
