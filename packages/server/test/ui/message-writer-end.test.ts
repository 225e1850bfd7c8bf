import type { AskPart } from "@colloquy/host";
import type { Message } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { MessageWriter } from "../../src/ui/message-writer.ts";
import { started, step, says, writes, calls, awaits, ends, signal, short, id, text } from "./parts-of-asks.ts";

describe("the end of a turn", () => {
  const message = (number: number, said: string, ...positions: readonly number[]) => {
    const call = (position: number) => ({
      type: "toolCall",
      callId: `1.${number}.${position}`,
      name: "look",
      arguments: "{}",
    });
    const parts = [...(said === "" ? [] : [{ type: "text", text: said }]), ...positions.map(call)];
    return { id: `m${number}`, role: "assistant", parts };
  };
  const result = {
    id: "r",
    role: "tool",
    parts: [
      { type: "toolResult", callId: id, name: "look", outcome: "completed", content: [{ type: "text", text: "4" }] },
    ],
  };
  const finish = ['message-metadata {"turn":1,"status":"completed"}', "abort enough", "finish stop"];
  const two = ["text-end 1.0", "finish-step", "start-step", ...text("b", "2.0"), "text-end 2.0", "finish-step"];

  const ended = (parts: readonly AskPart[], messages: readonly object[], behind = 0): readonly string[] => {
    const writer = new MessageWriter(behind, new Set());
    for (const part of parts) writer.take(part);
    const chunks = writer.end({
      turn: 1,
      status: "completed",
      // Casts: only these members of messages are read, and usage is passed on.
      summary: { messages: messages as readonly Message[], usage: undefined as never },
      chunks: [{ type: "abort", reason: "enough" }],
      finishReason: "stop",
    });
    return chunks.map(short);
  };

  test.each<readonly [string, readonly AskPart[], readonly object[], readonly string[]]>([
    [
      "shows all of a turn of which nothing was shown",
      [],
      [message(1, "a"), message(2, "b")],
      ['start turn-1 {"turn":1}', "start-step", ...text("a"), ...two],
    ],
    [
      "shows nothing more of a turn that was shown",
      [started, step(1), says("a")],
      [message(1, "a")],
      ["text-end 1.0", "finish-step"],
    ],
    [
      "shows a step again that was shown in part",
      [started, step(1), says("a")],
      [message(1, "ab")],
      ["reset-step", ...text("ab"), "text-end 1.0", "finish-step"],
    ],
    ["takes back a step that the turn does not have", [started, step(1), says("a")], [], ["reset-step"]],
    ["shows the steps after the shown ones", [started, step(1), says("a")], [message(1, "a"), message(2, "b")], two],
    [
      "shows the steps after those that were shown to their end",
      [started, step(1), says("a"), step(2)],
      [message(1, "a"), message(2, "b")],
      ["start-step", ...text("b", "2.0"), "text-end 2.0", "finish-step"],
    ],
    [
      "shows the missing result of a shown call",
      [started, step(1), calls()],
      [message(1, "", 0), result],
      [`tool-output-available ${id} 4`, "finish-step"],
    ],
    [
      "shows a step again whose call was only begun",
      [started, step(1), writes("{")],
      [message(1, "", 0)],
      ["reset-step", `tool-input-available ${id} look {}`, "finish-step"],
    ],
    [
      "shows a step again of whose calls one is missing",
      [started, step(1), calls()],
      [message(1, "", 0, 1)],
      ["reset-step", `tool-input-available ${id} look {}`, "tool-input-available 1.1.1 look {}", "finish-step"],
    ],
  ])("%s", (_, parts, messages, expected) => {
    expect(ended(parts, messages)).toEqual([...expected, ...finish]);
  });

  test("shows a page that has its first step only the second", () => {
    expect(ended([], [message(1, "a"), message(2, "b")], 1)).toEqual([
      'start turn-1 {"turn":1}',
      "start-step",
      ...text("b", "2.0"),
      "text-end 2.0",
      "finish-step",
      ...finish,
    ]);
  });

  test("shows an ask that joined it amid a step the steps from the next one on, in a message of its own", () => {
    const writer = new MessageWriter(0, new Set());
    const joined = [signal("ask.joined"), says("a"), calls(), ends("completed", "4"), step(2), says("b", { step: 2 })];
    expect(joined.flatMap((part) => writer.take(part).map(short))).toEqual([
      'start turn-1 {"turn":1}',
      "start-step",
      ...text("b", "2.0"),
    ]);
  });

  test("names the fork in which the turn is", () => {
    const writer = new MessageWriter(0, new Set());
    writer.take({ type: "thread.forked", threadId: "fork", turn: 1 });
    expect(writer.take(started).map(short)).toEqual(['start turn-1 {"turn":1,"threadId":"fork"}']);
    expect(writer.take(started)).toEqual([]);
  });

  test("that waits for answers is the end of the stream, with the results so far", () => {
    const writer = new MessageWriter(0, new Set());
    for (const part of [started, step(1), calls(0), calls(1), awaits(1)]) writer.take(part);
    const result = { type: "toolResult", callId: id, providerCallId: null, name: "look", content: [] } as const;
    expect(writer.endOfLeg([{ ...result, outcome: "completed" }]).map(short)).toEqual([
      `tool-output-available ${id} null`,
      "finish-step",
      "finish tool-calls",
    ]);
  });
});
