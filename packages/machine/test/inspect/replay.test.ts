import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { conversationMachine, type Entry, type MachineOptions, type ToolDeclaration } from "../../src/index.ts";
import { redactEntry } from "../../src/storage.ts";
import { describeDifference, type Difference, replay, type ReplayOptions } from "../../src/inspect.ts";
import { fold } from "../../src/journal.ts";
import { keepAll, lastTurns, type Policy } from "../../src/policies.ts";
import { runs } from "../runs.ts";
import { calling, Talk } from "../talk.ts";

const tools = [{ name: "search" }];

/** Records two turns, the second with a tool round. */
const recorded = (options: MachineOptions = { tools }): readonly Entry[] => {
  const talk = new Talk(conversationMachine(options), { system: "Be brief." });
  const entries: Entry[] = [talk.beginning];
  entries.push(talk.ask("One", "a").entry);
  entries.push(talk.reply("1", { promptDigest: talk.call().promptDigest }).entry);
  entries.push(talk.ask("Two", "b").entry);
  entries.push(
    talk.reply(calling("search"), { promptDigest: talk.call().promptDigest, usage: { totalTokens: 10 } }).entry,
  );
  entries.push(talk.result(0, "found").entry);
  entries.push(talk.reply("2").entry);
  return entries;
};

const differenceUnder = (options: MachineOptions, entries: readonly Entry[] = recorded()): Difference | null => {
  const replayed = replay(conversationMachine(options), entries);
  return Either.isLeft(replayed) ? replayed.left : null;
};

