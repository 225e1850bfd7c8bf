import type { Failure } from "@colloquy/machine";
import { pricesPerMillion } from "@colloquy/machine";
import { compactTurns, fitOversized, lastTurns, tokenWindow } from "@colloquy/machine/policies";

import {
  added,
  answered,
  approved,
  ask,
  calling,
  cancelled,
  failed,
  fired,
  found,
  movedTo,
  progressed,
  started,
  timed,
  type Untimed,
  user,
  withheld,
} from "./stories/events.ts";
import { dataOf } from "./machine.ts";
import { scriptOfStory } from "./script-of-story.ts";
import type { Story, Told } from "./stories/story.ts";
import type { Script } from "./vector.ts";

/** Returns scripts for features that neither stories in files nor drawn scripts show. */
export const handMadeScripts = (): readonly Script[] => [
  scriptOfStory(recovery),
  scriptOfStory(chunks),
  oversized,
  oversizedResult,
  resultThatWaits,
  tooLong,
  costs,
];

const recovered = (event: Untimed, says: string): Told => ({ says, event, recovered: true });
const truncated: Failure = {
  kind: "truncated",
  message: "the process stopped before the reply was whole",
  retryable: false,
};

const recovery: Story = {
  name: "recovery",
  says: "After a crash a host sends events in place of the answers that were lost, and their entries say so.",
  options: {
    tools: [
      { name: "read", recovery: "rerun" },
      { name: "search" },
      { name: "mail", recovery: "once" },
      { name: "pay", recovery: "ask" },
    ],
  },
  events: [
    ask("a"),
    calling("t/1.1#1", "read", "search", "mail", "pay"),
    started("t/1.1.2#1"),
    started("t/1.1.3#1"),
    recovered(
      { type: "tool.failed", effectId: "t/1.1.1#1", outcome: "interrupted", content: "The call was interrupted." },
      "The process stopped here. A tool that nothing is said of is not run again.",
    ),
    recovered(
      { type: "tool.failed", effectId: "t/1.1.2#1", outcome: "unknown", content: "Whether it ran is not known." },
      "One that must not run twice had started.",
    ),
    recovered(withheld("t/1.1.3#1", "unknown_outcome"), "Of this one a person is asked."),
    { says: "One that may run twice runs again, with no entry of its own.", event: found("t/1.1.0#1") },
    approved("t/1.1.3!approval-1", "Ada"),
    { type: "tool.completed", effectId: "t/1.1.3#2", content: [{ type: "text", text: "paid" }] },
    progressed("t/1.2#1", { content: "All of" }),
    { type: "llm.progressed", effectId: "t/1.2#1", partial: { content: "It is" }, again: true },
    progressed("t/1.2#1", { content: " done" }),
    recovered(
      { type: "llm.failed", effectId: "t/1.2#1", failure: truncated, partial: { content: "It is done" } },
      "What a model had written before another crash ends the turn.",
    ),
  ],
};

const messages = (count: number): Untimed => added(...Array.from({ length: count }, (_, index) => user(String(index))));

const chunks: Story = {
  name: "chunks",
  says: "Lists of turns and of messages grow by chunks of 32.",
  options: { policy: lastTurns(1) },
  events: [
    messages(1),
    messages(33),
    ...Array.from({ length: 31 }, () => messages(1)),
    ask("b", "Well?"),
    movedTo(1),
    cancelled(),
    movedTo(2),
    ask("c", "And now?"),
    { type: "turn.annotated", turn: 32, name: "score", value: 1 },
    { type: "turn.annotated", turn: 33, name: "score", value: 1 },
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
  steps: steps(ask("a", long("question")), answered("t/1.1#1", "Well?")),
};

const resultThatWaits: Script = {
  profile: "policies",
  name: "result-that-waits-for-a-summary",
  says: "The result of a tool leaves too little room for what was said before: the next call waits for its summary.",
  machine: dataOf({
    policy: compactTurns({ keepTurns: 0, requestTokens: 4_000 }),
    budget: { tokens: 200, reserve: 0 },
    tools: [{ name: "look" }],
  }),
  start: { threadId: "t", at: 0 },
  steps: steps(
    ask("a", "one ".repeat(60)),
    answered("t/1.1#1", "yes ".repeat(60)),
    ask("b", "Two"),
    calling("t/2.1#1", "look"),
    { type: "tool.completed", effectId: "t/2.1.0#1", content: "found ".repeat(60) },
    answered("t/summary-1#1", "One was asked."),
    answered("t/2.2#1"),
  ),
};

const tooLong: Script = {
  profile: "policies",
  name: "prompt-that-is-too-long-for-the-server",
  says: "A server refuses a prompt as too long: it is made once more with half of its tokens, and so are those after it.",
  machine: dataOf({ policy: tokenWindow(), budget: { tokens: 10_000, reserve: 0 } }),
  start: { threadId: "t", at: 0 },
  steps: steps(
    ...["a", "b", "c"].flatMap((id, index) => [ask(id, long(id)), answered(`t/${index + 1}.1#1`, "Well?")]),
    ask("d", long("d")),
    failed("t/4.1#1", { kind: "context_length", retryable: false }),
    fired("t/4.1#2!retry"),
    failed("t/4.1#2", { kind: "context_length", retryable: false }),
    ask("e", long("e")),
    answered("t/5.1#1"),
  ),
};

const oversizedResult: Script = {
  ...oversized,
  name: "oversized-result",
  says: "A result that would never fit is shown by its beginning and its end.",
  steps: steps(ask("a"), calling("t/1.1#1", "read"), {
    type: "tool.completed",
    effectId: "t/1.1.0#1",
    content: long("finding"),
  }),
};

const used = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 40 };

const costs: Script = {
  profile: "policies",
  name: "costs",
  says: "A call that failed costs as well, of each model what it costs; a cancelled one is not known to.",
  machine: dataOf({
    pricing: pricesPerMillion("USD", { "model-1": { input: 1.25, output: 10, cachedInput: 0.125 } }),
    limits: { costNano: 300_000 },
    retry: { baseDelayMs: 0 },
  }),
  start: { threadId: "t", at: 0 },
  steps: steps(
    ask("a"),
    failed("t/1.1#1", {}, { usage: used, model: "model-1" }),
    { type: "timer.fired", effectId: "t/1.1#2!retry" },
    answered("t/1.1#2", "Yes.", { usage: used, model: "model-2" }),
    ask("b"),
    failed("t/2.1#1", { retryable: false }, { usage: used, model: "model-1" }),
    ask("c"),
    cancelled("c", { usage: used }),
    ask("d", "Go on.", { limits: { costNano: 180_000 } }),
    failed("t/4.1#1", {}, { usage: used, model: "model-1" }),
  ),
};

function steps(...events: readonly Untimed[]): Script["steps"] {
  return timed(events).map((event) => ({ event }));
}
