import { playArbitrary, runSchedule } from "@colloquy/runtime-test/arbitraries";
import { lawExplained } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  type ConversationMachine,
  type MachineOptions,
  type Message,
  messagesOf,
  outstanding,
  promptOf,
  type State,
  textOf,
  transition,
  turnsOf,
} from "../../src/index.ts";
import {
  explain,
  explainCall,
  type Explanation,
  explanationTable,
  figuresOf,
  sizeOfThread,
} from "../../src/inspect.ts";
import { type Counter, estimateCounter, keepAll, lastTurns, type Policy } from "../../src/policies.ts";
import { runs } from "../runs.ts";
import { calling, Talk } from "../talk.ts";
import { wildPolicyArbitrary } from "../conversation/wild-policy.ts";

/** Draws a conversation at some point, under any policy and budget, with some pinned messages. */
const lifeArbitrary = fc.record({
  play: playArbitrary,
  policy: fc.option(wildPolicyArbitrary, { freq: 4 }),
  pins: fc.array(fc.nat({ max: 40 }), { maxLength: 3 }),
});

type Life = typeof lifeArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

const reached = ({ play, policy, pins }: Life): { readonly machine: ConversationMachine; readonly state: State } => {
  const machine = conversationMachine({ ...play.options, ...(policy === null ? {} : { policy }) });
  const trace = runSchedule(machine, play.schedule);
  const end = trace.steps.at(-1)?.transition.state ?? trace.started.state;
  const state = pins.reduce((before, pick) => {
    const messages = messagesOf(before);
    const message = messages[pick % Math.max(1, messages.length)]?.id ?? "none";
    return transition(machine, before, { type: "message.pinned", at: 0, message, pinned: true }).state;
  }, end);
  return { machine, state };
};

