import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { forgedJournals } from "./forged-journals.ts";
import { toldJournals } from "./journal-stories.ts";
import type { JournalScript } from "./journal-vector.ts";

const folder = join(import.meta.dirname, "../../packages/machine/test/journals");

/** The journals that the machine's own tests keep, copies and redactions of some of them, and journals that are none. */
export const journalScripts = (): readonly JournalScript[] => [
  ...kept().map(({ file, entries }) => ({
    name: `kept-${basename(file, ".jsonl")}`,
    says: "A journal that an earlier build wrote.",
    entries,
  })),
  ...changed.map(({ of, ...script }) => ({
    ...script,
    entries: kept().find(({ file }) => file === of)?.entries ?? [],
  })),
  ...toldJournals(),
  ...forgedJournals(),
  ...broken.map(([name, says, entries]) => ({ name: `refused-${name}`, says, entries })),
];

const kept = (): readonly { readonly file: string; readonly entries: readonly unknown[] }[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl"))
    .toSorted()
    .map((file) => ({ file, entries: entriesIn(file) }));

const entriesIn = (file: string): readonly unknown[] =>
  readFileSync(join(folder, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

const changed: readonly (Omit<JournalScript, "entries"> & { readonly of: string })[] = [
  {
    of: "branches.jsonl",
    name: "fork-of-a-turn",
    says: "A copy up to a turn that is off the path.",
    fork: { threadId: "copy", turn: 2, at: 100 },
  },
  {
    of: "queue.jsonl",
    name: "fork-while-asks-wait",
    says: "A copy up to a turn behind which asks waited: they are left.",
    fork: { threadId: "copy", turn: 1, at: 100 },
  },
  {
    of: "pins.jsonl",
    name: "fork-of-the-head",
    says: "A copy of the thread as it is, without the turn that is open.",
    fork: { threadId: "copy", at: 100 },
  },
  {
    of: "caller-tools.jsonl",
    name: "fork-of-the-beginning",
    says: "A copy of what was there before the first turn.",
    fork: { threadId: "copy", turn: 0, at: 100 },
  },
  {
    of: "compaction.jsonl",
    name: "redaction-of-a-turn",
    says: "The words of a turn are taken out, and those of the summaries of it.",
    redact: { turn: 1 },
  },
  {
    of: "pins.jsonl",
    name: "redaction-of-a-message",
    says: "The words of one message are taken out.",
    redact: { message: "1.0" },
  },
  {
    of: "caller-tools.jsonl",
    name: "redaction-of-entries",
    says: "The words of entries are taken out, calls and results among them.",
    redact: { seqs: [0, 2, 3, 4, 5] },
  },
  {
    of: "approvals.jsonl",
    name: "redaction-of-approvals",
    says: "Arguments, reasons and names of people are taken out; what folding needs stays.",
    redact: { turn: 1 },
  },
  {
    of: "round-appended.jsonl",
    name: "redaction-of-rounds",
    says: "The words of rounds that were appended are taken out.",
    redact: { turn: 1 },
  },
];

const first = { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "t" } };
const later = (event: object, more: object = {}): Entry => ({
  seq: 1,
  event: { at: 1, ...event },
  ...more,
});
interface Entry {
  readonly seq?: number;
  readonly event: object;
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
const named = { type: "checkpoint.named", name: "a" };

const broken: readonly (readonly [name: string, says: string, entries: readonly unknown[]])[] = [
  ["empty", "A journal without entries.", []],
  ["no-entry", "What is no entry.", [null]],
  ["newer-format", "A journal that a later version wrote.", [{ ...first, format: 3 }]],
  ["older-format", "A journal that an earlier version wrote.", [{ ...first, format: 1 }]],
  [
    "other-beginning",
    "It begins with another event.",
    [{ ...first, event: { type: "ask.received", at: 0, askId: "a", input: "" } }],
  ],
  ["second-beginning", "It begins twice.", [first, later(first.event)]],
  ["unknown-event", "An event that is not known.", [first, later({ type: "llm.exploded" })]],
  ["no-event", "An entry without an event.", [first, { seq: 1 }]],
  ["type-no-text", "An event whose type is no text.", [first, later({ type: 7 })]],
  ["no-first-event", "A first entry without an event.", [{ seq: 0, format: 2 }]],
  ["first-without-format", "A first entry without a format.", [{ seq: 0, event: first.event }]],
  ...Object.entries({ at: "0", seed: {}, system: 1, metadata: [], model: null, configuration: {} }).map(
    ([member, value]) =>
      [
        `begins-with-no-${member}`,
        `Its ${member} is none.`,
        [{ ...first, event: { ...first.event, [member]: value } }],
      ] as const,
  ),
  ["first-at-1", "A first entry at the place of the second.", [{ ...first, seq: 1 }]],
  ["first-of-format-0", "A journal that begins with a format that there never was.", [{ ...first, format: 0 }]],
  [
    "first-nested-too-deep",
    "A first entry with more levels than can be read again.",
    [{ ...first, more: nested(256) }],
  ],
  [
    "nested-too-deep",
    "An entry with more levels than can be read again.",
    [first, later(named, { more: nested(256) })],
  ],
  ["format-no-number", "A format that is no number.", [{ ...first, format: "2" }]],
  ["format-no-whole-number", "A part of a format.", [{ ...first, format: 1.5 }]],
  ["no-place", "An entry without a place.", [first, { event: later(named).event }]],
  ["place-no-whole-number", "An entry between two places.", [first, { ...later(named), seq: 0.5 }]],
  ["second-at-0", "Another entry at the place of the first.", [first, { ...later(named), seq: 0 }]],
  ["redacted-otherwise", "A mark that is another than there is.", [first, later(named, { redacted: 1 })]],
  ["recovered-otherwise", "A mark that says no.", [first, later(named, { recovered: false })]],
  ["gap", "An entry is missing.", [first, { ...later(named), seq: 2 }]],
  ["repetition", "An entry stands twice.", [first, later(named), later(named)]],
  ["begins-late", "Its first entry is missing.", [later(named)]],
  ["empty-thread-id", "A thread without an id.", [{ ...first, event: { ...first.event, threadId: "" } }]],
  ["empty-ask-id", "An ask without an id.", [first, later({ type: "ask.received", askId: "", input: "x" })]],
  [
    "negative-limit",
    "A limit below zero.",
    [first, later({ type: "ask.received", askId: "a", input: "x", limits: { steps: -1 } })],
  ],
  ["no-time", "A time that is none.", [first, later({ ...named, at: null })]],
  [
    "unknown-failure",
    "A failure of a kind that there is not.",
    [first, later({ type: "llm.failed", effectId: "e", failure: { kind: "bad luck", message: "", retryable: true } })],
  ],
  ["wrong-decision", "A decision that can't be.", [first, later(named, { decided: { queued: -1 } })]],
  [
    "round-without-calls",
    "A round that calls nothing.",
    [first, later({ type: "round.appended", reply: { toolCalls: [] }, results: [] })],
  ],
  [
    "arguments-no-text",
    "Arguments that are no text.",
    [
      first,
      later({
        type: "llm.completed",
        effectId: "e",
        finishReason: null,
        reply: { toolCalls: [{ id: null, name: "x", arguments: {} }] },
      }),
    ],
  ],
];
