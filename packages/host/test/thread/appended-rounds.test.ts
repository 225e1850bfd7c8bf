import { messagesOf, type RoundAppended, textOf, toolCallsOf } from "@colloquy/machine";
import { checkPrompt } from "@colloquy/machine/policies";
import { describe, expect, test } from "vitest";
import { EventRefusedError } from "@colloquy/host";
import { calls, echo, errorOf, held, journalOf, says, settle, stage } from "../stage.ts";

const reply: RoundAppended["reply"] = {
  content: "Let me see.",
  toolCalls: [{ id: "call_0", name: "elsewhere", arguments: "{}" }],
};
const results: RoundAppended["results"] = [{ outcome: "completed", content: "A heron was seen." }];

describe("a round that is appended through a host", () => {
  test("makes a thread, lets its journal rise, once, and is shown, found and kept", async () => {
    const first = stage({ script: [says("ok")] });
    const thread = first.host.thread();
    await Promise.all([thread.appendRound(reply, results, { from: "elsewhere" }), thread.appendRound(reply, results)]);
    expect(await journalOf(first.store)).toEqual(["thread.started", "round.appended", "round.appended"]);
    await thread.ask("hi");
    expect(checkPrompt(first.model.calls[0]?.messages ?? [])).toBeNull();
    expect(first.model.calls[0]?.messages.map(textOf)).toEqual([
      "Let me see.",
      "A heron was seen.",
      "Let me see.",
      "A heron was seen.",
      "hi",
    ]);
    const { hits } = await first.host.search("heron");
    expect(hits.map(({ seq }) => seq)).toEqual([2, 1]);
    const entries = await thread.exportJournal();
    const copy = await stage().host.importJournal(entries, { threadId: "copy" });
    expect(await copy.state()).not.toBeNull();
    await thread.redact({ message: "1.0" });
    expect((await first.host.search("heron")).hits.map(({ seq }) => seq)).toEqual([2]);
  });

  test("stands behind the round that is under way", async () => {
    const model = held();
    const { host, model: scripted } = stage({ tools: [echo], script: [model.step, says("done")] });
    const asked = host.ask("hi");
    await settle();
    await host.thread().send({ type: "round.appended", at: 1, reply, results });
    model.answer(calls(["echo", { text: "own" }]));
    await asked;
    expect(scripted.calls[1]?.messages.map(textOf)).toEqual(["hi", "", "own", "Let me see.", "A heron was seen."]);
    const state = await host.thread().state();
    const ids = state === null ? [] : messagesOf(state).flatMap(toolCallsOf);
    expect(new Set(ids.map(({ callId }) => callId)).size).toBe(2);
  });

  test("that is none leaves the journal at the format that it has", async () => {
    const { host, store } = stage({ script: [says("ok")] });
    await host.ask("hi");
    const thread = host.thread();
    const error = await errorOf(thread.appendRound({ content: "no call" }, []));
    expect(error).toBeInstanceOf(EventRefusedError);
    expect(error).toMatchObject({ message: expect.stringMatching(/toolCalls|tool call/) });
    expect(await errorOf(thread.appendRound(reply, [...results, ...results]))).toMatchObject({
      message: expect.stringContaining("1 call and 2 results"),
    });
    expect(await journalOf(store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
  });
});