describe("an explanation", () => {
  test("equals the prompt, for each unit and in tokens", () => {
    fc.assert(
      fc.property(lifeArbitrary, (life) => {
        const { machine, state } = reached(life);
        lawExplained(machine, state);
      }),
      { numRuns: runs(400) },
    );
  });

  test("gives the tokens of the whole thread, and the counter's overhead of a prompt", () => {
    fc.assert(
      fc.property(lifeArbitrary, (life) => {
        const { machine, state } = reached(life);
        const { units, besideTokens, tokens, wholeTokens, failed } = explain(machine, state);
        expect(failed).toBe(promptOf(machine, state).failed);
        const { counter = estimateCounter } = life.play.options;
        if (tokens === null || counter.countPrompt !== undefined) return;
        expect(besideTokens).toBe(counter.perPrompt);
        const whole = units.reduce((sum, unit) => sum + (unit.tokens ?? Number.NaN), 0);
        expect(wholeTokens ?? Number.NaN).toBe(whole + counter.perPrompt);
      }),
      { numRuns: runs(300) },
    );
  });

  test("can be shown as a table, with a line for each unit", () => {
    fc.assert(
      fc.property(lifeArbitrary, (life) => {
        const { machine, state } = reached(life);
        const explanation = explain(machine, state);
        const lines = explanationTable(explanation).split("\n");
        expect(lines.indexOf("")).toBe(1 + explanation.units.length + (explanation.summary === null ? 0 : 1));
        expect(lines.every((line) => !/\p{Cc}/u.test(line))).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });
});

const policyDeciding = (decide: Policy["decide"]): Policy => ({ ...keepAll(), name: "own", decide });

/** Plays three turns, the second cancelled, and an open one with a finished round. */
const someTalk = (machine: ConversationMachine): Talk => {
  const talk = new Talk(machine, { system: "Be brief.", seed: [{ role: "user", content: "I am Ada." }] });
  talk.ask("What is the weather like, here and now?");
  talk.reply(calling("look"));
  talk.result(0, `It is ${"very ".repeat(80)}sunny.`);
  talk.reply("Sunny.");
  talk.ask("And tomorrow?");
  talk.tell({ type: "cancel.requested" });
  talk.tell({
    type: "turn.added",
    messages: [
      {
        role: "user",
        content: [
          { type: "data", field: "question", value: "明日は？" },
          { type: "data", field: "notes", value: [1] },
        ],
      },
      { role: "assistant", content: "Rain.\u001b[31m" },
    ],
  });
  talk.tell({ type: "message.pinned", message: "1.0", pinned: true });
  talk.ask("So, an umbrella?");
  return talk;
};

const tools = [{ name: "look" }];

describe("the contents of an explanation", () => {
  const policy = policyDeciding(() => ({
    from: { turn: 1, unit: 1 },
    dropped: ["3.1"],
    // The second shrink does not change the result of the first.
    shrink: [
      { rule: "headAndTail", of: "toolResults", characters: 200 },
      { rule: "headAndTail", of: "toolResults", characters: 300 },
    ],
    fields: { omit: ["notes"] },
    reason: "older than what matters",
    reasons: { "3.1": "nobody asked for rain" },
  }));
  const machine = conversationMachine({ tools, policy, interrupted: "omit", budget: { tokens: 1_000, reserve: 100 } });

  test.each([
    ["s1", "whole", "fixed", "the system message"],
    ["0.0", "out", "older", "older than what matters"],
    ["1.0", "whole", "pinned", "pinned"],
    ["1.1", "shrunk", "shrink", "results are shown by head and tail, in 200 characters"],
    ["1.2", "whole", "kept", "not older than unit 1 of turn 1"],
    ["2.0", "out", "interrupted", "turn 2 was cancelled, and such turns are left out"],
    ["3.0", "shrunk", "fields", 'without "notes"'],
    ["3.1", "out", "dropped", "nobody asked for rain"],
    ["4.0", "whole", "fixed", "of the turn that is asked about"],
  ])("of unit %s: %s, by the rule %s: %s", (id, shown, rule, why) => {
    const unit = explain(machine, someTalk(machine).state).units.find((each) => each.id === id);
    expect(unit).toMatchObject({ shown, rule, why });
  });

  test("of a question that the policy leaves out while it shows the answer: it belongs to the answer", () => {
    const talk = new Talk(
      conversationMachine({ policy: policyDeciding(() => ({ from: null, dropped: ["1.0"], reason: "no" })) }),
    );
    talk.ask("One?");
    talk.reply("One.");
    const [question] = explain(talk.machine, talk.state).units;
    const why = "the question of what is shown next";
    expect(question).toMatchObject({ id: "1.0", shown: "whole", rule: "question", why });
  });

  test("takes the tokens of the whole thread from a counter of whole prompts", () => {
    const counter = { ...estimateCounter, countPrompt: (messages: readonly Message[]) => 100 * messages.length };
    const talk = new Talk(conversationMachine({ counter }), { system: "Be brief." });
    talk.ask("One?");
    talk.reply("One.");
    expect(explain(talk.machine, talk.state)).toMatchObject({ tokens: 300, wholeTokens: 300 });
  });

  test("its table", async () => {
    const explanation = explain(machine, someTalk(machine).state);
    await expect(`${explanationTable(explanation)}\n`).toMatchFileSnapshot("explanation-table.txt");
    expect(explanationTable({ ...explanation, share: 1 })).toContain("(100 %), fits");
  });

  test.each([
    ["the decision's own where nothing is left out", {}, "all of it matters"],
    ["that nothing leaves it out, where something else is", { dropped: ["3.1"] }, "nothing leaves it out"],
  ])("of a unit that is kept: %s", (_, more, why) => {
    const kept = conversationMachine({
      tools,
      policy: policyDeciding(() => ({ from: null, ...more, reason: "all of it matters" })),
    });
    const unit = explain(kept, someTalk(kept).state).units.find(({ id }) => id === "1.2");
    expect(unit).toMatchObject({ shown: "whole", rule: "kept", why });
  });

  test("of a policy that fails: all is kept, and why", () => {
    const failing = conversationMachine({
      tools,
      policy: policyDeciding(() => {
        throw new Error("no decision today");
      }),
    });
    const explanation = explain(failing, someTalk(failing).state);
    expect(explanation).toMatchObject({
      policy: "keep-all@1",
      failed: 'policy "own@1" threw: no decision today',
      fits: true,
      available: null,
      share: null,
    });
    expect(explanation.units.every(({ shown }) => shown === "whole")).toBe(true);
    expect(explanationTable(explanation)).toContain('failed   policy "own@1" threw: no decision today');
  });

  test("of summaries: which one covers a turn, and which turns have only a line made by rule", () => {
    const summarising: Policy = {
      ...policyDeciding(() => ({ from: { turn: 4, unit: 0 }, summarised: { from: 0, to: 3 }, reason: "summed up" })),
      summariser: {
        instruction: "Sum up.",
        model: {},
        maxTokens: 100,
        next: ({ history }) => {
          const [newest] = history.newestFirst();
          return newest?.number === 2 && newest.summaries.length === 0
            ? { covers: { from: 1, to: 2 }, earlier: null }
            : null;
        },
      },
    };
    const summed = conversationMachine({ policy: summarising });
    const talk = new Talk(summed, { seed: [{ role: "user", content: "I am Ada." }] });
    for (const text of ["One", "Two"]) {
      talk.ask(text);
      talk.reply(`${text}!`);
    }
    talk.reply("They counted.");
    talk.ask("Three");
    talk.reply("Three!");
    talk.ask("Four");
    const { units, summary } = explain(summed, talk.state);
    expect(units.map(({ id, shown, why }) => [id, shown, why])).toEqual([
      ["0.0", "summary", "shown as a line made by rule"],
      ["1.0", "summary", "shown as summary 1, of turn 1 to turn 2"],
      ["1.1", "summary", "shown as summary 1, of turn 1 to turn 2"],
      ["2.0", "summary", "shown as summary 1, of turn 1 to turn 2"],
      ["2.1", "summary", "shown as summary 1, of turn 1 to turn 2"],
      ["3.0", "summary", "shown as a line made by rule"],
      ["3.1", "summary", "shown as a line made by rule"],
      ["4.0", "whole", "of the turn that is asked about"],
    ]);
    expect(summary?.turns).toEqual({ from: 0, to: 3, upTo: 1 });
    expect(figuresOf(summed, talk.state).turns).toEqual({ total: 3, whole: 0, partly: 0, summarised: 3, out: 0 });
  });
});

describe("the figures of a thread", () => {
  test("are those of its messages and of its next prompt", () => {
    fc.assert(
      fc.property(lifeArbitrary, (life) => {
        const { machine, state } = reached(life);
        const figures = figuresOf(machine, state);
        const messages = messagesOf(state);
        const { tokens, available, fits } = promptOf(machine, state);
        expect(figures).toMatchObject({
          messages: messages.length,
          characters: messages.reduce((sum, message) => sum + textOf(message).length, 0),
          tokens,
          available,
          fits,
          usage: state.context.usage.total,
        });
        const { characters, share, usage, turns } = figures;
        const size = { turns: turns.total, messages: messages.length, characters, share, usage };
        expect(sizeOfThread(machine, state)).toEqual(size);
      }),
      { numRuns: runs(200) },
    );
  });

  test("count each closed turn once, as the explanation shows its units", () => {
    fc.assert(
      fc.property(lifeArbitrary, (life) => {
        const { machine, state } = reached(life);
        const { units } = explain(machine, state);
        const counted = { total: 0, whole: 0, partly: 0, summarised: 0, out: 0 };
        for (const { number, messages } of turnsOf(state)) {
          const shown = new Set(units.filter(({ turn }) => turn === number).map((unit) => unit.shown));
          if (messages.length === 0) return;
          counted.total++;
          if (shown.size === 1 && shown.has("whole")) counted.whole++;
          else if (shown.has("whole") || shown.has("shrunk")) counted.partly++;
          else if (shown.has("summary")) counted.summarised++;
          else counted.out++;
        }
        expect(figuresOf(machine, state).turns).toEqual(counted);
      }),
      { numRuns: runs(300) },
    );
  });

  test("count a turn as partly shown if only its question is shown, before an answer of the next turn", () => {
    const talk = new Talk(conversationMachine({ policy: lastTurns(1) }));
    talk.ask("One?");
    talk.reply("One.");
    talk.tell({ type: "turn.added", messages: [{ role: "assistant", content: "And two." }] });
    expect(figuresOf(talk.machine, talk.state).turns).toEqual({ total: 2, whole: 1, partly: 1, summarised: 0, out: 0 });
  });

  test("give the used share of the room, and the usage of the thread", () => {
    const machine = conversationMachine({ policy: lastTurns(1), budget: { tokens: 120, reserve: 20 } });
    const talk = new Talk(machine);
    for (const text of ["One", "Two", "Three"]) {
      talk.ask(text);
      talk.reply(`${text}!`, { usage: { inputTokens: 10, outputTokens: 5 } });
    }
    const { tokens, available, share, usage, turns } = figuresOf(machine, talk.state);
    expect(available).toBe(100);
    expect(share).toBe((tokens ?? 0) / 100);
    expect(usage.totalTokens.sum).toBe(45);
    expect(turns).toEqual({ total: 3, whole: 1, partly: 0, summarised: 0, out: 2 });
  });

  test("give no share if there is no room, or no limit", () => {
    for (const budget of [null, { tokens: 10, reserve: 10 }]) {
      const machine = conversationMachine({ budget });
      expect(figuresOf(machine, new Talk(machine, { system: "Hello." }).state)).toMatchObject({ share: null });
    }
  });
});

const failingCounter: Counter = {
  ...estimateCounter,
  countPart: () => {
    throw new Error("no count today");
  },
};

describe("an explanation of a call", () => {
  test.each<readonly [string, MachineOptions, boolean]>([
    ["fits a machine without a budget", {}, true],
    ["fits a machine with room for it", { budget: { tokens: 1_000, reserve: 0 } }, true],
    ["does not fit a machine with less room", { budget: { tokens: 1, reserve: 0 } }, false],
    ["fits a machine whose counter fails", { budget: { tokens: 1, reserve: 0 }, counter: failingCounter }, true],
  ])("says that the sent prompt %s, also if that machine would cut it", (_, options, fits) => {
    const talk = new Talk(conversationMachine());
    talk.ask("One?");
    talk.reply("One.");
    talk.ask("Two?");
    const reader = conversationMachine({ ...options, policy: lastTurns(0) });
    expect(explainCall(reader, talk.state)).toMatchObject({ fits, reason: "as keep-all@1 decided then" });
  });

  /** Returns the messages that the units show, with the summary after the system message. */
  const shownIn = ({ units, summary }: Explanation): readonly Message[] => {
    const isLed = units[0]?.kind === "system" && units[0].sent.length > 0;
    const sent = units.flatMap((unit) => unit.sent);
    return summary === null ? sent : sent.toSpliced(isLed ? 1 : 0, 0, summary.message);
  };

  test("equals the sent prompt, under its own machine and under any other", () => {
    let calls = 0;
    fc.assert(
      fc.property(lifeArbitrary, ({ play, policy }) => {
        const machine = conversationMachine({ ...play.options, ...(policy === null ? {} : { policy }) });
        const states = runSchedule(machine, play.schedule).steps.map(({ transition: { state } }) => state);
        for (const state of states) {
          const call = outstanding(state).find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
          const expected = call?.type === "callLlm" ? call.messages : null;
          if (expected !== null) calls += 1;
          for (const reader of [machine, conversationMachine(), conversationMachine({ policy: lastTurns(1) })]) {
            const explanation = explainCall(reader, state);
            expect(explanation === null ? null : shownIn(explanation)).toEqual(expected);
          }
        }
      }),
      { numRuns: runs(200) },
    );
    expect(calls).toBeGreaterThan(runs(200) / 4);
  });
});
