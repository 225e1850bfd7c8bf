import { describe, expect, test } from "vitest";
import { conversationMachine, lastTurnOf, messagesOf, outstanding, textOf, toolResultOf } from "../../src/index.ts";
import { calling, Talk } from "../talk.ts";

const tools = [{ name: "search" }];

const running = (...names: readonly string[]): Talk => {
  const talk = new Talk(conversationMachine({ tools }));
  talk.ask("Go.");
  talk.reply(calling(...names));
  return talk;
};

describe("a tool that is not declared", () => {
  test("is answered by the machine, unless the host wants to be asked", () => {
    const asking = new Talk(conversationMachine({ tools, unknownTool: "ask" }));
    asking.ask("Go.");
    asking.reply(calling("fly", "search"));
    expect(asking.effects).toMatchObject([
      { type: "callTool", name: "fly" },
      { type: "callTool", name: "search" },
    ]);
    const answering = running("fly", "search");
    expect(answering.effects).toMatchObject([{ type: "callTool", name: "search", position: 1 }]);
    answering.result(1, "found");
    expect(answering.call().messages.map((message) => toolResultOf(message)?.outcome)).toEqual([
      undefined,
      undefined,
      "refused",
      "completed",
    ]);
  });
});

describe("a tool that is running", () => {
  test("starts once, and is known to have started", () => {
    const talk = running("search");
    const started = { type: "tool.started", effectId: "t/1.1.0#1" } as const;
    expect(outstanding(talk.state)).toMatchObject([{ started: false }]);
    talk.tell(started);
    expect(outstanding(talk.state)).toMatchObject([{ started: true }]);
    expect(talk.refused(started).kind).toBe("stale");
    talk.result(0, "found");
    expect(talk.refused(started).kind).toBe("stale");
  });

  test("answers once, whatever it answers", () => {
    const talk = running("search", "search");
    talk.tell({ type: "tool.failed", effectId: "t/1.1.0#1", outcome: "unknown", content: "it may have run" });
    const again = { effectId: "t/1.1.0#1", content: "found" } as const;
    expect(talk.refused({ type: "tool.completed", ...again }).kind).toBe("stale");
    expect(talk.refused({ type: "tool.failed", ...again, outcome: "failed" }).kind).toBe("stale");
  });

  test("decides nothing with its result while another is still out", () => {
    const talk = new Talk(conversationMachine({ tools, limits: { steps: 1 } }));
    talk.ask("Go.");
    talk.reply(calling("search", "search"));
    expect(talk.result(1, "found").entry).not.toHaveProperty("decided");
    expect(talk.result(0, "found").entry.decided).toMatchObject({ limit: { limit: "steps" } });
  });

  test("has its result among the messages as soon as it is there, before what was appended since", () => {
    const talk = running("search", "search");
    talk.tell({ type: "message.appended", message: { role: "user", content: "Quick!" } });
    talk.result(1, "second");
    expect(messagesOf(talk.state).map(textOf)).toEqual(["Go.", "", "second", "Quick!"]);
    talk.result(0, "first");
    expect(messagesOf(talk.state).map(textOf)).toEqual(["Go.", "", "first", "second", "Quick!"]);
  });

  test("counts as a tool call of its turn, as does one that is not there", () => {
    const talk = running("search", "fly");
    talk.result(0, "found");
    talk.reply("Done.");
    expect(lastTurnOf(talk.state)).toMatchObject({ steps: 2, toolCalls: 2 });
  });
});
