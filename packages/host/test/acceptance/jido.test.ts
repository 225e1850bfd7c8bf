import { describe, expect, test } from "vitest";
import { messagesOf, type ReplyDraft, textOf } from "@colloquy/machine";
import { awaitMany, tool, TurnCancelledError } from "@colloquy/host";
import type { HostedThread, ToolDefinition, ToolInput } from "@colloquy/host";
import { calls, entriesOf, errorOf, held, journalOf, says, settle, stage } from "../stage.ts";

// Repeats Jido AI's own tests about tools, requests and streams. If this host answers otherwise, the test's name says
// so. The decisions of the machine alone are in its acceptance tests. Left out, having no counterpart:
// - 42, signed tokens that carry the state of a run (a byte changed, expired, another configuration): the state is the
//   journal in a store, so nothing is handed out that could be changed or expire, and a thread may continue under
//   another configuration, which is journalled.
// - 47, a stream's timeout that follows from that of tools: each is set by itself, where it is used.

const anything = { jsonSchema: { type: "object" } };

const toolOf = (name: string, run: () => unknown, more: Partial<ToolDefinition<ToolInput>> = {}) =>
  tool({ name, description: "", input: anything, run, ...more });

const results = async (thread: HostedThread): Promise<readonly string[]> => {
  const state = await thread.state();
  return state === null ? [] : messagesOf(state).flatMap((message) => (message.role === "tool" ? textOf(message) : []));
};

describe("tools", () => {
  test("34: a tool that fails is run once, and its failure reported: the model may call it again (theirs retries by itself)", async () => {
    let runs = 0;
    const flaky = toolOf("flaky", () => {
      runs++;
      if (runs === 1) throw new Error("try again");
      return "fine";
    });
    const { host } = stage({ tools: [flaky], script: [calls(["flaky", {}]), calls(["flaky", {}]), says("done")] });
    expect((await host.ask("go")).text).toBe("done");
    expect(runs).toBe(2);
    expect(await results(host.thread())).toEqual([expect.stringMatching(/try again/), "fine"]);
  });

  test("35: a call that is held back and denied never starts; the model reads so and goes on (theirs fails the request)", async () => {
    let runs = 0;
    const risky = toolOf("risky", () => ++runs, { approval: () => true, recovery: "once" });
    const { host, store } = stage({ tools: [risky], script: [calls(["risky", {}]), says("I won't, then.")] });
    const thread = host.thread();
    const asked = thread.ask("go");
    await settle();
    const [request] = await thread.approvals();
    await thread.deny(request?.id ?? "", { reason: "not today" });
    expect((await asked).text).toBe("I won't, then.");
    expect(runs).toBe(0);
    // A tool that must run once is said to have started before it does.
    expect(await journalOf(store)).not.toContain("tool.started");
    expect(await results(thread)).toEqual([expect.stringMatching(/not today/)]);
  });

  test("36: of a slow and a fast tool the fast one is journalled first, and both are shown in the order of the calls", async () => {
    const slowly = Promise.withResolvers<string>();
    const tools = [toolOf("slow", () => slowly.promise), toolOf("fast", () => "fast result")];
    const { host, store } = stage({ tools, script: [calls(["slow", {}], ["fast", {}]), says("done")] });
    const asked = host.ask("go");
    await settle();
    slowly.resolve("slow result");
    await asked;
    const journalled = (await entriesOf(store)).flatMap(({ event }) =>
      event.type === "tool.completed" ? [event.content] : [],
    );
    expect(journalled).toEqual(["fast result", "slow result"]);
    expect(await results(host.thread())).toEqual(["slow result", "fast result"]);
  });
});

