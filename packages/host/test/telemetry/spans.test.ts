import type { Entry } from "@colloquy/machine";
import { expect, test } from "vitest";
import { spansIn, storedJournals, treeOf } from "./kit.ts";

const treeIn = (name: string, ...shown: readonly string[]): string => {
  const [, entries = []] = storedJournals.find(([other]) => other === name) ?? [];
  return `\n${treeOf(spansIn(entries), ...shown)}\n`;
};

test("spans of parallel tools are siblings of the chat span that requested them", () => {
  expect(treeIn("parallel-tools", "gen_ai.tool.call.id")).toMatchInlineSnapshot(`
    "
    invoke_agent 1-7
      chat 1-2
      execute_tool time 2-3 gen_ai.tool.call.id=1.1.2
      execute_tool weather 2-5 gen_ai.tool.call.id=1.1.1
      execute_tool weather 2-6 gen_ai.tool.call.id=1.1.0
      chat 6-7
    "
  `);
});

test("the attempts of a call share one span, which has their number and their failures", () => {
  expect(treeIn("retry", "colloquy.step.attempts", "error.type")).toMatchInlineSnapshot(`
    "
    invoke_agent 0-6510 error.type=network
      chat 0-6510 colloquy.step.attempts=3 error.type=network colloquy.attempt.failed@10 colloquy.attempt.failed@5020 colloquy.attempt.failed@6510
    invoke_agent 7000-7010 error.type=rate_limit
      chat 7000-7010 error.type=rate_limit colloquy.attempt.failed@7010
    invoke_agent 8000-8010 error.type=auth
      chat 8000-8010 error.type=auth colloquy.attempt.failed@8010
    "
  `);
});

test("usage that a cancel reports between two attempts belongs to no call, as in the thread", () => {
  const failure = { kind: "rate_limit", message: "busy", retryable: true } as const;
  const entries: readonly Entry[] = [
    { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "t" } },
    { seq: 1, event: { type: "ask.received", at: 0, askId: "a", input: "Go on." } },
    {
      seq: 2,
      event: { type: "llm.failed", at: 0, effectId: "t/1.1#1", failure },
      decided: { retry: { attempt: 2, dueAt: 9 } },
    },
    { seq: 3, event: { type: "cancel.requested", at: 1, usage: { inputTokens: 1 } } },
  ];
  expect(spansIn(entries).map(({ attributes }) => attributes["gen_ai.usage.input_tokens"])).toEqual([
    undefined,
    undefined,
  ]);
});

test("the span of a tool call has the requests for its approval, and their answers", () => {
  expect(treeIn("approvals", "error.type")).toMatchInlineSnapshot(`
    "
    invoke_agent 1-15
      chat 1-2
      execute_tool list_files 2-7
      execute_tool delete_file 2-13 colloquy.approval.requested@5 colloquy.approval.granted@9 colloquy.approval.requested@10 colloquy.approval.granted@12
      execute_tool delete_file 2-14 error.type=refused colloquy.approval.requested@6 colloquy.approval.denied@14
      chat 14-15
    "
  `);
  expect(treeIn("unknown-outcome", "error.type")).toMatchInlineSnapshot(`
    "
    invoke_agent 1-12
      chat 1-2
      execute_tool pay 2-10 colloquy.approval.requested@6 colloquy.approval.granted@8
      execute_tool pay 2-11 error.type=unknown colloquy.approval.requested@7 colloquy.approval.denied@11
      chat 11-12
    "
  `);
});

test("a denied call has an unknown outcome only if it was started before, in any step and at any position", () => {
  const wrote = (step: number, ...names: readonly string[]): Entry["event"] => ({
    type: "llm.completed",
    at: 1,
    effectId: `t/1.${step}#1`,
    reply: { toolCalls: names.map((name, index) => ({ id: `${index}`, name, arguments: "{}" })) },
    finishReason: "tool_calls",
  });
  const withheld = (position: number, because: "unknown_outcome" | "declared"): Entry["event"] => ({
    type: "tool.withheld",
    at: 1,
    effectId: `t/1.2.${position}#1`,
    because,
    arguments: {},
  });
  const denied = (position: number): Entry["event"] => ({
    type: "approval.answered",
    at: 1,
    effectId: `t/1.2.${position}!approval-1`,
    approved: false,
  });
  const events: readonly Entry["event"][] = [
    { type: "ask.received", at: 0, askId: "a", input: "Pay." },
    wrote(1, "look"),
    { type: "tool.completed", at: 1, effectId: "t/1.1.0#1", content: "a bill" },
    wrote(2, "pay", "pay"),
    { type: "tool.started", at: 1, effectId: "t/1.2.0#1" },
    withheld(0, "unknown_outcome"),
    withheld(1, "declared"),
    denied(1),
    denied(0),
  ];
  const started: Entry = { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "t" } };
  // None of the events starts a thread.
  const entries = [started, ...events.map((event, index) => ({ seq: index + 1, event }) as Entry)];
  expect(
    spansIn(entries, { open: true }).flatMap(({ operation, attributes }) =>
      operation === "execute_tool" ? [[attributes["gen_ai.tool.call.id"], attributes["error.type"]]] : [],
    ),
  ).toEqual([
    ["1.1.0", undefined],
    ["1.2.1", "refused"],
    ["1.2.0", "unknown"],
  ]);
});

