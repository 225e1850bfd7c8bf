import type { Event } from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";

import { dataOf } from "./machine.ts";
import type { Script } from "./vector.ts";

/** Summaries that are asked for, come and fail where drawn scripts hardly ever have one. */
export const summaryScripts = (): readonly Script[] => [
  {
    ...beginning("summary-after-retry", 80, 1),
    says: "When a call is made again, its prompt no longer fits: it waits for a summary, which fails.",
    steps: steps([
      ...oneTurn,
      ask(3, "b", 40),
      failed(4, "t/2.1#1", true),
      { type: "message.appended", at: 5, message: { role: "user", content: words(60) } },
      { type: "timer.fired", at: 6, effectId: "t/2.1#2!retry" },
      failed(7, "t/summary-1#1", false),
    ]),
  },
  {
    ...beginning("summary-after-denial", 96, 1),
    says: "After a call is denied, the next prompt does not fit: it waits for a summary, which comes.",
    steps: steps([
      ...oneTurn,
      ask(3, "b", 40),
      ...withheld,
      { type: "approval.answered", at: 6, effectId: "t/2.1.0!approval-1", approved: false, reason: words(60) },
      answered(7, "t/summary-1#1", 10),
    ]),
  },
  {
    ...beginning("summary-while-approving", 100, 0.5),
    says: "A summary comes while a person is asked whether a tool may run.",
    steps: steps([...oneTurn, ask(3, "b", 20), ...withheld, answered(6, "t/summary-1#1", 10)]),
  },
  {
    ...beginning("summary-fails-while-approving", 100, 0.5),
    says: "A summary fails while a person is asked whether a tool may run.",
    steps: steps([...oneTurn, ask(3, "b", 20), ...withheld, failed(6, "t/summary-1#1", true)]),
  },
  {
    ...beginning("summary-while-backing-off", 100, 0.5),
    says: "A summary comes while a failed call waits to be made again.",
    steps: steps([...oneTurn, ask(3, "b", 20), failed(4, "t/2.1#1", true), answered(5, "t/summary-1#1", 10)]),
  },
  {
    ...beginning("summary-fails-while-backing-off", 100, 0.5),
    says: "A summary fails while a failed call waits to be made again.",
    steps: steps([...oneTurn, ask(3, "b", 20), failed(4, "t/2.1#1", true), failed(5, "t/summary-1#1", true)]),
  },
];

const beginning = (name: string, tokens: number, at: number): Omit<Script, "says" | "steps"> => ({
  profile: "policies",
  name,
  machine: dataOf({
    policy: compactTurns({ keepTurns: 0, at, maxTokens: 12, requestTokens: 4_000, instruction: "Sum it up." }),
    budget: { tokens, reserve: 0 },
    tools: [{ name: "pay", approval: "always" }],
    retry: { baseDelayMs: 0 },
  }),
  start: { threadId: "t", at: 0 },
});

const steps = (events: readonly Event[]): Script["steps"] => events.map((event) => ({ event }));

/** So many characters, a token for each four. */
const words = (characters: number): string => "word ".repeat(characters / 5);

const ask = (at: number, askId: string, characters: number): Event => ({
  type: "ask.received",
  at,
  askId,
  input: words(characters),
});
const answered = (at: number, effectId: string, characters: number): Event => ({
  type: "llm.completed",
  at,
  effectId,
  reply: { content: words(characters) },
  finishReason: "stop",
});
const failed = (at: number, effectId: string, retryable: boolean): Event => ({
  type: "llm.failed",
  at,
  effectId,
  failure: { kind: "overloaded", message: "too busy", retryable },
});

const oneTurn: readonly Event[] = [ask(1, "a", 100), answered(2, "t/1.1#1", 60)];

const withheld: readonly Event[] = [
  {
    type: "llm.completed",
    at: 4,
    effectId: "t/2.1#1",
    reply: { toolCalls: [{ id: "call_0", name: "pay", arguments: "{}" }] },
    finishReason: "tool_calls",
  },
  { type: "tool.withheld", at: 5, effectId: "t/2.1.0#1", because: "declared", arguments: {} },
];
