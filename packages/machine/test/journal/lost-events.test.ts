import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import * as Either from "fp-ts/lib/Either.js";
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type Entry, type Event } from "../../src/index.ts";
import { lostEventIn } from "../../src/hosting.ts";
import { redactEntry } from "../../src/storage.ts";
import { decodeJournal, fold, forkOf } from "../../src/journal.ts";
import { type Cut } from "../../src/policies.ts";
import { isLater, type LaterEntry } from "../../src/conversation/protocol/entry.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { runs } from "../runs.ts";
import { calling } from "../talk.ts";
import { foldOf, right } from "../reading.ts";

const folder = path.join(import.meta.dirname, "../journals");
const journals = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".jsonl"));

describe("a journal that a machine wrote loses nothing", () => {
  test.each(journals)("%s", (file) => {
    const lines = readFileSync(path.join(folder, file), "utf8").trimEnd().split("\n");
    expect(lostEventIn(right(decodeJournal(lines.map((line): unknown => JSON.parse(line)))))).toBeNull();
  });

  test("under any configuration, nor do its forks at any turn, nor its redacted form", () => {
    fc.assert(
      fc.property(journalArbitrary(), fc.nat(), (entries, pick) => {
        expect(lostEventIn(entries)).toBeNull();
        const { length } = right(fold(entries)).context.conversation.turns;
        const fork = forkOf(entries, { threadId: "copy", at: 0, turn: pick % (length + 1) });
        expect(lostEventIn(right(fork).entries)).toBeNull();
        expect(
          lostEventIn(entries.map((entry) => (entry.seq % 2 === pick % 2 ? redactEntry(entry) : entry))),
        ).toBeNull();
      }),
      { numRuns: runs(300) },
    );
  });
});

test("an ask that is repeated long after is refused in a foreign journal, too", () => {
  const talk = new CheckedTalk();
  for (let turn = 1; turn <= 40; turn++) talk.say(`Question ${turn}`, "Answer");
  const { entries } = talk;
  const [, asked] = entries;
  if (asked === undefined || !isLater(asked)) throw new Error("nothing was asked");
  const repeated: LaterEntry = { ...asked, seq: entries.length };
  expect(lostEventIn([...entries, repeated])).toMatchObject({ seq: entries.length });
});

describe("an event that the machine refuses is refused in a foreign journal, with its seq and the reason:", () => {
  const talked = (): CheckedTalk => {
    const talk = new CheckedTalk({ tools: [{ name: "search" }] });
    talk.ask("Go.", "a");
    talk.reply("gone");
    return talk;
  };
  const at = 9;
  const cut: Cut = { policy: "made-up@1", from: null, interrupted: "keep" };
  const ask: Event = { type: "ask.received", at, askId: "b", input: "And then?" };
  const forged: readonly (readonly [string, Omit<LaterEntry, "seq">, RegExp])[] = [
    [
      "a move to a turn that is not there",
      { event: { type: "head.moved", at, to: 9 } },
      /no closed turn 9; there are 1 to 1/,
    ],
    ["to a checkpoint", { event: { type: "head.moved", at, to: { checkpoint: "x" } } }, /no checkpoint "x"/],
    ["a checkpoint without a name", { event: { type: "checkpoint.named", at, name: "" } }, /needs a name/],
    ["a score of no turn", { event: { type: "turn.annotated", at, turn: 9, name: "n", value: 1 } }, /no closed turn 9/],
    [
      "a truncation of no turn",
      { event: { type: "answer.truncated", at, turn: 9, characters: 1 } },
      /no closed turn 9/,
    ],
    [
      "a pin of no message",
      { event: { type: "message.pinned", at, message: "9.9", pinned: true } },
      /no message "9\.9"/,
    ],
    [
      "the end of a missing pin",
      { event: { type: "message.pinned", at, message: "1.0", pinned: false } },
      /not pinned/,
    ],
    [
      "a redaction of a missing entry",
      { event: { type: "thread.redacted", at, seqs: [0, 99] } },
      /entry 99 can't be redacted/,
    ],
    ["of nothing", { event: { type: "thread.redacted", at, seqs: [] } }, /no entry to redact/],
    [
      "a second ask of one id",
      { event: { ...ask, askId: "a", input: "Go." } },
      /ask "a" was made before; turn 1 answers it/,
    ],
    ["a second ask that says something else", { event: { ...ask, askId: "a" } }, /its input differs/],
    ["the end of no turn", { event: { type: "cancel.requested", at } }, /no turn is open/],
    ["a turn of nothing", { event: { type: "turn.added", at, messages: [] } }, /needs messages/],
    [
      "calls that vanish",
      {
        event: { type: "message.appended", at, message: { role: "assistant", content: "", toolCalls: [{}] } as never },
      },
      /the message has toolCalls, which would be lost/,
    ],
    [
      "a cut at a turn that is not there",
      { event: ask, decided: { cut: { ...cut, from: { turn: 7, unit: 0 } } } },
      /from is .*the thread has 1 turns/,
    ],
    [
      "a summary in a prompt of turns that are not there",
      { event: ask, decided: { cut: { ...cut, summarised: { from: 1, to: 7, upTo: 1 } } } },
      /turn 7 is not on the path/,
    ],
    [
      "a request for one",
      {
        event: { type: "metadata.changed", at, metadata: {} },
        decided: { summary: { covers: { from: 4, to: 7 }, earlier: null } },
      },
      /turn 4 is not on the path/,
    ],
  ];

  test.each(forged)("%s", (_, entry, reason) => {
    const { entries } = talked();
    const told: readonly Entry[] = [...entries, { seq: entries.length, ...entry }];
    const lost = lostEventIn(told);
    expect(lost?.seq).toBe(entries.length);
    expect(lost?.reason).toMatch(reason);
    expect(lost?.reason).toMatch(
      /^".*" is refused here: .* The machine takes no such entry: export the journal again, or import the entries before this one$/,
    );
    // A store still opens it, since its entries were once accepted.
    expect(Either.isRight(fold(told))).toBe(true);
  });

  test("a seed whose calls would be lost", () => {
    const [first, ...rest] = talked().entries;
    // A caller without types may write this.
    const seed = [{ role: "user", content: "Hi", toolCalls: [{}] }] as never;
    const told = [{ ...first, event: { ...first?.event, seed } } as Entry, ...rest];
    expect(lostEventIn(told)).toEqual({ seq: 0, reason: expect.stringMatching(/^the seed .*toolCalls/) });
  });
});

