import { conversationMachine, type Entry, phaseOf } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { journalLines, recordingMachine, replayCase, replayJournal } from "@colloquy/runtime-test/recordings";
import { describe, expect, it } from "vitest";
import "@colloquy/runtime-test/vitest";
import { handmade, handmadeCase } from "./cases.ts";

const journalOf = (name: string): readonly Entry[] => replayCase(handmadeCase(name), handmade).entries;

describe("a journal", () => {
  it("replays under the machine that wrote it, also from its lines", () => {
    const journal = journalOf("ferries");
    const lines = journal.map((entry) => `${JSON.stringify(entry)}\n\n`).join("");
    expect(journal).toReplay(recordingMachine());
    expect(journalLines(lines)).toReplay(recordingMachine());
  });

  it("gives the state at its end", () => {
    const replayed = replayJournal(recordingMachine(), journalOf("booking-pending"));
    expect(replayed.outcome === "passed" && phaseOf(replayed.state)).toBe("awaiting_tool");
  });

  it("says at which step another policy would have sent something else", () => {
    const machine = conversationMachine({ unknownTool: "ask", retry: { attempts: 1 }, policy: lastTurns(0) });
    const journal = journalOf("ferries");
    expect(() => expect(journal).toReplay(machine)).toThrow(
      /turn 2, step 1\): the prompt: was .* today 2 messages \(user 1\.0/,
    );
    const replayed = replayJournal(machine, journal);
    expect(replayed.outcome === "failed" && replayed.difference).toMatchObject({
      turn: 2,
      step: 1,
      what: "the prompt",
    });
  });

  it("names what it takes if it gets an Either, a text, or the options of a machine", () => {
    const journal = journalOf("ferries");
    const machine = recordingMachine();
    const given = (value: unknown): unknown[] => value as unknown[]; // JavaScript may pass anything
    const right = given({ _tag: "Right", right: journal });
    expect(() => expect(right).toReplay(machine)).toThrow(
      "toReplay takes the entries of a journal; this is an Either: give its .right",
    );
    expect(() => replayJournal(machine, right)).toThrow(
      "replayJournal takes the entries of a journal; this is an Either: give its .right",
    );
    expect(() => replayJournal(machine, given("{}"))).toThrow("this is a text: give journalLines(text)");
    const options = { tools: [] } as unknown as typeof machine;
    expect(() => expect(journal).toReplay(options)).toThrow(
      "toReplay takes what conversationMachine({ … }) made; this is an object",
    );
    expect(() => replayCase(handmadeCase("ferries"), { machine: options })).toThrow(
      "replayCase: machine takes what conversationMachine({ … }) made; this is an object",
    );
    const recorded = given(journal) as unknown as ReturnType<typeof handmadeCase>;
    expect(() => expect(recorded).toReplayCase()).toThrow(
      "replayCase takes a recorded case, as readRecordings gives it",
    );
  });

  it("says that another prompt was sent than this one", () => {
    const journal = journalOf("seeded").map((entry) =>
      entry.event.type === "llm.completed" ? { ...entry, event: { ...entry.event, promptDigest: "another" } } : entry,
    );
    expect(() => expect(journal).toReplay(recordingMachine())).toThrow(
      /the prompt: was digest another, that of what was sent/,
    );
  });

  it.each<{ what: string; change: (journal: readonly Entry[]) => readonly unknown[]; words: RegExp }>([
    { what: "an entry is missing", change: (journal) => journal.toSpliced(2, 1), words: /gap or a repetition/ },
    { what: "the first entry is missing", change: (journal) => journal.slice(1), words: /entry 0/ },
    {
      what: "an event is of no known type",
      change: (journal) => journal.with(1, { ...journal[1], event: { type: "llm.dreamt" } } as unknown as Entry),
      words: /unknown event type "llm\.dreamt"/,
    },
    {
      what: "an answer is told twice",
      change: (journal) => [...journal.slice(0, 3), { ...journal[2], seq: 3 }],
      words: /"llm\.completed": was taken; today it is refused/,
    },
  ])("fails when $what", ({ change, words }) => {
    const journal = change(journalOf("ends-on-user"));
    expect(journal).not.toReplay(recordingMachine());
    expect(() => expect(journal).toReplay(recordingMachine())).toThrow(words);
  });
});
