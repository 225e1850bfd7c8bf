import { describe, expect, test } from "vitest";
import { conversationMachine, type Entry, type MachineOptions, textOf } from "../../src/index.ts";
import { keepAll, lastTurns, type Policy, type SummaryWanted, tokenWindow } from "../../src/policies.ts";
import { asking, characterCounter } from "../hand-made.ts";
import { Talk } from "../talk.ts";
import { rehearsed, stepsRehearsed } from "./rehearsed.ts";

describe("the room of the prompts of a rehearsal", () => {
  const room: MachineOptions = { budget: { tokens: 60, reserve: 0 } };
  const long = "Why? ".repeat(100);

  /** Records a reported call, which leaves less room, and then turns with these questions. */
  const recorded = (options: MachineOptions, questions: readonly string[]): readonly Entry[] => {
    const talk = new Talk(conversationMachine(options));
    const entries: Entry[] = [talk.beginning, talk.ask("A question of some length, about this and that").entry];
    entries.push(talk.reply("So. ".repeat(40), { usage: { inputTokens: 32 } }).entry);
    for (const question of questions) {
      entries.push(talk.ask(question).entry);
      if (talk.out().length > 0) entries.push(talk.reply("So.").entry);
    }
    return entries;
  };

  const rooms = (options: MachineOptions, entries: readonly Entry[]) =>
    rehearsed(conversationMachine(options), entries).map(({ fits, available }) => [fits, available]);

  test("is what a report leaves, as long as all prompts fit", () => {
    const own = { ...room, policy: lastTurns(0) };
    expect(rooms(own, recorded(own, ["Two", "Three"]))).toEqual([
      [true, 60],
      [true, 35],
      [true, 35],
    ]);
  });

  test("is whole again after a prompt that does not fit, although the recorded one did", () => {
    expect(rooms({ ...room, policy: lastTurns(0) }, recorded({}, [long, "Three"]))).toEqual([
      [true, 60],
      [false, 35],
      [true, 60],
    ]);
  });

  test("is whole again after a prompt that fits, if the recorded one did not", () => {
    const entries = recorded({ ...room, policy: keepAll() }, ["Two", "Three"]);
    expect(rooms({ ...room, policy: lastTurns(0) }, entries)).toEqual([
      [true, 60],
      [true, 35],
      [true, 60],
    ]);
  });
});

test("a rehearsal keeps the room of a turn whose call failed and was made again", () => {
  const talk = new Talk(conversationMachine({ retry: { attempts: 2 } }));
  const entries: Entry[] = [talk.beginning];
  for (const text of ["One", "Two"]) entries.push(talk.ask(`${text}?`).entry, talk.reply(`${text}.`).entry);
  entries.push(talk.ask("Three?").entry, talk.fail({ retryable: true }).entry, talk.fire("retry").entry);
  const calls = rehearsed(conversationMachine({ policy: tokenWindow() }), entries);
  expect(calls.map(({ attempt, available, messages }) => [attempt, available, messages.length])).toEqual([
    [1, null, 1],
    [1, null, 3],
    [1, null, 5],
    [2, null, 5],
  ]);
});

type Wishes = { readonly [newest: number]: SummaryWanted };

/** Wants a summary when a turn is the newest closed one, and shows the newest summary instead of the turns before. */
const wanting = (wishes: Wishes): Policy => ({
  ...asking(({ history }) => {
    const turns = [...history.newestFirst()];
    const wanted = wishes[turns[0]?.number ?? 0];
    const last = turns.find(({ number }) => number === wanted?.covers.to);
    return wanted === undefined || (last?.summaries.length ?? 1) > 0 || last?.summaryFailures === 2 ? null : wanted;
  }),
  decide: ({ history }) => {
    const turn = [...history.newestFirst()].find(({ summaries }) => summaries.length > 0)?.number;
    return turn === undefined
      ? { from: null, reason: "nothing is summed up" }
      : { from: { turn: turn + 1, unit: 0 }, summarised: { from: 1, to: turn }, reason: "summed up" };
  },
});

const covering = (from: number, to: number, earlier: SummaryWanted["earlier"] = null): SummaryWanted => ({
  covers: { from, to },
  earlier,
});

