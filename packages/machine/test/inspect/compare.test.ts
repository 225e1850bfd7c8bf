import { handledSteps, playArbitrary, runSchedule, type Trace } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CallLlm,
  type Message,
  conversationMachine,
  type ConversationMachine,
  type Entry,
  type Event,
  type MachineOptions,
  promptOf,
  type ReplyDraft,
  type SeedDraft,
  start,
  textOf,
  toolResultOf,
  transition,
} from "../../src/index.ts";
import { comparePrompts, comparisonTable } from "../../src/inspect.ts";
import {
  countPrompt,
  estimateCounter,
  compactTurns,
  keepAll,
  lastTurns,
  type Policy,
  summariseTurns,
  tokenWindow,
} from "../../src/policies.ts";
import { wildPolicyArbitrary } from "../conversation/wild-policy.ts";
import { runs } from "../runs.ts";
import { calling, Talk } from "../talk.ts";
import { allRehearsed, rehearsed } from "./rehearsed.ts";

/** Returns the prompts of a machine that gets a journal's events, as far as it accepts them. */
const told = (machine: ConversationMachine, entries: readonly Entry[]): readonly CallLlm[] => {
  const [first, ...rest] = entries;
  if (first?.event.type !== "thread.started") throw new Error("no beginning");
  const { type: _, ...input } = first.event;
  let { state } = start(machine, input);
  const calls: CallLlm[] = [];
  for (const { event } of rest) {
    if (event.type === "thread.started") continue;
    const next = transition(machine, state, event);
    ({ state } = next);
    for (const effect of next.effects) if (effect.type === "callLlm" && effect.purpose === "answer") calls.push(effect);
  }
  return calls;
};

const journalOf = ({ started, steps }: Trace): readonly Entry[] => [
  started.entry,
  ...handledSteps({ started, steps }).map(({ transition: { entry } }) => entry),
];

/** Plays a conversation in which each number decides an outstanding effect, or an ask if there is none. */
const compacted = (machine: ConversationMachine, fates: readonly number[]) => {
  const talk = new Talk(machine, { system: "Be brief." });
  const entries: Entry[] = [talk.beginning];
  const sent: CallLlm[] = [];
  let waits = 0;
  for (const [index, fate] of fates.entries()) {
    const out = talk.out();
    const summary = out.find((effect) => effect.type === "callLlm" && effect.purpose === "summary");
    const timer = out.find((effect) => effect.type === "startTimer");
    const answer = out.find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
    const tool = out.find((effect) => effect.type === "callTool");
    const effectId = (fate < 4 ? (summary ?? answer) : (answer ?? timer ?? summary))?.id;
    const isSummary = effectId !== undefined && effectId === summary?.id;
    const event: Event = ((): Event => {
      const at = 1_000_000 * (index + 1);
      if (tool !== undefined) return { type: "tool.completed", at, effectId: tool.id, content: "found ".repeat(20) };
      if (effectId === undefined)
        return {
          type: "ask.received",
          at,
          askId: `ask ${index}`,
          input: `Question ${index}: ${"why ".repeat(5 * fate)}`,
        };
      if (effectId === timer?.id) return { type: "timer.fired", at, effectId };
      if (fate === 1)
        return { type: "llm.failed", at, effectId, failure: { kind: "unknown", message: "no", retryable: false } };
      if (isSummary)
        return {
          type: "llm.completed",
          at,
          effectId,
          reply: { content: fate === 2 ? "" : "They talked." },
          finishReason: "stop",
        };
      const reply = fate === 5 ? calling("search") : { content: `Answer ${index}. ${"So ".repeat(20)}` };
      return { type: "llm.completed", at, effectId, reply, finishReason: "stop" };
    })();
    const { entry, effects } = talk.tell(event);
    entries.push(entry);
    if (entry.decided?.compacting !== undefined) waits++;
    for (const effect of effects) if (effect.type === "callLlm" && effect.purpose === "answer") sent.push(effect);
  }
  return { entries, sent, waits };
};

const textsOf = (messages: CallLlm["messages"]): readonly string[] =>
  messages.map(({ role, digest }) => `${role} ${digest}`);