test("a stopped turn ends its open spans", () => {
  expect(treeIn("cancel", "colloquy.turn.status", "error.type", "gen_ai.response.finish_reasons"))
    .toMatchInlineSnapshot(`
      "
      invoke_agent 1-3 colloquy.turn.status=cancelled error.type=cancelled
        chat 1-3 error.type=cancelled gen_ai.response.finish_reasons=error
      invoke_agent 4-6 colloquy.turn.status=cancelled error.type=cancelled
        chat 4-6 error.type=cancelled gen_ai.response.finish_reasons=error colloquy.attempt.failed@5
      invoke_agent 7-10 colloquy.turn.status=cancelled error.type=cancelled
        chat 7-8 gen_ai.response.finish_reasons=tool_calls
        execute_tool weather 8-9
        execute_tool time 8-10 error.type=interrupted
      invoke_agent 11-13 colloquy.turn.status=completed gen_ai.response.finish_reasons=stop
        chat 11-13 gen_ai.response.finish_reasons=stop
      "
    `);
  expect(treeIn("deadline", "colloquy.turn.status", "error.type")).toMatchInlineSnapshot(`
    "
    invoke_agent 0-1000 colloquy.turn.status=failed error.type=limit_deadlineMs
      chat 0-10
      execute_tool time 10-20
      execute_tool weather 10-1000 error.type=interrupted
    invoke_agent 2000-2010 colloquy.turn.status=completed
      chat 2000-2010
    invoke_agent 3000-4000 colloquy.turn.status=failed error.type=limit_deadlineMs
      chat 3000-4000
      execute_tool weather 4000-4000 error.type=refused
    "
  `);
});

test("the span of a summary is in the turn that requested it, or is a root", () => {
  expect(treeIn("compacting", "colloquy.summary.number", "gen_ai.conversation.compacted")).toMatchInlineSnapshot(`
    "
    invoke_agent 1-2
      chat 1-2
    invoke_agent 3-8
      chat 3-5 colloquy.summary.number=1
      chat 5-6 gen_ai.conversation.compacted=true
      execute_tool weather 6-7
      chat 7-8
    chat 8-60009 colloquy.summary.number=2
    "
  `);
  expect(treeIn("compaction", "colloquy.summary.number", "gen_ai.conversation.compacted")).toMatchInlineSnapshot(`
    "
    invoke_agent 1-4
      chat 1-2
      execute_tool weather 2-3
      chat 3-4
    invoke_agent 5-6
      chat 5-6
    chat 6-8 colloquy.summary.number=1
    invoke_agent 7-9
      chat 7-9
    chat 9-11 colloquy.summary.number=2
    invoke_agent 10-12
      chat 10-12 gen_ai.conversation.compacted=true
    "
  `);
  expect(treeIn("summary-called-off", "colloquy.summary.number", "error.type")).toMatchInlineSnapshot(`
    "
    invoke_agent 1-2
      chat 1-2
    chat 2-3 colloquy.summary.number=1
    invoke_agent 4-5
      chat 4-5
    chat 5-6 colloquy.summary.number=2 error.type=cancelled
    invoke_agent 7-8
      chat 7-8
    chat 8-9 colloquy.summary.number=3 error.type=cancelled
    "
  `);
});

test("the span of a failed summary has the error, also if its call gave nothing usable", () => {
  expect(treeIn("summary-failure", "colloquy.summary.number", "error.type")).toMatchInlineSnapshot(`
    "
    invoke_agent 1-2
      chat 1-2
    chat 2-3 colloquy.summary.number=1 error.type=unusable
    invoke_agent 4-6
      chat 4-5 colloquy.summary.number=2 error.type=unusable
      chat 4-6
    chat 6-7 colloquy.summary.number=3 error.type=overloaded colloquy.attempt.failed@7
    invoke_agent 8-10
      chat 8-9 colloquy.summary.number=4 error.type=unusable
      chat 8-10
    chat 10-11 colloquy.summary.number=5 error.type=unusable
    invoke_agent 12-13 error.type=context_unfit
      chat 12-13 colloquy.summary.number=6 error.type=overloaded colloquy.attempt.failed@13
    "
  `);
});

test("a tool call without a result in the journal is interrupted", () => {
  const [, entries = []] = storedJournals.find(([name]) => name === "cancel") ?? [];
  const bare = entries.map((entry): Entry => {
    if (!("decided" in entry)) return entry;
    const { results: _, ...decided } = entry.decided ?? {};
    return { ...entry, decided };
  });
  expect(spansIn(bare)).toEqual(spansIn(entries));
});

test("a fork has no spans of copied entries, and turns that were added by hand have none", () => {
  expect(treeIn("forked")).toMatchInlineSnapshot(`
    "

    "
  `);
  expect(treeIn("round-appended")).toMatchInlineSnapshot(`
    "
    invoke_agent 6-12
      chat 6-8
      execute_tool list_files 8-11
      chat 11-12
    "
  `);
});
