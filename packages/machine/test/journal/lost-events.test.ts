import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import * as Either from "fp-ts/lib/Either.js";
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { decodeJournal, type Entry, type Event, fold, forkOf, lostEventIn, redactEntry } from "../../src/index.ts";
import { isLater } from "../../src/conversation/entry.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { runs } from "../runs.ts";
import { calling } from "../talk.ts";

const folder = path.join(import.meta.dirname, "../journals");
const journals = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".jsonl"));

const right = <Value>(read: Either.Either<unknown, Value>): Value => {
  if (Either.isLeft(read)) throw new Error(JSON.stringify(read.left));
  return read.right;
};

describe("a journal that a machine wrote loses nothing", () => {
  test.each(journals)("%s", (file) => {
    const lines = readFileSync(path.join(folder, file), "utf8").trimEnd().split("\n");
    expect(lostEventIn(right(decodeJournal(lines.map((line): unknown => JSON.parse(line)))))).toBeNull();
  });

  test("under any configuration, nor do its forks at any turn, nor what is left of it redacted", () => {
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

describe("what a journal tells and fold would pass over is found, with its seq, type and id:", () => {
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
    // It is a journal all the same.
    expect(Either.isRight(fold(changed))).toBe(true);
    const lost = lostEventIn(changed);
    expect(lost?.seq).toBe(seq);
    expect(lost?.reason).toMatch(new RegExp(`^"${type}" answers "t/7\\.7#7", and nobody waited for that; out was "t/`));
  });

  test("an answer that is told twice", () => {
    const [first, ...rest] = journal();
    const twice = [...rest.slice(0, 6), ...rest.slice(5)].map((entry, index) => ({ ...entry, seq: index + 1 }));
    expect(lostEventIn([...(first === undefined ? [] : [first]), ...twice] as readonly Entry[])).toMatchObject({
      seq: 7,
      reason: expect.stringMatching(/^"tool\.started" answers "t\/1\.1\.0#2"/),
    });
  });

  test("an ask of which nobody decided what becomes of it, and a round before the format", () => {
    const undecided = journal().map((entry) => {
      if (entry.seq !== 2 || !isLater(entry)) return entry;
      const { decided: _, ...bare } = entry;
      return bare;
    });
    expect(lostEventIn(undecided)).toMatchObject({ seq: 2, reason: expect.stringContaining('ask "b"') });
    const [first] = journal();
    const round: Event = { type: "round.appended", at: 1, reply: calling("search"), results: [] };
    expect(lostEventIn(first === undefined ? [] : [first, { seq: 1, event: round }])).toEqual({
      seq: 1,
      reason: '"round.appended" needs format 2, and the journal has format 1 here',
    });
  });

  test("of what is no journal the place where it ends to be one", () => {
    expect(lostEventIn([])).toMatchObject({ seq: 0, reason: expect.stringContaining("empty") });
  });
});