describe("going through a recording", () => {
  test("under the configuration that it was made with gives the prompts that were sent", () => {
    fc.assert(
      fc.property(playArbitrary, fc.option(wildPolicyArbitrary), ({ options, schedule }, policy) => {
        const machine = conversationMachine({ ...options, ...(policy === null ? {} : { policy }) });
        // A thread with another configuration than the machine's has no instruction for summaries.
        const moves = schedule.moves.filter(
          ({ move, ...told }) => !(move === "send" && JSON.stringify(told).includes("thread.configured")),
        );
        const trace = runSchedule(machine, { ...schedule, moves });
        const sent = handledSteps(trace).flatMap(({ transition: { effects } }) =>
          effects.flatMap((effect) => (effect.type === "callLlm" && effect.purpose === "answer" ? [effect] : [])),
        );
        const calls = rehearsed(machine, journalOf(trace)).filter(({ fits }) => fits);
        expect(calls.map(({ turn, step, attempt }) => [turn, step, attempt])).toEqual(
          sent.map(({ turn, step, attempt }) => [turn, step, attempt]),
        );
        expect(calls.map(({ messages }) => textsOf(messages))).toEqual(sent.map(({ messages }) => textsOf(messages)));
      }),
      { numRuns: runs(300) },
    );
  });

  test("has the prompt that is sent though it exceeds the room that a server's refusal left", () => {
    const machine = conversationMachine({ policy: tokenWindow() });
    const talk = new Talk(machine);
    const entries = [
      talk.beginning,
      talk.ask("Why? ".repeat(20)).entry,
      talk.reply("So.").entry,
      talk.ask("Why? ".repeat(80)).entry,
      talk.fail({ kind: "context_length" }).entry,
    ];
    entries.push(talk.fire("retry").entry);
    const { tokens, available, ...call } = rehearsed(machine, entries).at(-1) ?? {};
    expect(tokens).toBeGreaterThan(available ?? 0);
    expect(call).toMatchObject({ turn: 2, attempt: 2, fits: true, messages: talk.call().messages });
  });

  test("under its own compacting policy gives the sent prompts, with any outcome of the summaries", () => {
    let waited = 0;
    const room = { budget: { tokens: 130, reserve: 0 }, calibrate: false };
    const compacting = compactTurns({ keepTurns: 1, at: 0.5, maxTokens: 40, requestTokens: 4_000 });
    const summarising = summariseTurns({ maxTurns: 2, maxTokens: 40, requestTokens: 4_000 });
    fc.assert(
      fc.property(
        fc.constantFrom<Policy>(compacting, summarising),
        fc.array(fc.nat({ max: 6 }), { minLength: 10, maxLength: 30 }),
        (policy, fates) => {
          const machine = conversationMachine({ ...room, policy, tools });
          const { entries, sent, waits } = compacted(machine, fates);
          waited += waits;
          const calls = rehearsed(machine, entries).filter(({ fits }) => fits);
          expect(calls.map(({ messages }) => messages.map(textOf))).toEqual(
            sent.map(({ messages }) => messages.map(textOf)),
          );
        },
      ),
      // Calls that wait for a summary are rare, so one play has some.
      { numRuns: runs(200), examples: [[compacting, [5, 0, 5, 2, 1, 4, 3, 3, 2, 5]]] },
    );
    expect(waited).toBeGreaterThan(0);
  });

  test("gives each prompt the room that reports of the same prompts before it leave", () => {
    const talk = new Talk(conversationMachine(reported));
    const entries: Entry[] = [talk.beginning];
    const sent: (readonly [number | null, readonly string[]])[] = [];
    for (let turn = 1; turn <= 4; turn++) {
      entries.push(talk.ask(`Question ${turn}`).entry);
      sent.push([promptOf(talk.machine, talk.state).available, talk.call().messages.map(textOf)]);
      entries.push(talk.reply(`Answer ${turn}, at some length.`, { usage: { inputTokens: turn * 20 } }).entry);
    }
    const prompts = (policy: Policy) =>
      rehearsed(conversationMachine({ ...reported, policy }), entries).map(({ messages, available }) => [
        available,
        messages.map(textOf),
      ]);
    expect(prompts(tokenWindow())).toEqual(sent);
    expect(sent.map(([available]) => available)).toEqual([60, 60, 41, 28]);
    // The reported counts belong to other prompts.
    expect(prompts(lastTurns(0)).map(([available]) => available)).toEqual([60, 60, 60, 60]);
  });

  test("leaves a prompt all the room where the reports are of other prompts, whatever their size", () => {
    const talk = new Talk(conversationMachine(reported));
    const entries: Entry[] = [talk.beginning];
    for (let turn = 1; turn <= 3; turn++) {
      entries.push(talk.ask(`Question ${turn}, which is as long as a third of the room.`).entry);
      const usage = turn === 1 ? {} : { usage: { inputTokens: 60 } };
      entries.push(talk.reply(`Answer ${turn}, at some length.`, usage).entry);
    }
    const calls = rehearsed(conversationMachine({ ...reported, policy: lastTurns(0) }), entries);
    expect(calls.map(({ messages, available }) => [messages.length, available])).toEqual([
      [1, 60],
      [1, 60],
      [1, 60],
    ]);
  });

  test("under another policy gives the prompts of a machine that is given the same events", () => {
    fc.assert(
      fc.property(playArbitrary, wildPolicyArbitrary, ({ options, schedule }, wild) => {
        const { summariser: _, ...policy } = wild;
        const { budget: __, ...unbounded } = options;
        const entries = journalOf(runSchedule(conversationMachine({ ...unbounded, policy: keepAll() }), schedule));
        const machine = conversationMachine({ ...unbounded, policy });
        const calls = rehearsed(machine, entries);
        expect(calls.map(({ messages }) => textsOf(messages))).toEqual(
          told(machine, entries).map(({ messages }) => textsOf(messages)),
        );
      }),
      { numRuns: runs(300) },
    );
  });

  test("under a configuration that knows nothing of its tools, limits and queues goes through all of it", () => {
    fc.assert(
      fc.property(playArbitrary, ({ options, schedule }) => {
        const entries = journalOf(runSchedule(conversationMachine(options), schedule));
        const made = entries.length === 0 ? 0 : rehearsed(conversationMachine(options), entries).length;
        expect(rehearsed(conversationMachine(), entries)).toHaveLength(made);
        const { journals, before } = comparePrompts([{ name: "any", entries }], {}, options);
        expect((journals[0]?.calls ?? 0) - (journals[0]?.imported ?? 0)).toBe(made);
        expect(before.broken.filter(({ law }) => law !== "policy")).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });
});

/** Options with a calibration. */
const reported: MachineOptions = { policy: tokenWindow(), budget: { tokens: 60, reserve: 0 } };

const tools = [{ name: "search" }];

/** Records some turns, the last with a tool round. */
const recording = (options: MachineOptions = { tools }, turns = 3): readonly Entry[] => {
  const talk = new Talk(conversationMachine(options), { system: "Be brief." });
  const entries: Entry[] = [talk.beginning];
  for (let turn = 1; turn < turns; turn++) {
    entries.push(
      talk.ask(`Question ${turn}`, `ask ${turn}`).entry,
      talk.reply(`Answer ${turn}, at some length.`).entry,
    );
  }
  entries.push(talk.ask("And the last one?", "last").entry, talk.reply(calling("search")).entry);
  entries.push(talk.result(0, "found").entry, talk.reply("That was all.").entry);
  return entries;
};

describe("a comparison", () => {
  test("of a configuration with itself finds nothing", () => {
    const { journals, before, after } = comparePrompts(
      [{ name: "a", entries: recording() }],
      {},
      conversationMachine(),
    );
    expect(journals).toEqual([{ name: "a", unreadable: null, calls: 4, imported: 0, differing: 0, first: null }]);
    expect(after).toEqual(before);
  });

  test("says where the prompts first differ, and how", () => {
    const { journals } = comparePrompts([{ name: "a", entries: recording() }], {}, { policy: lastTurns(1) });
    expect(journals[0]).toMatchObject({ calls: 4, differing: 2 });
    const first = journals[0]?.first;
    expect(first).toMatchObject({
      seq: 5,
      turn: 3,
      step: 1,
      attempt: 1,
      index: 1,
      before: { messages: 6, fits: true, policy: "keep-all@1" },
      after: { messages: 4, fits: true, policy: "last-turns@1", reason: "older than the last 1 turns" },
    });
    expect([first?.before.message, first?.after.message].map((message) => (message ? textOf(message) : null))).toEqual([
      "Question 1",
      "Question 2",
    ]);
  });

  test("adds up the tokens, and those that a cache keeps and loses, as a look at all pairs of prompts does", () => {
    const entries = recording({ tools }, 6);
    for (const policy of [keepAll(), lastTurns(1), lastTurns(2, { slack: 2 })]) {
      const machine = conversationMachine({ tools, policy });
      const prompt = (messages: readonly Message[]): number => countPrompt(estimateCounter, messages);
      const sent = told(machine, entries).map(({ messages }) => messages);
      const kept = sent.slice(1).map((messages, index) => {
        const before = sent[index] ?? [];
        const differs = messages.findIndex((message, place) => message.digest !== before[place]?.digest);
        const shared = messages.slice(0, differs < 0 ? undefined : differs);
        return { kept: shared.length === 0 ? 0 : prompt(shared), lost: prompt(before) - prompt(shared) };
      });
      const { after } = comparePrompts([{ name: "a", entries }], {}, machine);
      expect(after).toMatchObject({
        sent: sent.length,
        tokens: sent.reduce((sum, messages) => sum + prompt(messages), 0),
        keptTokens: kept.reduce((sum, pair) => sum + pair.kept, 0),
        lostTokens: kept.reduce((sum, pair) => sum + pair.lost, 0),
      });
    }
  });

  test("starts each journal without a cache", () => {
    const entries = recording();
    const once = comparePrompts([{ name: "a", entries }], {}, {}).after;
    const twice = comparePrompts(
      [
        { name: "a", entries },
        { name: "b", entries },
      ],
      {},
      {},
    ).after;
    expect(twice).toMatchObject({ tokens: 2 * once.tokens, keptTokens: 2 * once.keptTokens, lostTokens: 0 });
  });

  test("a call that does not fit breaks a law, is not sent, and the recording continues", () => {
    const { journals, after } = comparePrompts(
      [{ name: "a", entries: recording() }],
      {},
      { budget: { tokens: 40, reserve: 0 }, calibrate: false },
    );
    expect(journals[0]).toMatchObject({ calls: 4, first: { index: null, after: { fits: false } } });
    expect(after.sent).toBeLessThan(4);
    expect(after.broken.map(({ law }) => law)).toEqual(Array(4 - after.sent).fill("fits"));
    expect(after.broken[0]).toMatchObject({
      journal: "a",
      reason: expect.stringMatching(/^\d+ tokens, and there is room for 40$/),
    });
  });

  test("shrinks the prompt after one that was too long for the server, as the recording did", () => {
    const options: MachineOptions = { policy: tokenWindow({ tokens: 3_000, cutTo: 0.5 }) };
    const talk = new Talk(conversationMachine(options));
    const entries: Entry[] = [talk.beginning];
    const add = ({ entry }: { readonly entry: Entry }) => entries.push(entry);
    add(talk.ask("One"));
    add(talk.reply("A long answer, word by word."));
    add(talk.ask("Two"));
    add(talk.fail({ kind: "context_length" }));
    add(talk.fire("retry"));
    const sent = talk.call().messages.map(textOf);
    expect(sent).toEqual(["Two"]);
    const messages = rehearsed(conversationMachine(options), entries).at(-1)?.messages;
    expect(messages?.map(textOf)).toEqual(sent);
    expect(rehearsed(conversationMachine(), entries).at(-1)?.messages).toHaveLength(3);
  });

  test("a policy that fails is a law broken at each call", () => {
    const failing: Policy = {
      ...keepAll(),
      name: "failing",
      decide: () => {
        throw new Error("no decision today");
      },
    };
    const { journals, after } = comparePrompts([{ name: "a", entries: recording() }], {}, { policy: failing });
    expect(journals[0]?.differing).toBe(0);
    expect(after.broken).toHaveLength(4);
    const broken = {
      journal: "a",
      seq: 1,
      turn: 1,
      step: 1,
      law: "policy",
      reason: 'policy "failing@1" threw: no decision today',
    };
    expect(after.broken[0]).toEqual(broken);
    const summariser = { instruction: "Sum up.", model: {}, maxTokens: 100, next: () => null };
    const summing = { policy: { ...failing, summariser } };
    expect(comparePrompts([{ name: "a", entries: recording() }], {}, summing).after.broken[0]).toEqual(broken);
  });

  test("a summariser that fails between calls breaks a law there", () => {
    const next = () => {
      throw new Error("no summary today");
    };
    const policy = { ...keepAll(), summariser: { instruction: "Sum up.", model: {}, maxTokens: 100, next } };
    const { after } = comparePrompts([{ name: "a", entries: recording().slice(0, 3) }], {}, { policy });
    const reason = expect.stringContaining("no summary today");
    expect(after.broken).toEqual([
      { journal: "a", seq: 1, turn: 1, step: 1, law: "policy", reason },
      { journal: "a", seq: 2, turn: 0, step: 0, law: "policy", reason },
    ]);
  });

  test("a prompt that is longer than another differs at the other's end", () => {
    const talk = new Talk(conversationMachine());
    const entries = [talk.beginning, talk.ask("Hi").entry, talk.reply("Hello.").entry, talk.ask("Hi").entry];
    const indexOf = (before: MachineOptions, after: MachineOptions) =>
      comparePrompts([{ name: "a", entries }], before, after).journals[0]?.first?.index;
    expect([indexOf({}, { policy: lastTurns(0) }), indexOf({ policy: lastTurns(0) }, {})]).toEqual([1, 1]);
  });

  test("names the journal that cannot be replayed, and continues with the others", () => {
    const gap = recording().filter(({ seq }) => seq !== 2);
    const { journals } = comparePrompts(
      [
        { name: "gap", entries: gap },
        { name: "empty", entries: [] },
        { name: "whole", entries: recording() },
      ],
      {},
      {},
    );
    expect(journals).toMatchObject([
      { name: "gap", unreadable: expect.stringContaining("entry 3 stands where 2 should") },
      { name: "empty", unreadable: "entry 0: the journal is empty" },
      { name: "whole", unreadable: null, calls: 4 },
    ]);
  });
});

/** Records the same conversation as imported, each turn added whole. */
const added = (turns: number): readonly Entry[] => {
  const talk = new Talk(conversationMachine(), { system: "Be brief." });
  const add = (messages: readonly SeedDraft[]): Entry =>
    talk.tell({ type: "turn.added", at: 1, messages: [...messages] }).entry;
  const entries: Entry[] = [talk.beginning];
  for (let turn = 1; turn < turns; turn++) {
    entries.push(
      add([
        { role: "user", content: `Question ${turn}` },
        { role: "assistant", content: `Answer ${turn}, at some length.` },
      ]),
    );
  }
  const { toolCalls = [] } = calling("search");
  entries.push(
    add([
      { role: "user", content: "And the last one?" },
      { role: "assistant", ...calling("search") },
      { role: "tool", toolCallId: toolCalls[0]?.id ?? null, content: "found" },
      { role: "assistant", content: "That was all." },
    ]),
  );
  return entries;
};

/** Returns the text of a message, or the result that it holds. */
const wordsOf = (message: Message): string => {
  const result = toolResultOf(message);
  return result === undefined
    ? textOf(message)
    : result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
};

test("an ask that was returned, since its turn did not fit with it, is not in the prompts after that", () => {
  const options: MachineOptions = { tools, overlap: { type: "steer", max: 5 }, budget: { tokens: 60, reserve: 0 } };
  const machine = conversationMachine(options);
  const talk = new Talk(machine);
  const entries: Entry[] = [talk.beginning, talk.ask("One").entry, talk.reply(calling("search")).entry];
  entries.push(talk.ask("why ".repeat(100), "too long").entry, talk.result(0, "found").entry);
  expect(talk.effects).toContainEqual({
    type: "publish",
    signal: { type: "ask.returned", askId: "too long", turn: 1 },
  });
  entries.push(talk.ask("Two").entry);
  expect(rehearsed(machine, entries).at(-1)?.messages).toEqual(talk.call().messages);
});

describe("a conversation that was had elsewhere", () => {
  const policies = {
    keepAll: keepAll(),
    lastTurns: lastTurns(1),
    slack: lastTurns(2, { slack: 2 }),
    window: tokenWindow(),
  };

  test.each(Object.entries(policies))("is compared as if it had been had here: %s", (_, policy) => {
    const machine = conversationMachine({ tools, policy, budget: { tokens: 75, reserve: 0 }, calibrate: false });
    const here = rehearsed(machine, recording({ tools }, 7));
    const elsewhere = allRehearsed(machine, added(7));
    expect(elsewhere.map(({ turn, step, imported }) => [turn, step, imported])).toEqual(
      here.map(({ turn, step }) => [turn, step, true]),
    );
    expect(elsewhere.map(({ messages, fits }) => [fits, messages.map(textOf)])).toEqual(
      here.map(({ messages, fits }) => [fits, messages.map(textOf)]),
    );
  });

  test("is compared in appended rounds, each where it joined: between turns, before a call, after a reply", () => {
    const talk = new Talk(conversationMachine({ tools }), { system: "Be brief." });
    const entries: Entry[] = [talk.beginning];
    const tell = (event: Parameters<typeof talk.tell>[0]): void => void entries.push(talk.tell(event).entry);
    const round = (found: string) =>
      ({
        type: "round.appended",
        reply: { content: `Let me see ${found}.`, ...calling("search") },
        results: [{ outcome: "completed", content: found }],
      }) as const;
    const reply = (content: string, more: ReplyDraft = {}): void => {
      const [call] = talk.out().flatMap((effect) => (effect.type === "callLlm" ? [effect.id] : []));
      tell({ type: "llm.completed", effectId: call ?? "", reply: { content, ...more }, finishReason: "stop" });
    };
    tell(round("A"));
    tell({ type: "ask.received", askId: "a", input: "One" });
    // It waits while the call is outstanding.
    tell(round("B"));
    reply("Hm", calling("search"));
    entries.push(talk.result(0, "found").entry);
    reply("1");
    tell({ type: "message.appended", message: { role: "user", content: "Two" } });
    tell(round("C"));
    tell({ type: "ask.received", askId: "b", input: "And?" });
    tell(round("D"));
    // The turn ends with the waiting message.
    tell({ type: "cancel.requested" });
    const calls = allRehearsed(conversationMachine({ tools }), entries);
    const heard = ["Be brief.", "Let me see A.", "A", "One"];
    const between = [...heard, "Hm", "found"];
    const told = [...between, "Let me see B.", "B", "1"];
    expect(calls.map(({ turn, step, imported, messages }) => [turn, step, imported, messages.map(wordsOf)])).toEqual([
      [1, 1, true, ["Be brief."]],
      [1, 1, false, heard],
      [1, 3, true, between],
      [1, 2, false, told.slice(0, -1)],
      [2, 1, true, [...told, "Two"]],
      [2, 1, false, [...told, "Two", "Let me see C.", "C", "And?"]],
      [2, 2, true, [...told, "Two", "Let me see C.", "C", "And?"]],
    ]);
    const { journals } = comparePrompts([{ name: "a", entries }], { tools }, { tools, policy: lastTurns(0) });
    expect(journals[0]).toMatchObject({ calls: 7, imported: 4 });
  });

  test("is compared in no round that begins a thread: no model can have been shown nothing", () => {
    const talk = new Talk(conversationMachine({ tools }));
    const round = {
      type: "round.appended",
      reply: calling("search"),
      results: [{ outcome: "completed", content: "found" }],
    } as const;
    const entries: Entry[] = [
      talk.beginning,
      talk.tell(round).entry,
      // The second round is appended after another entry.
      talk.tell(round).entry,
    ];
    const { journals, before } = comparePrompts([{ name: "any", entries }], {}, { tools });
    expect([journals[0]?.imported, before.broken]).toEqual([1, []]);
  });

  test("is compared in a seed, too, and nothing is compared if no model answered", () => {
    const seeded = start(conversationMachine(), {
      threadId: "t",
      at: 0,
      seed: [
        { role: "assistant", content: "Welcome." },
        { role: "user", content: "One?" },
        { role: "assistant", content: "Yes." },
        { role: "user", content: "And" },
        { role: "user", content: "two?" },
        { role: "assistant", content: "Yes, too." },
      ],
    });
    const calls = allRehearsed(conversationMachine({ policy: lastTurns(0) }), [seeded.entry]);
    expect(calls.map(({ seq, turn, step, messages }) => [seq, turn, step, messages.map(textOf)])).toEqual([
      [0, 0, 1, ["One?"]],
      [0, 0, 2, ["And", "two?"]],
    ]);
    expect(allRehearsed(conversationMachine(), [seeded.entry])[1]?.messages).toHaveLength(5);
    const silent = start(conversationMachine(), {
      threadId: "t",
      at: 0,
      seed: [{ role: "assistant", content: "Hi." }],
    });
    const { journals } = comparePrompts([{ name: "a", entries: [silent.entry] }], {}, {});
    expect(journals[0]).toMatchObject({ calls: 0, imported: 0 });
  });
});

/** Orders summaries of all turns except the newest. */
const summarising: Policy = {
  ...keepAll(),
  name: "summarising",
  decide: ({ history }) => {
    const [newest, ...older] = history.newestFirst();
    const summed = older.find(({ summaries }) => summaries.length > 0);
    return newest === undefined || summed === undefined
      ? { from: null, reason: "nothing is summed up" }
      : { from: { turn: summed.number + 1, unit: 0 }, summarised: { from: 1, to: summed.number }, reason: "summed up" };
  },
  summariser: {
    instruction: "Sum up.",
    model: {},
    maxTokens: 100,
    next: ({ history }) => {
      const [, second] = history.newestFirst();
      return second === undefined || second.summaries.length > 0
        ? null
        : { covers: { from: 1, to: second.number }, earlier: null };
    },
  },
};

/** Records like `recording`, and writes each summary at once. */
const summarised = (): readonly Entry[] => {
  const talk = new Talk(conversationMachine({ policy: summarising }));
  const entries: Entry[] = [talk.beginning];
  for (let turn = 1; turn <= 4; turn++) {
    entries.push(talk.ask(`Question ${turn}`, `ask ${turn}`).entry, talk.reply(`Answer ${turn}.`).entry);
    const summary = talk.out().find((effect) => effect.type === "callLlm");
    if (summary !== undefined) entries.push(talk.reply("They talked.").entry);
  }
  entries.push(talk.ask("Last question", "last").entry);
  return entries;
};

describe("summaries in a comparison", () => {
  test("are those of the recording if it has them", () => {
    const entries = summarised();
    const { after } = comparePrompts([{ name: "a", entries }], {}, { policy: summarising });
    expect(after.summaries).toMatchObject({ asked: 3, answered: 3 });
    expect(
      rehearsed(conversationMachine({ policy: summarising }), entries)
        .at(-1)
        ?.messages.map(textOf),
    ).toEqual([
      "Earlier in this conversation:\n[Turns 1 to 3] They talked.",
      "Question 4",
      "Answer 4.",
      "Last question",
    ]);
  });

  test("are awaited if a prompt does not fit without them, although the recording did not wait", () => {
    const wide = {
      policy: compactTurns({ keepTurns: 1, at: 0.2, maxTokens: 40, requestTokens: 4_000 }),
      calibrate: false,
    };
    const talk = new Talk(conversationMachine({ ...wide, budget: { tokens: 400, reserve: 0 } }));
    const entries: Entry[] = [talk.beginning];
    for (let turn = 1; turn <= 3; turn++)
      entries.push(talk.ask(`${"Why? ".repeat(12)}${turn}`, `ask ${turn}`).entry, talk.reply("So. ".repeat(20)).entry);
    // It was ordered after the third turn, and arrives during the fourth.
    entries.push(talk.ask("Last question", "last").entry);
    const answer = talk.out().find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
    const summary = talk.out().find((effect) => effect.type === "callLlm" && effect.purpose === "summary");
    if (answer === undefined || summary === undefined) throw new Error("both should be out");
    const reply = { reply: { content: "They talked." }, finishReason: "stop" } as const;
    entries.push(talk.tell({ type: "llm.completed", effectId: summary.id, ...reply }).entry);
    const narrow = conversationMachine({ ...wide, budget: { tokens: 140, reserve: 0 } });
    const [, , , inTime] = rehearsed(conversationMachine({ ...wide, budget: { tokens: 400, reserve: 0 } }), entries);
    const [, , , waited] = rehearsed(narrow, entries);
    expect(inTime?.messages).toHaveLength(7);
    expect(waited).toMatchObject({ fits: true });
    expect(waited?.messages.map(textOf).join("\n")).toContain("They talked.");
  });

  test("are ordered although the recording was reconfigured, and are not missing in the first prompt", () => {
    const talk = new Talk(conversationMachine());
    const entries: Entry[] = [talk.beginning];
    for (let turn = 1; turn <= 3; turn++) entries.push(talk.ask(`Question ${turn}`).entry, talk.reply("So.").entry);
    const anew = talk.tell({ type: "thread.configured", configuration: { fingerprint: "other" } }).entry;
    entries.push(anew, talk.ask("Question 4").entry, talk.reply("So.").entry);
    const without: boolean[] = [];
    const policy: Policy = {
      ...summarising,
      decide: (input) => {
        without.push(input.withoutSummary);
        return summarising.decide(input);
      },
    };
    const { after } = comparePrompts([{ name: "a", entries }], {}, { policy });
    // After each turn from the second on, and, since those failed, again at each later call.
    expect(after.summaries.asked).toBe(5);
    expect(without[0]).toBe(false);
  });

  test("count as failed where the recording lacks them", () => {
    const { after } = comparePrompts([{ name: "a", entries: recording() }], {}, { policy: summarising });
    expect(after.summaries.asked).toBeGreaterThan(0);
    expect(after.summaries.answered).toBe(0);
    expect(after.summaries.tokens).toBeGreaterThan(0);
    expect(after.broken).toEqual([]);
  });
});

test("the table of a comparison", async () => {
  const comparison = comparePrompts(
    [
      { name: "short.jsonl", entries: recording({ tools }, 1) },
      { name: "long.jsonl", entries: recording({ tools }, 6) },
      { name: "torn.jsonl", entries: recording().slice(1) },
    ],
    {},
    { policy: lastTurns(2), budget: { tokens: 85, reserve: 20 } },
  );
  await expect(`${comparisonTable(comparison)}\n`).toMatchFileSnapshot("comparison-table.txt");
});

test("the table of a comparison with summaries, and of two that are the same", async () => {
  const table = comparisonTable(
    comparePrompts([{ name: "a.jsonl", entries: summarised() }], {}, { policy: summarising }),
  );
  await expect(`${table}\n`).toMatchFileSnapshot("comparison-table-summaries.txt");
  expect(comparisonTable(comparePrompts([{ name: "a.jsonl", entries: recording() }], {}, {}))).toContain(
    "a.jsonl: 4 calls, the same prompts",
  );
});

test("a reason takes at most 160 columns of the table", () => {
  const wordy: Policy = {
    ...keepAll(),
    name: "wordy",
    decide: () => {
      throw new Error("x".repeat(300));
    },
  };
  const table = comparisonTable(comparePrompts([{ name: "a", entries: recording() }], {}, { policy: wordy }));
  expect(/, step 1\): (.*)/.exec(table)?.[1]).toHaveLength(160);
});
