import { describe, expect, test } from "vitest";
import { type Event } from "../../src/index.ts";
import { redactEntry } from "../../src/storage.ts";

// Records each event after a redaction, with all optional members and with none. Figures, names and outcomes stay,
// since later events fold by them; words are removed.

const at = 5;
const effectId = "t/1.1#1";
const said = "SECRET";
const reply = {
  content: [
    { type: "reasoning", text: said },
    { type: "text", text: said },
    { type: "text", text: "" },
    { type: "refusal", text: said },
    { type: "data", field: "q", value: said },
    { type: "data", field: "q", value: null },
    { type: "data", field: "q", value: "" },
    { type: "image", url: "https://example.org/a" },
  ],
  toolCalls: [{ id: "call_0", name: "lookup", arguments: '{"a":1}' }],
} as const;
const usage = {
  inputTokens: 1,
  outputTokens: 2,
  totalTokens: 3,
  cacheReadTokens: 4,
  cacheWriteTokens: 5,
  reasoningTokens: 6,
} as const;
const failure = { kind: "overloaded", message: said, retryable: true } as const;

const events: Readonly<Record<string, Event>> = {
  "an ask": { type: "ask.received", at, askId: "a", input: said },
  "an ask of nothing": { type: "ask.received", at, askId: "a", input: "" },
  "an ask of parts": { type: "ask.received", at, askId: "a", input: [{ type: "text", text: said }] },
  "an ask with all": {
    type: "ask.received",
    at,
    askId: "a",
    input: [{ role: "user", content: said, name: said }],
    metadata: { a: said },
    limits: { steps: 3 },
    overlap: "steer",
    joins: { askId: "b" },
    partial: reply,
  },
  "a system that is taken away": { type: "system.changed", at, system: null },
  "a system as a text": { type: "system.changed", at, system: said },
  "a system as a draft": { type: "system.changed", at, system: { role: "developer", content: said } },
  "an answer": { type: "llm.completed", at, effectId, reply, finishReason: null },
  "an answer with all": { type: "llm.completed", at, effectId, reply, finishReason: "stop", usage, model: "m" },
  "an answer that ended for a reason in words": {
    type: "llm.completed",
    at,
    effectId,
    reply: {},
    finishReason: "it was enough",
  },
  "a name of 64 characters as a reason": {
    type: "llm.completed",
    at,
    effectId,
    reply: { content: said },
    finishReason: "r".repeat(64),
  },
  "a name of 65 characters as a reason": {
    type: "llm.completed",
    at,
    effectId,
    reply: { content: "" },
    finishReason: "r".repeat(65),
  },
  "usage of which nothing was reported": {
    type: "llm.completed",
    at,
    effectId,
    reply: {},
    finishReason: null,
    usage: {},
  },
  "a failure": { type: "llm.failed", at, effectId, failure },
  "a failure with all": {
    type: "llm.failed",
    at,
    effectId,
    failure: { ...failure, retryAfterMs: 7, status: 503, code: "busy" },
    partial: reply,
    usage,
    model: "m",
  },
  "a failure with a code in words": { type: "llm.failed", at, effectId, failure: { ...failure, code: "much to do" } },
  progress: { type: "llm.progressed", at, effectId, partial: { content: said } },
  "progress of an answer that begins again": {
    type: "llm.progressed",
    at,
    effectId,
    partial: { content: said },
    again: true,
  },
  "a tool that was withheld": { type: "tool.withheld", at, effectId, because: "declared", arguments: { a: said } },
  "a tool that was withheld, of a version": {
    type: "tool.withheld",
    at,
    effectId,
    because: "declared",
    version: "2",
    arguments: { a: said },
  },
  "an approval": { type: "approval.answered", at, effectId, approved: true },
  "a refusal with a reason": { type: "approval.answered", at, effectId, approved: false, reason: said },
  "a result": { type: "tool.completed", at, effectId, content: said },
  "a result of nothing": { type: "tool.completed", at, effectId, content: null },
  "a tool that failed": { type: "tool.failed", at, effectId, outcome: "failed", content: said },
  "a cancel": { type: "cancel.requested", at },
  "a cancel with all": { type: "cancel.requested", at, askId: "a", reason: said, partial: reply, usage },
  "a turn that was added": { type: "turn.added", at, messages: [{ role: "user", content: said }] },
  "a turn that was added, with all": {
    type: "turn.added",
    at,
    messages: [
      { role: "user", content: said },
      { role: "assistant", content: said },
      { role: "assistant", ...reply },
      { role: "tool", toolCallId: "call_0", content: said },
    ],
    metadata: { a: said },
  },
  "a redaction": { type: "thread.redacted", at, seqs: [1, 2] },
  "a redaction with a reason": { type: "thread.redacted", at, seqs: [1, 2], reason: said },
};

describe("the rest after a redaction", () => {
  test("of each event", async () => {
    const lines = Object.entries(events).flatMap(([name, event]) => {
      const entry = redactEntry({ seq: 3, event });
      expect(redactEntry(entry)).toEqual(entry);
      return [name, `  ${JSON.stringify(entry)}`];
    });
    expect(lines.join("\n")).not.toContain(said);
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("redacted-forms.txt");
  });

  test("of decisions, and of recovered entries", () => {
    const event = { type: "timer.fired", at, effectId } as const;
    const results = [{ position: 0, outcome: "refused", content: [{ type: "text", text: said }] }] as const;
    expect(redactEntry({ seq: 3, event, decided: { results, summaryFailed: said, policyFailed: "" } })).toEqual({
      seq: 3,
      event,
      decided: {
        results: [{ position: 0, outcome: "refused", content: [{ type: "text", text: "[redacted]" }] }],
        summaryFailed: "[redacted]",
        policyFailed: "",
      },
      redacted: true,
    });
    expect(redactEntry({ seq: 3, event, recovered: true })).toEqual({ seq: 3, event, recovered: true, redacted: true });
    expect(redactEntry({ seq: 3, event })).toEqual({ seq: 3, event, redacted: true });
  });
});