describe("a summary that a rehearsal wants", () => {
  /** Records three turns, with a summary after each, whose text is one of these; without a text it fails. */
  const recorded = (wishes: Wishes, texts: readonly (string | null)[]): readonly Entry[] => {
    const talk = new Talk(conversationMachine({ policy: wanting(wishes) }));
    const entries: Entry[] = [talk.beginning];
    const left = [...texts];
    for (let turn = 1; turn <= 4; turn++) {
      entries.push(talk.ask(`Question ${turn}`).entry, talk.reply(`Answer ${turn}`).entry);
      while (talk.out().length > 0) {
        const text = left.shift() ?? null;
        entries.push(text === null ? talk.fail().entry : talk.reply(text).entry);
      }
    }
    expect(left).toEqual([]);
    return entries;
  };

  const answers = (wishes: Wishes, entries: readonly Entry[]) =>
    stepsRehearsed(conversationMachine({ policy: wanting(wishes) }), entries).flatMap(({ summaries }) =>
      summaries.map(({ covers, answered }) => [covers.from, covers.to, answered]),
    );

  const lastPrompt = (wishes: Wishes, entries: readonly Entry[]) =>
    rehearsed(conversationMachine({ policy: wanting(wishes) }), entries)
      .at(-1)
      ?.messages.map(textOf)
      .join("\n");

  const wishes: Wishes = { 1: covering(1, 1), 2: covering(1, 2), 3: covering(1, 3) };
  const entries = recorded(wishes, ["About one.", "About two.", "About three."]);

  test("has the recorded text of the same turns, though the recording wanted it at another time", () => {
    const later: Wishes = { 3: covering(1, 2) };
    expect(answers(later, entries)).toEqual([[1, 2, true]]);
    expect(lastPrompt(later, entries)).toContain("[Turns 1 to 2] About two.\nQuestion 3");
  });

  test("is not the one of other turns that the recording wanted at the same time", () => {
    const other: Wishes = { 2: covering(2, 2) };
    expect(answers(other, entries)).toEqual([
      [2, 2, false],
      [2, 2, false],
    ]);
    expect(lastPrompt(other, entries)).not.toContain("About");
  });

  test("is not the one of the same turns that was written without the earlier summary", () => {
    const continued: Wishes = { 1: covering(1, 1), 2: covering(1, 2, { from: 1, to: 1 }) };
    expect(answers(continued, entries)).toEqual([
      [1, 1, true],
      [1, 2, false],
      [1, 2, false],
    ]);
    expect(lastPrompt(continued, entries)).toContain("[Turn 1] About one.\nQuestion 2");
  });

  test("has the text of a later attempt if the first one failed in the recording", () => {
    const again = recorded({ 2: covering(1, 2) }, [null, "About two."]);
    const later: Wishes = { 3: covering(1, 2) };
    expect(answers(later, again)).toEqual([[1, 2, true]]);
    expect(lastPrompt(later, again)).toContain("About two.");
  });
});

test("a rehearsal reports a policy that fails only once it has to do without the summary that it waited for", () => {
  const talk = new Talk(conversationMachine());
  const entries: Entry[] = [talk.beginning, talk.ask("Why?").entry, talk.reply("So. ".repeat(40)).entry];
  entries.push(talk.ask("And?").entry);
  const policy: Policy = {
    ...asking(({ history }) => ([...history.newestFirst()].length === 0 ? null : covering(1, 1))),
    decide: ({ withoutSummary }) => {
      if (withoutSummary) throw new Error("no decision without a summary");
      return { from: null, reason: "all of it" };
    },
  };
  const failures = (tokens: number) =>
    stepsRehearsed(conversationMachine({ policy, budget: { tokens, reserve: 0 } }), entries).map(
      ({ failed }) => failed,
    );
  expect(failures(1_000)).toEqual([null, null, null]);
  expect(failures(30)).toEqual([null, null, 'policy "asking@1" threw: no decision without a summary']);
});

