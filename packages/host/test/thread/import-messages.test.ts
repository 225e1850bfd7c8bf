import { textOf } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { ImportRefusedError } from "@colloquy/host";
import { errorOf, says, stage } from "../stage.ts";

describe("a conversation that was had elsewhere", () => {
  test("becomes a thread that begins with its turns", async () => {
    const { host, model } = stage({ script: [says("on")] });
    const turns = [
      [
        { role: "user" as const, content: "one" },
        { role: "assistant" as const, content: "1" },
      ],
      [{ role: "user" as const, content: "two" }],
    ];
    const thread = await host.importMessages({ system: "Be kind.", turns }, { metadata: { from: "elsewhere" } });
    expect((await thread.ask("three")).turn).toBe(3);
    expect(model.calls[0]?.messages.map(textOf)).toEqual(["Be kind.", "one", "1", "two", "three"]);
    const bad = [...turns, [{ role: "tool" as const, callId: "x", name: "x", content: "lost" }]];
    const refused = await errorOf(host.importMessages({ turns: bad as unknown as typeof turns }, { threadId: "bad" }));
    expect(refused).toMatchObject({ name: "ImportRefusedError", index: 3 });
    expect(await host.thread("bad").state()).toBeNull();
  });

  test.each<[string, unknown, RegExp, number | null]>([
    ["nothing", undefined, /list of turns/, null],
    ["the problem that a reader found", { _tag: "Left", left: { index: 0, reason: "none" } }, /list of turns/, null],
    ["a text for turns", { turns: "x" }, /list of turns; give \{ system, turns \}/, null],
    ["a turn that is no list", { turns: [[{ role: "user", content: "one" }], "x"] }, /turn 2: .*messages/, 2],
    ["a message that is none", { turns: [[7]] }, /turn 1: /, 1],
    ["what JSON can't say", { turns: [[{ role: "user", content: 1n }]] }, /turn 1: .*JSON/, 1],
    ["a system prompt that is none", { system: 7, turns: [] }, /system/, 0],
  ])("that is none is refused in words: %s", async (_, conversation, words, index) => {
    const { host } = stage();
    // Callers in JavaScript hand in anything.
    const given = conversation as Parameters<typeof host.importMessages>[0];
    const refused = await errorOf(host.importMessages(given, { threadId: "bad" }));
    expect(refused).toBeInstanceOf(ImportRefusedError);
    expect(refused).toMatchObject({ index, message: expect.stringMatching(words) });
    expect(await host.thread("bad").state()).toBeNull();
  });
});