describe("an entry that fold would pass over is found, with its seq, type and id:", () => {
  const journal = (): readonly Entry[] => {
    const talk = new CheckedTalk({
      tools: [{ name: "search", approval: "always" }],
      overlap: { type: "queue", max: 2 },
    });
    talk.ask("Go.", "a");
    talk.ask("And then?", "b");
    talk.reply(calling("search"));
    talk.tell({ type: "tool.withheld", effectId: "t/1.1.0#1", because: "declared", arguments: {} });
    talk.tell({ type: "approval.answered", effectId: "t/1.1.0!approval-1", approved: true });
    talk.tell({ type: "tool.started", effectId: "t/1.1.0#2" });
    talk.tell({ type: "tool.completed", effectId: "t/1.1.0#2", content: "found" });
    talk.reply("done");
    talk.fire("queue");
    return talk.entries;
  };

  const answers = journal().flatMap(({ seq, event }) => ("effectId" in event ? [[event.type, seq] as const] : []));

  test.each(answers)("%s (entry %i) with another effect", (type, seq) => {
    const changed = journal().map((entry) =>
      entry.seq === seq && isLater(entry) && "effectId" in entry.event
        ? { ...entry, event: { ...entry.event, effectId: "t/7.7#7" } as Event }
        : entry,
    );
    // The journal still folds.
    expect(Either.isRight(fold(changed))).toBe(true);
    const lost = lostEventIn(changed);
    expect(lost?.seq).toBe(seq);
    expect(lost?.reason).toMatch(
      new RegExp(`^"${type}" answers "t/7\\.7#7", which was not awaited; outstanding was "t/`),
    );
  });

  test.each(answers)(
    "%s (entry %i) of another attempt, which leaves the turn as it was when it is folded",
    (type, seq) => {
      const changed = journal()
        .slice(0, seq + 1)
        .map((entry) =>
          entry.seq === seq && isLater(entry) && "effectId" in entry.event
            ? {
                ...entry,
                event: { ...entry.event, effectId: entry.event.effectId.replace(/\d+(?=\D*$)/u, "9") } as Event,
              }
            : entry,
        );
      expect(lostEventIn(changed)).toMatchObject({ seq, reason: expect.stringContaining(type) });
      const [before, after] = [foldOf(changed.slice(0, -1)), foldOf(changed)];
      expect(after.context.open).toEqual(before.context.open);
      expect(after.context.queue).toEqual(before.context.queue);
    },
  );

  test("an answer that comes twice", () => {
    const [first, ...rest] = journal();
    const twice = [...rest.slice(0, 6), ...rest.slice(5)].map((entry, index) => ({ ...entry, seq: index + 1 }));
    expect(lostEventIn([...(first === undefined ? [] : [first]), ...twice] as readonly Entry[])).toMatchObject({
      seq: 7,
      reason: expect.stringMatching(/^"tool\.started" answers "t\/1\.1\.0#2"/),
    });
  });

  test("of an invalid journal, the entry at which it becomes invalid", () => {
    expect(lostEventIn([])).toMatchObject({ seq: 0, reason: expect.stringContaining("empty") });
  });
});