describe("requests", () => {
  test.each<[string, ReplyDraft, string]>([
    ["a blank answer that ended for its length is one, and its finish reason says so (theirs fails)", {}, ""],
    ["an answer that is not blank is accepted, and its finish reason says so", { content: "As far" }, "As far"],
  ])("37: %s", async (_, reply, text) => {
    const usage = { inputTokens: 3, outputTokens: 0 };
    const { host } = stage({ script: [{ type: "completed", reply, finishReason: "length", usage }] });
    expect(await host.ask("go")).toMatchObject({
      status: "completed",
      finishReason: "length",
      text,
      usage: { inputTokens: { sum: 3 }, outputTokens: { sum: 0 } },
    });
  });

  test("40: of five asks the last three are given where three are wanted (who looks says how many; theirs keeps so many)", async () => {
    const { host } = stage({ script: ["1", "2", "3", "4", "5"].map(says) });
    const thread = host.thread();
    for (const number of [1, 2, 3, 4, 5]) await thread.ask("Q", { askId: `req-${number}` });
    expect((await thread.asks(3)).map(({ askId }) => askId)).toEqual(["req-3", "req-4", "req-5"]);
    expect(await thread.asks()).toHaveLength(5);
    expect(await thread.asked("req-1")).toMatchObject({ status: "completed", turn: 1 });
  });

  test("41: three that are awaited together give their results in that order, whichever ends first", async () => {
    const models = [held(), held(), held()];
    const { host } = stage({ script: models.map(({ step }) => step) });
    const ended: string[] = [];
    const handles = ["a", "b", "c"].map((threadId) => host.ask("Q", { threadId }));
    for (const handle of handles) void handle.finally(() => ended.push(handle.threadId));
    const all = awaitMany(handles);
    await settle();
    for (const index of [2, 0, 1]) {
      models[index]?.answer(says(`${index}`));
      await settle();
    }
    expect(ended).toEqual(["c", "a", "b"]);
    expect((await all).map((outcome) => (outcome.type === "result" ? outcome.result.text : "none"))).toEqual([
      "0",
      "1",
      "2",
    ]);
  });
});

describe("streams", () => {
  /** A process that died while its model streamed, and another. */
  const diedStreaming = async (partials: "askAgain" | "keep") => {
    const model = held();
    const dead = stage({ owner: "same", progressMs: 1_000, partials, script: [model.step] });
    dead.host.ask("Q1", { askId: "one" }).catch(() => {});
    await settle();
    model.show("Once upon");
    await dead.clock.advance(1_000);
    return dead.another({ script: [says("whole"), says("next")] });
  };

  test("43: saved while streaming and taken up again, the model is asked again (theirs fails the request)", async () => {
    const next = await diedStreaming("askAgain");
    expect(await next.host.ask("Q1", { askId: "one" })).toMatchObject({ turn: 1, text: "whole" });
    expect(next.model.calls).toHaveLength(1);
  });

  test("43: or, where that is chosen, the turn fails as cut off, with what was shown, and the thread takes the next ask", async () => {
    const next = await diedStreaming("keep");
    expect(await errorOf(next.host.ask("Q1", { askId: "one" }))).toMatchObject({
      name: "TurnFailedError",
      failure: { kind: "truncated" },
      summary: { text: "Once upon" },
    });
    expect(await next.host.ask("Q2")).toMatchObject({ turn: 2 });
  });

  test("45: to stop reading early does not cancel: the answer comes all the same (theirs is cancelled)", async () => {
    const model = held();
    const { host } = stage({ script: [model.step] });
    const handle = host.ask("go");
    await settle();
    model.show("half");
    for await (const part of handle) if (part.type === "text.delta") break;
    await settle();
    expect(model.signal()?.aborted).toBe(false);
    model.answer(says("half and half"));
    expect((await handle).text).toBe("half and half");
  });

  test("45: cancelling is said, by `abort` or a signal", async () => {
    const model = held();
    const { host } = stage({ script: [model.step] });
    const handle = host.ask("go");
    await settle();
    model.show("half");
    for await (const part of handle) if (part.type === "text.delta") break;
    handle.abort();
    expect(await errorOf(handle)).toBeInstanceOf(TurnCancelledError);
    expect(model.signal()?.aborted).toBe(true);
  });
});