describe("replay", () => {
  test.each<readonly [string, MachineOptions, Partial<Difference>]>([
    ["another policy", { tools, policy: lastTurns(0) }, { seq: 3, turn: 2, step: 1, what: "the prompt" }],
    ["a limit", { tools, limits: { steps: 1 } }, { seq: 5, turn: 2 }],
    [
      "a tool that is not declared",
      {},
      { seq: 1, turn: 1, what: "the tools that are offered", expected: "search", got: "none" },
    ],
    [
      "a price",
      { tools, pricing: { name: "p", version: 1, options: {}, price: () => ({ nano: 1, currency: "USD" }) } },
      { seq: 4 },
    ],
    ["a deadline", { tools, limits: { deadlineMs: 1_000 } }, { seq: 1 }],
  ])("says at which entry %s would first have come to something else", (_, options, expected) => {
    expect(differenceUnder(options)).toMatchObject(expected);
  });

  test("finds none if a policy fails with other words, and one if it no longer fails", () => {
    const failing = (words: string): Policy => ({
      ...keepAll(),
      name: "failing",
      decide: () => {
        throw new Error(words);
      },
    });
    const entries = recorded({ tools, policy: failing("one reason") });
    expect(entries[1]).toMatchObject({ decided: { policyFailed: expect.stringContaining("one reason") } });
    expect(differenceUnder({ tools, policy: failing("another reason") }, entries)).toBeNull();
    expect(differenceUnder({ tools }, entries)).toMatchObject({ seq: 1 });
  });

  test("says that another prompt was really sent than the journal asks for", () => {
    const entries = recorded().map((entry): Entry =>
      entry.seq === 2 && entry.event.type === "llm.completed"
        ? { ...entry, event: { ...entry.event, promptDigest: "other" } }
        : entry,
    );
    const difference = differenceUnder({ tools }, entries);
    expect(difference).toMatchObject({ seq: 2, turn: 1, step: 1, what: "the prompt", changes: [] });
    expect(difference === null ? "" : describeDifference(difference)).toBe(
      "entry 2 (turn 1, step 1): the prompt: was digest other, that of what was sent: " +
        "its words are not in this journal; today 2 messages",
    );
  });

  const wordsUnder = (options: MachineOptions, entries = recorded(), other: ReplayOptions = {}): string => {
    const replayed = replay(conversationMachine(options), entries, other);
    return Either.isLeft(replayed) ? describeDifference(replayed.left) : "none";
  };

  test.each<readonly [MachineOptions, unknown]>([
    [
      {},
      'entry 4 (turn 2, step 1): call of "search": was run; today it is answered without running (There is no tool "search". The tools are: none.)',
    ],
    [
      { tools: [{ name: "search", approval: "always" }] },
      'entry 4 (turn 2, step 1): call of "search": was run; today it is held for an approval',
    ],
    [
      { tools, limits: { steps: 1 } },
      "entry 5 (turn 2, step 1): the turn: was continued; today it ends: the limit of steps, 1, is reached",
    ],
    [
      { tools, budget: { tokens: 10, reserve: 0 } },
      expect.stringMatching(
        /^entry 1 \(turn 1, step 1\): the turn: was continued; today it ends: its prompt does not fit: \d+ tokens of 10$/,
      ),
    ],
    [
      { tools, limits: { deadlineMs: 1_000 } },
      expect.stringMatching(
        /^entry 1 \(turn 1, step 1\): what "ask\.received" decided: was \{\}; today \{"deadlineAt":\d+\}$/,
      ),
    ],
  ])("names decisions that differ, and not their consequences: %j", (options, words) => {
    // A log of messages does not say which tools were offered.
    const [first, ...later] = recorded();
    if (first?.event.type !== "thread.started" || first.event.configuration === undefined)
      throw new Error("it has no configuration");
    const { tools: _, ...configuration } = first.event.configuration;
    const entries: readonly Entry[] = [
      { ...first, seq: 0, format: 2, event: { ...first.event, configuration } },
      ...later,
    ];
    expect(wordsUnder(options, entries)).toEqual(words);
  });

  test("names the words of another system prompt", () => {
    expect(wordsUnder({ tools }, recorded(), { system: "Be careful." })).toBe(
      "entry 1 (turn 1, step 1): the prompt: was 2 messages; today 2 messages (system: −brief. +careful.)",
    );
    expect(wordsUnder({ tools }, recorded(), { system: null })).toBe(
      'entry 1 (turn 1, step 1): the prompt: was 2 messages; today 1 messages (system: −"Be brief.")',
    );
    expect(wordsUnder({ tools }, recorded(), { system: "Be brief." })).toBe("none");
  });

  test("names the messages that another policy leaves out, and the sent ones if the journal has them", () => {
    expect(wordsUnder({ tools, policy: lastTurns(0) })).toBe(
      "entry 3 (turn 2, step 1): the prompt: was 4 messages; today 2 messages " +
        '(user 1.0: −"One"; assistant 1.1: −"1")',
    );
  });

  test("names the tools that differ", () => {
    const under = (...declared: readonly ToolDeclaration[]): string =>
      wordsUnder({ tools: declared }, recorded({ tools: [{ name: "search" }, { name: "read" }] }));
    expect(under({ name: "search" }, { name: "read", recovery: "once" })).toBe("none");
    expect(under({ name: "search", description: "Searches." }, { name: "read" })).toMatch(
      /^entry 1 \(turn 1, step 1\): the tools that are offered: .* \(tool search: −description and parameters of digest \w+ \+those of \w+\)$/,
    );
    expect(under({ name: "search" }, { name: "write" })).toMatch(/\(tool read: −the tool; tool write: \+the tool\)$/);
    expect(under({ name: "search" })).toMatch(/\(tool read: −the tool\)$/);
    expect(under({ name: "read" }, { name: "search" })).toMatch(
      /\(the order of the tools: −search, read \+read, search\)$/,
    );
  });

  test("says nothing of the tools of a journal of 0.1, which does not tell them", () => {
    const entries = recorded().map((entry): Entry => {
      if (entry.event.type !== "thread.started" || entry.event.configuration === undefined) return entry;
      const { tools: _, ...configuration } = entry.event.configuration;
      return { ...entry, seq: 0, format: 2, event: { ...entry.event, configuration } };
    });
    expect(wordsUnder({ tools: [{ name: "search", description: "Searches." }] }, entries)).toBe("none");
  });

  test("says which event is refused", () => {
    const again = recorded().map((entry): Entry =>
      entry.seq === 3 && entry.event.type === "ask.received"
        ? { ...entry, event: { ...entry.event, askId: "a", input: [] } }
        : entry,
    );
    expect(differenceUnder({ tools }, again)).toMatchObject({
      seq: 3,
      expected: expect.stringContaining("taken"),
      got: expect.stringContaining('ask "a" was made before'),
    });
  });

  const redactable: MachineOptions = {
    tools: [{ name: "lookup" }, { name: "pay", approval: "always" }],
    policy: lastTurns(2),
    overlap: { type: "steer", max: 3 },
    limits: { steps: 4 },
  };

  test("finds none in a matching journal after a redaction", () => {
    const machine = conversationMachine(redactable);
    const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(journalArbitrary(redactable), picks, (entries, picked) => {
        fc.pre(Either.isRight(replay(machine, entries)));
        const seqs = new Set(picked.map((pick) => pick % entries.length));
        const without = entries.map((entry) => (seqs.has(entry.seq) ? redactEntry(entry) : entry));
        expect(replay(machine, without)).toEqual(fold(without));
      }),
      { numRuns: runs(200) },
    );
  });

  test("takes an approval whose digest is of redacted arguments", () => {
    const options: MachineOptions = { tools: [{ name: "pay", approval: "always" }] };
    const talk = new Talk(conversationMachine(options));
    const entries: Entry[] = [talk.beginning, talk.ask("Pay.", "a").entry, talk.reply(calling("pay")).entry];
    const effectId = "t/1.1.0#1";
    entries.push(talk.tell({ type: "tool.withheld", effectId, because: "declared", arguments: { to: "Ada" } }).entry);
    const request = talk.out().find((effect) => effect.type === "requestApproval");
    if (request?.type !== "requestApproval") throw new Error("no approval is out");
    const { id, digest } = request;
    entries.push(talk.tell({ type: "approval.answered", effectId: id, approved: true, digest }).entry);
    const without = entries.map((entry) => (entry.seq === 3 ? redactEntry(entry) : entry));
    expect(JSON.stringify(without)).not.toContain("Ada");
    expect(differenceUnder(options, without)).toBeNull();
  });

  test("skips prompts after redacted words, and reports all it can about the rest", () => {
    const entries = recorded();
    const without = entries.map((entry) => (entry.seq === 3 ? redactEntry(entry) : entry));
    expect(differenceUnder({ tools }, without)).toBeNull();
    expect(differenceUnder({ tools, policy: lastTurns(0) }, without)).toBeNull();
    expect(differenceUnder({ tools, limits: { steps: 1 } }, without)).toMatchObject({ seq: 5, turn: 2 });
    const promptOf = (seq: number): readonly Entry[] =>
      without.map((entry): Entry =>
        entry.seq === seq && entry.event.type === "llm.completed"
          ? { ...entry, event: { ...entry.event, promptDigest: "other" } }
          : entry,
      );
    expect(differenceUnder({ tools }, promptOf(2))).toMatchObject({ seq: 2, what: "the prompt" });
    expect(differenceUnder({ tools }, promptOf(4))).toBeNull();
  });

  test.each<readonly [string, readonly Entry[], number]>([
    ["an empty journal", [], 0],
    ["a journal with a gap", recorded().filter(({ seq }) => seq !== 2), 2],
  ])("says that %s can't be folded", (_, entries, seq) => {
    expect(differenceUnder({ tools }, entries)).toMatchObject({ seq, what: "the journal" });
  });
});
