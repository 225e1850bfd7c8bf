import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { type Entry, type MachineOptions, type State } from "../../src/index.ts";
import { entriesToRedact, redactEntry, type RedactionTarget } from "../../src/storage.ts";
import { fold } from "../../src/journal.ts";
import { CheckedTalk } from "../checked-talk.ts";

const right = <Value>(either: Either.Either<unknown, Value>): Value => {
  if (Either.isLeft(either)) throw new Error(JSON.stringify(either.left));
  return either.right;
};
const foldOf = (entries: readonly Entry[]): State => right(fold(entries));

/** The seqs of what goes with a target; the words of it and no others must be gone from journal and state. */
const gone = (talk: CheckedTalk, target: RedactionTarget, words: string, kept: string): readonly number[] => {
  const seqs = right(entriesToRedact(talk.entries, target));
  const without = talk.entries.map((entry) => (seqs.includes(entry.seq) ? redactEntry(entry) : entry));
  for (const text of [JSON.stringify(without), JSON.stringify(foldOf(without))]) {
    for (const word of words.split(" ")) expect(text).not.toContain(word);
    for (const word of kept.split(" ")) expect(text).toContain(word);
  }
  return seqs;
};

const tools: MachineOptions = {
  tools: [
    { name: "lookup", recovery: "once" },
    { name: "pay", approval: "always" },
  ],
  overlap: { type: "queue", max: 5 },
  limits: { deadlineMs: 100_000 },
};

describe("the entries of a turn, where several asks come in at once,", () => {
  test("are that of a cancel that took one ask out of it, with what had been shown of the reply that went on", () => {
    const talk = new CheckedTalk({ ...tools, overlap: { type: "merge", max: 5 } });
    talk.say("one-ask", "one-answer");
    talk.ask("two-ask", "b");
    talk.ask("three-ask", "c");
    talk.ask("four-ask", "d");
    talk.reply("two-answer");
    talk.fire("queue");
    const partial = { content: "shown-three" };
    talk.tell({ type: "cancel.requested", askId: "d", partial, reason: "because-four" });
    talk.reply("shown-three and more-three");
    gone(talk, { turn: 3 }, "three-ask four-ask shown-three because-four more-three", "two-ask two-answer");
    gone(talk, { message: "3.2" }, "shown-three more-three", "three-ask four-ask");
  });

  test("are that of an ask that waits, and brought along what had been shown", () => {
    const talk = new CheckedTalk(tools);
    talk.ask("one-ask", "a");
    talk.tell({ type: "ask.received", askId: "b", input: "two-ask", partial: { content: "shown-one" } });
    talk.reply("shown-one and more-one");
    talk.fire("queue");
    talk.reply("two-answer");
    gone(talk, { turn: 1 }, "one-ask shown-one more-one", "two-answer");
    gone(talk, { message: "1.1" }, "shown-one more-one", "one-ask two-answer");
  });

  test("are those of asks that came while it was open and that no turn answered, and why they were withdrawn", () => {
    const talk = new CheckedTalk({ ...tools, overlap: { type: "latest" } });
    talk.say("one-ask", "one-answer");
    talk.ask("two-ask", "b");
    talk.ask("superseded-ask", "c");
    talk.ask("withdrawn-ask", "d");
    talk.tell({ type: "cancel.requested", askId: "d", reason: "because-d" });
    talk.ask("answered-ask", "e");
    talk.reply("two-answer");
    talk.tell({ type: "ask.received", askId: "f", input: "late-ask" });
    talk.fire("queue");
    talk.reply("three-answer");
    const words = "two-ask superseded-ask withdrawn-ask because-d two-answer";
    gone(talk, { turn: 2 }, words, "one-ask one-answer three-answer late-ask");
    expect(right(entriesToRedact(talk.entries, { turn: 1 }))).toHaveLength(2);
  });
});