test("a rehearsal waits for a summary again after a turn that was cancelled while it waited for one", () => {
  const policy: Policy = {
    ...asking(({ history }) => ([...history.newestFirst()].length === 0 ? null : covering(1, 1))),
    decide: ({ withoutSummary }) => {
      if (withoutSummary) throw new Error("no decision without a summary");
      return { from: null, reason: "all of it" };
    },
  };
  const machine = conversationMachine({ policy, budget: { tokens: 30, reserve: 0 } });
  const talk = new Talk(machine);
  const entries: Entry[] = [talk.beginning, talk.ask("Why?").entry, talk.reply("So. ".repeat(40)).entry];
  entries.push(talk.ask("And?").entry, talk.tell({ type: "cancel.requested" }).entry, talk.ask("So?").entry);
  const waits = entries.map((entry) => "decided" in entry && entry.decided?.compacting !== undefined);
  expect(waits).toEqual([false, false, false, true, false, true]);
  expect(stepsRehearsed(machine, entries).map(({ failed }) => failed)).toEqual(Array.from({ length: 5 }, () => null));
});

test("a rehearsal takes the recorded summary at once if a prompt does not fit without it", () => {
  const recorder = new Talk(conversationMachine({ policy: wanting({ 1: covering(1, 1) }) }));
  const entries: Entry[] = [recorder.beginning, recorder.ask("Why?").entry, recorder.reply("So. ".repeat(40)).entry];
  entries.push(recorder.reply("About one.").entry, recorder.ask("And then? ".repeat(5)).entry);
  const policy: Policy = {
    ...asking(({ history, measure, available }) => {
      const [newest] = history.newestFirst();
      const isFull = measure({ from: null }) > (available ?? 0);
      return isFull && newest?.summaries.length === 0 ? covering(1, 1) : null;
    }),
    decide: ({ history, withoutSummary }) => {
      if (withoutSummary) throw new Error("no decision without a summary");
      const [newest] = history.newestFirst();
      return newest === undefined || newest.summaries.length === 0
        ? { from: null, reason: "all of it" }
        : { from: { turn: 2, unit: 0 }, summarised: { from: 1, to: 1 }, reason: "summed up" };
    },
  };
  const machine = conversationMachine({ policy, counter: characterCounter, budget: { tokens: 200, reserve: 0 } });
  const steps = stepsRehearsed(machine, entries);
  expect(steps.map(({ failed }) => failed)).toEqual([null, null, null, null]);
  const { fits, messages = [] } = steps.at(-1)?.call ?? {};
  expect(fits).toBe(true);
  expect(messages.map(textOf)).toEqual([expect.stringContaining("About one."), "And then? ".repeat(5)]);
});

test("a rehearsal shows a policy its last cut, and reports a cut only at the call where it changes", () => {
  const talk = new Talk(conversationMachine());
  const entries: Entry[] = [talk.beginning];
  for (const text of ["One", "Two", "Three", "Four"])
    entries.push(talk.ask(`${text}?`).entry, talk.reply(`${text}.`).entry);
  const seen: (number | null)[] = [];
  const policy: Policy = {
    ...keepAll(),
    name: "own",
    decide: ({ history, lastCut }) => {
      seen.push(lastCut?.from?.turn ?? null);
      const [newest] = history.newestFirst();
      return { from: (newest?.number ?? 0) < 2 ? null : { turn: 2, unit: 0 }, reason: "from the second turn" };
    },
  };
  const calls = rehearsed(conversationMachine({ policy }), entries);
  expect(calls.map(({ cuts }) => cuts)).toEqual([false, false, true, false]);
  expect(new Set(seen.slice(0, 3))).toEqual(new Set([null]));
  expect(seen.at(-1)).toBe(2);
});

test("a rehearsal takes the cut of a prompt that does not fit for no cut, since the prompt is not sent", () => {
  const talk = new Talk(conversationMachine());
  const entries: Entry[] = [talk.beginning];
  for (const text of ["One?", "Two?", "Why? ".repeat(100), "Four?"])
    entries.push(talk.ask(text).entry, talk.reply("So.").entry);
  const policy: Policy = {
    ...keepAll(),
    name: "own",
    decide: ({ history }) => {
      const [newest] = history.newestFirst();
      const from = (newest?.number ?? 0) < 2 ? null : { turn: Number.MAX_SAFE_INTEGER, unit: 0 };
      return { from, reason: "only the open turn" };
    },
  };
  const calls = rehearsed(conversationMachine({ policy, budget: { tokens: 60, reserve: 0 } }), entries);
  expect(calls.map(({ fits, cuts }) => [fits, cuts])).toEqual([
    [true, false],
    [true, false],
    [false, false],
    [true, true],
  ]);
});
