import type { Json } from "@colloquy/machine";
import { problemOfEvent } from "@colloquy/machine/hosting";

import { changesOf } from "./changes.ts";
import type { Untimed } from "./events.ts";
import type { Story } from "./story.ts";

const provider = { n: 1 };
const call = { id: "c", name: "look", arguments: "{}", provider };
const data = { type: "data", field: "f", value: 1 } as const;
const image = { type: "image", url: "u", detail: "low" } as const;
const opaque = { type: "opaque", value: {} } as const;
const tokens = {
  inputTokens: 1,
  outputTokens: 1,
  totalTokens: 1,
  cacheReadTokens: 1,
  cacheWriteTokens: 1,
  reasoningTokens: 1,
  provider,
};
const model = { model: "m", promptDigest: "d" };
const partial = { content: "x" };

/** Answers, one for each member that they may have. Where nothing is out they are stale as long as they have the shape. */
const answers: readonly Untimed[] = [
  { type: "llm.completed", effectId: "e", reply: {}, finishReason: "stop", responseId: "r", ...model },
  { type: "llm.completed", effectId: "e", reply: {}, finishReason: null, usage: tokens },
  {
    type: "llm.completed",
    effectId: "e",
    reply: { content: "x", toolCalls: [call], name: "n", provider },
    finishReason: null,
  },
  {
    type: "llm.completed",
    effectId: "e",
    reply: {
      content: [{ type: "text", text: "x", provider }, data, image, opaque, { type: "reasoning", text: "x", provider }],
    },
    finishReason: null,
  },
  {
    type: "llm.completed",
    effectId: "e",
    reply: { content: [{ type: "refusal", text: "x", provider }] },
    finishReason: null,
  },
  {
    type: "llm.failed",
    effectId: "e",
    failure: { kind: "unknown", message: "m", retryable: true, retryAfterMs: 1, status: 1, code: "c" },
  },
  {
    type: "llm.failed",
    effectId: "e",
    failure: { kind: "network", message: "m", retryable: false },
    partial,
    usage: {},
    ...model,
  },
  { type: "llm.progressed", effectId: "e", partial, again: true },
  { type: "output.accepted", effectId: "e", value: null },
  { type: "output.refused", effectId: "e", issues: [{ message: "m", path: [0, "a"] }], checkFailed: true },
  { type: "tool.started", effectId: "e" },
  { type: "tool.withheld", effectId: "e", because: "declared", version: "1", arguments: null },
  { type: "tool.completed", effectId: "e", content: [image] },
  { type: "tool.failed", effectId: "e", outcome: "failed", content: [opaque] },
  { type: "approval.answered", effectId: "e", approved: true, digest: "d", reason: "r", by: "b" },
  { type: "timer.fired", effectId: "e" },
];

/** Everything else, which may be taken where it has the shape. */
const others: readonly Untimed[] = [
  {
    type: "ask.received",
    askId: "a",
    input: "x",
    name: "n",
    metadata: {},
    model: {},
    overlap: "reject",
    joins: { askId: "a" },
    partial,
  },
  {
    type: "ask.received",
    askId: "",
    input: "x",
    limits: { steps: 1, toolCalls: 1, tokens: 1, costNano: 1, deadlineMs: 1 },
  },
  {
    type: "ask.received",
    askId: "a",
    input: [{ role: "user", content: [data], name: "n", metadata: {}, provider }],
    tools: [{ name: "t", description: "d", parameters: {} }],
    output: { name: "o", schema: {}, mode: "tool", repairs: 1 },
    from: 1,
  },
  { type: "ask.received", askId: "a", input: [image], from: { checkpoint: "c" } },
  { type: "message.appended", message: { role: "user", content: "x" } },
  {
    type: "round.appended",
    reply: { toolCalls: [call] },
    results: [{ outcome: "completed", content: null }],
    metadata: {},
  },
  { type: "system.changed", system: { role: "developer", content: "x", name: "n", provider } },
  { type: "cancel.requested", askId: "a", reason: "r", partial, usage: {} },
  {
    type: "turn.added",
    messages: [
      { role: "assistant", content: "x", toolCalls: [call], metadata: {} },
      { role: "tool", toolCallId: "c", content: "x" },
    ],
    metadata: {},
  },
  { type: "turn.annotated", turn: 1, name: "n", value: 1, metadata: {} },
  { type: "answer.truncated", turn: 1, characters: 1 },
  { type: "head.moved", to: 1 },
  { type: "checkpoint.named", name: "n" },
  { type: "message.pinned", message: "1.0", pinned: true },
  { type: "metadata.changed", metadata: {} },
  { type: "thread.forked", from: { threadId: "t", turn: 1 } },
  { type: "thread.redacted", seqs: [0], reason: "r" },
  {
    type: "thread.configured",
    configuration: { fingerprint: "f", model: {}, idleTimeoutMs: 1, summariser: { instruction: "i", model: {} } },
  },
  {
    type: "thread.configured",
    configuration: { fingerprint: "f", tools: [{ name: "t", digest: "d" }] },
    model: {},
  },
];

const nested = (levels: number): Untimed => ({ type: "metadata.changed", metadata: { a: listIn(levels) } });
const listIn = (levels: number): readonly Json[] => (levels === 1 ? [] : [listIn(levels - 1)]);

const isEvent = (event: Untimed): boolean => problemOfEvent({ at: 0, ...event }) === null;

/** Events whose members have other values, or are missing. */
export const misshapenStories: readonly Story[] = [
  {
    name: "misshapen-answers",
    says: "An answer that has not its shape is invalid; one that has it, and answers nothing, is stale.",
    events: answers.flatMap((event) => [event, ...changesOf(event)]),
  },
  {
    name: "misshapen-events",
    says: "An event that has not its shape is invalid.",
    events: [
      // These are not events, on purpose.
      ...["llm.exploded", "", 7, null, ["ask.received"]].map((type) => ({ type }) as Untimed),
      ...others.flatMap((event) => changesOf(event).filter((changed) => !isEvent(changed))),
      { says: "As many levels as an event may have.", event: nested(252) },
      nested(253),
    ],
  },
];
