import { describe, expect, test } from "vitest";
import { type AskPart, ThreadClosedError } from "@colloquy/host";
import { calls, echo, errorOf, held, partsOf, says, settle, stage } from "../stage.ts";

describe("an ask that is read", () => {
  test("shows its parts in order, joined where they were not read in time", async () => {
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

  test("shows each piece to somebody who reads as it comes, and all of a reply that did not come in pieces", async () => {
    const model = held();
    const { host } = stage({ script: [model.step, says("whole")] });
    const handle = host.ask("hi");
    const reading = partsOf(handle);
    await settle();
    model.show("a");
    await settle();
    model.show("b");
    model.answer(says("ab"));
    const texts = (parts: readonly AskPart[]): readonly string[] =>
      parts.flatMap((part) => (part.type === "text.delta" ? [part.text] : []));
    expect(texts(await reading)).toEqual(["a", "b"]);
    expect(texts(await partsOf(host.ask("more")))).toEqual(["whole"]);
  });

  test("holds a bounded number of parts that are not read, and says how many it let go", async () => {
    const many = 5_000;
    const { host } = stage({
      script: [
        async (_, { onDelta }) => {
          for (let index = 0; index < many; index++)
            onDelta({ type: "toolCall", index, id: null, name: "x", arguments: "" });
          return says("done");
        },
      ],
    });
    const handle = host.ask("hi");
    await handle;
    const parts = await partsOf(handle);
    const dropped = parts[0]?.type === "parts.dropped" ? parts[0].count : 0;
    expect(parts.length).toBeLessThan(2_100);
    expect(dropped + parts.length - 1).toBe(many + 5);
    expect(parts.at(-1)).toMatchObject({ type: "turn.ended" });
  });

  test("goes on when its reader breaks off", async () => {
    const { host } = stage({ script: [says("done")] });
    const handle = host.ask("hi");
    for await (const part of handle) if (part.type === "turn.started") break;
    expect((await handle).text).toBe("done");
  });

  test("throws to its reader when no turn could be had", async () => {
    const { host } = stage();
    await host.close();
    const handle = host.ask("hi");
    expect(await errorOf(partsOf(handle))).toBeInstanceOf(ThreadClosedError);
  });

  test("shows its reader results that were never run", async () => {
    const { host } = stage({ tools: [echo], script: [calls(["nope", {}], ["echo", { text: "a" }]), says("ok")] });
    const parts = await partsOf(host.ask("hi"));
    const results = parts.flatMap((part) => (part.type === "toolResult" ? [`${part.name} ${part.outcome}`] : []));
    expect(results).toEqual(["nope refused", "echo completed"]);
  });
});
