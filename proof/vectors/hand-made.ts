import type { Event, Failure } from "@colloquy/machine";
import { fitOversized, lastTurns } from "@colloquy/machine/policies";

import { dataOf } from "./machine.ts";
import type { Script, ScriptStep } from "./vector.ts";

/** What neither golden traces nor drawn scripts show. */
export const handMadeScripts = (): readonly Script[] => [recovery, chunks, oversized, oversizedResult];

const ask = (at: number, askId: string): ScriptStep => ({
  event: { type: "ask.received", at, askId, input: "Go on." },
});
const calls = (at: number, effectId: string, ...names: readonly string[]): ScriptStep => ({
  event: {
    type: "llm.completed",
    at,
    effectId,
    reply: { toolCalls: names.map((name, position) => ({ id: `call_${position}`, name, arguments: "{}" })) },
    finishReason: "tool_calls",
  },
});
const recovered = (event: Event, says: string): ScriptStep => ({ says, event, recovered: true });
const truncated: Failure = {
  kind: "truncated",
  message: "the process stopped before the reply was whole",
  retryable: false,
};

const recovery: Script = {
  profile: "core",
  name: "recovery",
  says: "After a crash a host sends events in place of the answers that were lost, and their entries say so.",
  machine: dataOf({
    tools: [
      { name: "read", recovery: "rerun" },
      { name: "search" },
      { name: "mail", recovery: "once" },
      { name: "pay", recovery: "ask" },
    ],
  }),
  start: { threadId: "t", at: 0 },
  steps: [
    ask(1, "a"),
    calls(2, "t/1.1#1", "read", "search", "mail", "pay"),
    { event: { type: "tool.started", at: 3, effectId: "t/1.1.2#1" } },
    { event: { type: "tool.started", at: 4, effectId: "t/1.1.3#1" } },
    recovered(
      {
        type: "tool.failed",
        at: 5,
        effectId: "t/1.1.1#1",
        outcome: "interrupted",
        content: "The call was interrupted.",
      },
      "The process stopped here. A tool that nothing is said of is not run again.",
    ),
    recovered(
      {
        type: "tool.failed",
        at: 6,
        effectId: "t/1.1.2#1",
        outcome: "unknown",
        content: "Whether it ran is not known.",
      },
      "One that must not run twice had started.",
    ),
    recovered(
      { type: "tool.withheld", at: 7, effectId: "t/1.1.3#1", because: "unknown_outcome", arguments: {} },
      "Of this one a person is asked.",
    ),
    {
      says: "One that may run twice runs again, with no entry of its own.",
      event: { type: "tool.completed", at: 8, effectId: "t/1.1.0#1", content: "read" },
    },
    { event: { type: "approval.answered", at: 9, effectId: "t/1.1.3!approval-1", approved: true, by: "Ada" } },
    { event: { type: "tool.completed", at: 10, effectId: "t/1.1.3#2", content: [{ type: "text", text: "paid" }] } },
    { event: { type: "llm.progressed", at: 11, effectId: "t/1.2#1", partial: { content: "All of" } } },
    { event: { type: "llm.progressed", at: 12, effectId: "t/1.2#1", partial: { content: "It is" }, again: true } },
    { event: { type: "llm.progressed", at: 13, effectId: "t/1.2#1", partial: { content: " done" } } },
    recovered(
      { type: "llm.failed", at: 14, effectId: "t/1.2#1", failure: truncated, partial: { content: "It is done" } },
      "What a model had written before another crash ends the turn.",
    ),
  ],
};

const words = (count: number): readonly { readonly role: "user"; readonly content: string }[] =>
  Array.from({ length: count }, (_, index) => ({ role: "user", content: String(index) }));

const chunks: Script = {
  profile: "core",
  name: "chunks",
  says: "Lists of turns and of messages grow by chunks of 32.",
  machine: dataOf({ policy: lastTurns(1) }),
  start: { threadId: "t", at: 0 },
  steps: [
    { event: { type: "turn.added", at: 1, messages: words(1) } },
    { event: { type: "turn.added", at: 3, messages: words(33) } },
    ...Array.from({ length: 31 }, (_, index): ScriptStep => ({
      event: { type: "turn.added", at: 4 + index, messages: words(1) },
    })),
    { event: { type: "ask.received", at: 40, askId: "b", input: "Well?" } },
    { event: { type: "head.moved", at: 41, to: 1 } },
    { event: { type: "cancel.requested", at: 42 } },
    { event: { type: "head.moved", at: 43, to: 2 } },
    { event: { type: "ask.received", at: 44, askId: "c", input: "And now?" } },
  ],
};

const long = (word: string): string => `${word} `.repeat(200);

const oversized: Script = {
  profile: "policies",
  name: "oversized",
  says: "An ask that would never fit is shown by its beginning and its end.",
  machine: dataOf({
    policy: fitOversized({ rule: "headAndTail", of: "messages" }),
    budget: { tokens: 200, reserve: 20 },
    tools: [{ name: "read" }],
  }),
  start: { threadId: "t", at: 0, system: "Be brief." },
  steps: [
    { event: { type: "ask.received", at: 1, askId: "a", input: long("question") } },
    { event: { type: "llm.completed", at: 2, effectId: "t/1.1#1", reply: { content: "Well?" }, finishReason: "stop" } },
  ],
};

const oversizedResult: Script = {
  ...oversized,
  name: "oversized-result",
  says: "A result that would never fit is shown by its beginning and its end.",
  steps: [
    ask(1, "a"),
    calls(2, "t/1.1#1", "read"),
    { event: { type: "tool.completed", at: 3, effectId: "t/1.1.0#1", content: long("finding") } },
  ],
};
