import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  digestOfMessage,
  type Entry,
  type Event,
  type EventType,
  messagesOf,
  outstanding,
  type State,
  toArray,
} from "../../src/index.ts";
import { entriesToRedact, redactEntry } from "../../src/storage.ts";
import { decodeEntry } from "../../src/journal.ts";
import { runs } from "../runs.ts";
import { foldOf, right } from "../reading.ts";

type Target = Parameters<typeof entriesToRedact>[1];

/** Returns the journal after a redaction, without the redaction's own entry. */
const redacted = (entries: readonly Entry[], target: Target): readonly Entry[] => {
  const seqs = right(entriesToRedact(entries, target));
  return entries.map((entry) => (seqs.includes(entry.seq) ? redactEntry(entry) : entry));
};

const secret = "SECRET";
const provider = { signature: secret };
const said = { content: secret, name: secret, metadata: { secret }, provider };
const parts = [
  { type: "text", text: secret, provider },
  { type: "data", field: "question", value: { secret } },
  { type: "image", url: `https://${secret}`, detail: secret },
  { type: "opaque", value: { secret } },
] as const;
const reply = {
  content: [...parts, { type: "reasoning", text: secret, provider }, { type: "refusal", text: secret, provider }],
  toolCalls: [{ id: "call_0", name: "lookup", arguments: secret, provider }],
  name: secret,
  provider,
} as const;
const usage = { inputTokens: 3, outputTokens: 4, provider: { secret } };
const failure = {
  kind: "overloaded",
  message: secret,
  retryable: true,
  retryAfterMs: 5,
  status: 500,
  code: "c",
} as const;
const effectId = "t/1.1#1";

/** One event of each type, with a secret in every free text. */
const samples: { readonly [Type in EventType]: Omit<Extract<Event, { type: Type }>, "type" | "at"> } = {
  "ask.received": {
    askId: "a",
    input: [{ role: "user", ...said }],
    name: secret,
    metadata: { secret },
    model: { user: secret },
    limits: { steps: 3 },
    overlap: "interrupt",
    output: { name: "answer", schema: { description: secret }, mode: "tool", repairs: 1 },
    partial: reply,
  },
  "message.appended": { message: { role: "developer", ...said, content: parts } },
  "round.appended": {
    reply: { ...reply, toolCalls: [{ id: "call_0", name: "search", arguments: secret }] },
    results: [{ outcome: "completed", content: parts }],
    metadata: { secret },
  },
  "system.changed": { system: { role: "system", content: parts, name: secret, provider } },
  "system.reset": {},
  "llm.completed": {
    effectId,
    reply,
    finishReason: "stop",
    usage,
    promptDigest: secret,
    model: "m",
    responseId: secret,
  },
  "llm.failed": { effectId, failure, partial: reply, usage, promptDigest: secret, model: "m" },
  "llm.progressed": { effectId, partial: reply, again: true },
  "output.accepted": { effectId, value: { secret } },
  "output.refused": { effectId, issues: [{ message: secret, path: [secret, 0] }], checkFailed: true },
  "tool.started": { effectId },
  "tool.withheld": { effectId, because: "declared", version: "2", arguments: { secret } },
  "approval.answered": { effectId, approved: false, digest: secret, reason: secret, by: secret },
  "tool.completed": { effectId, content: parts },
  "tool.failed": { effectId, outcome: "failed", content: secret },
  "timer.fired": { effectId },
  "cancel.requested": { askId: "a", reason: secret, partial: reply, usage },
  "turn.added": {
    messages: [
      { role: "user", ...said },
      { role: "assistant", ...reply },
      { role: "tool", toolCallId: "call_0", content: secret },
    ],
    metadata: { secret },
  },
  "turn.annotated": { turn: 1, name: "score", value: secret, metadata: { secret } },
  "answer.truncated": { turn: 1, characters: 3 },
  "head.moved": { to: 1 },
  "checkpoint.named": { name: "here" },
  "message.pinned": { message: "1.0", pinned: true },
  "metadata.changed": { metadata: { secret } },
  "thread.forked": { from: { threadId: "other", turn: 1 } },
  "thread.redacted": { seqs: [1], reason: secret },
  "thread.configured": { configuration: { fingerprint: "f" } },
};

describe("an entry without its words", () => {
  test.each(Object.entries(samples))("of %s has none, is of the same type and can be read", (type, event) => {
    const results = [{ position: 0, outcome: "refused", content: [{ type: "text", text: secret }] }] as const;
    const decided = { results, summaryFailed: secret, policyFailed: secret, kept: 3 };
    // The sample has this type.
    const entry = { seq: 7, event: { type, at: 5, ...event }, decided, recovered: true } as Entry;
    expect(right(decodeEntry(entry, 7))).toEqual(entry);
    const without = redactEntry(entry);
    expect(JSON.stringify(without)).not.toContain(secret);
    expect(right(decodeEntry(without, 7))).toEqual(without);
    expect(without).toMatchObject({ seq: 7, event: { type, at: 5 }, recovered: true, redacted: true });
    expect(without).toMatchObject({ decided: { kept: 3 } });
    expect(redactEntry(without)).toEqual(without);
  });

  test("of the first one keeps the thread's configuration", () => {
    const model = { model: "large" };
    const configuration = { fingerprint: "f", model };
    const entry: Entry = {
      seq: 0,
      format: 2,
      event: {
        type: "thread.started",
        at: 0,
        threadId: "t",
        system: secret,
        seed: [{ role: "user", ...said }],
        metadata: { secret },
        model,
        configuration,
      },
    };
    expect(redactEntry(entry)).toEqual({
      seq: 0,
      format: 2,
      event: {
        type: "thread.started",
        at: 0,
        threadId: "t",
        system: "[redacted]",
        seed: [{ role: "user", content: "[redacted]" }],
        metadata: {},
        model,
        configuration,
      },
      redacted: true,
    });
  });
});

/** Returns a state without its words. */
const shapeOf = (state: State): unknown => {
  const { context } = state;
  const { conversation, open } = context;
  const shown = (message: ReturnType<typeof messagesOf>[number]): unknown => ({
    id: message.id,
    role: message.role,
    calls: message.parts.flatMap((part) => ("callId" in part ? [part.callId, part.name, part.providerCallId] : [])),
    // The spoken part of an answer is measured in characters.
    parts: message.truncated === undefined ? message.parts.length : null,
    marks: [message.incomplete, message.synthesised, message.truncated === undefined],
  });
  return {
    value: state.value,
    out: outstanding(state).map(({ id }) => id),
    head: conversation.head,
    checkpoints: conversation.checkpoints,
    pins: conversation.pins,
    systems: conversation.systems,
    turns: toArray(conversation.turns).map((turn) => ({
      number: turn.number,
      parent: turn.parent,
      asks: turn.asks,
      status: turn.outcome.status,
      messages: toArray(turn.messages).map(shown),
      usage: turn.usage,
      times: [turn.startedAt, turn.endedAt],
      place: [turn.place.turns, turn.place.messages, turn.place.straightFrom],
      summaries: turn.summaries?.map(({ number, from }) => [number, from]),
      failures: turn.summaryFailures,
      annotations: turn.annotations?.map(({ name, at }) => [name, at]),
    })),
    open: open === null ? null : [open.number, open.asks, open.step, open.made, open.toolCalls, open.stage.type],
    messages: messagesOf(state).map(shown),
    queue: context.queue.map(({ askId }) => askId),
    dropped: context.dropped,
    usage: context.usage,
    seq: context.seq,
  };
};

describe("the journal without the words of something", () => {
  test("folds to the same shape, with digests of the rest, at every prefix and for any entries", () => {
    fc.assert(
      fc.property(
        journalArbitrary(),
        fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
        fc.nat(),
        (entries, picks, end) => {
          const seqs = [...new Set(picks.map((pick) => pick % entries.length))];
          const without = redacted(entries, { seqs });
          const upTo = 1 + (end % entries.length);
          const state = foldOf(without.slice(0, upTo));
          expect(shapeOf(state)).toEqual(shapeOf(foldOf(entries.slice(0, upTo))));
          for (const message of messagesOf(state)) expect(message.digest).toBe(digestOfMessage(message));
          // A copy may still have the words, so redacted entries are found again.
          expect(entriesToRedact(without, { seqs })).toEqual(entriesToRedact(entries, { seqs }));
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
