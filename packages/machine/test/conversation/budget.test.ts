import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  type Handled,
  lastTurnOf,
  type MachineOptions,
  messagesOf,
  promptOf,
} from "../../src/index.ts";
import {
  compactTurns,
  type Counter,
  countPrompt,
  keepAll,
  type Policy,
  type Summariser,
  summariseTurns,
  tokenWindow,
} from "../../src/policies.ts";
import { leastRequest } from "../../src/prompt/summary-request.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { Talk } from "../talk.ts";

// A prompt that does not fit is never sent: the turn ends with the numbers, and without a call.

const within = (tokens: number, reserve = 0, more: MachineOptions = {}): MachineOptions => ({
  counter: characterCounter,
  budget: { tokens, reserve },
  tools: [{ name: "search" }],
  retry: { baseDelayMs: 0 },
  ...more,
});

describe("a counter", () => {
  const broken: readonly (readonly [string, Partial<Counter>])[] = [
    ["throws", { countPart: () => never("no") }],
    ["counts what is no number", { countPart: () => Number.NaN }],
    ["throws on prompts", { countPrompt: () => never("no") }],
    ["counts prompts without end", { countPrompt: () => Number.POSITIVE_INFINITY }],
  ];

  test.each(broken)(
    "that %s does not stop the conversation: the prompt is sent, and observers are notified",
    (_, part) => {
      const talk = new CheckedTalk(within(10, 0, { counter: { ...characterCounter, name: "broken", ...part } }));
      talk.ask("x".repeat(20));
      expect(talk.sent()).toEqual(["x".repeat(20)]);
      expect(talk.signals()).toContainEqual({
        type: "policy.failed",
        reason: expect.stringContaining('counter "broken@1"'),
      });
      expect(promptOf(talk.machine, talk.state)).toMatchObject({ tokens: null, fits: true });
      talk.reply("y");
    },
  );
});

function never(message: string): never {
  throw new Error(message);
}

// In a small room a request for a summary never fits. Nothing is sent then, and the failure is not reported at each
// turn.

const roomOf = (tokens: number): MachineOptions => ({ budget: { tokens, reserve: 0 }, calibrate: false });

/** Runs turns, and answers each summary. Returns the numbers of reported failures and of requests. */
const goOn = (talk: Talk, turns: number): { readonly failed: number; readonly asked: number } => {
  let asked = 0;
  let failed = 0;
  const look = ({ effects }: Handled): void => {
    for (const effect of effects) {
      if (effect.type === "callLlm" && effect.purpose === "summary") asked++;
      if (effect.type === "publish" && effect.signal.type === "summary.failed") failed++;
    }
  };
  for (let turn = 0; turn < turns; turn++) {
    look(talk.ask("What is it about, and why? ".repeat(2)));
    for (let out = talk.out(); out.length > 0; out = talk.out()) {
      const summary = out.find((effect) => effect.type === "callLlm" && effect.purpose === "summary");
      const effectId = (summary ?? out[0])?.id ?? "";
      const content = summary === undefined ? "An answer of some length, it is. ".repeat(2) : "They talked.";
      look(talk.tell({ type: "llm.completed", effectId, reply: { content }, finishReason: "stop" }));
    }
  }
  return { failed, asked };
};

const policies: readonly (readonly [string, Policy])[] = [
  ["compactTurns", compactTurns()],
  ["compactTurns of one turn", compactTurns({ keepTurns: 1, at: 0.5 })],
  ["summariseTurns", summariseTurns()],
  ["summariseTurns of five", summariseTurns({ maxTurns: 5 })],
];

describe("a request for a summary that does not fit", () => {
  test.each(policies)("is reported once if none ever fits, and made when there is room: %s", (_, policy) => {
    const talk = new CheckedTalk({ policy, ...roomOf(150) });
    expect(goOn(talk, 15)).toEqual({ failed: 1, asked: 0 });
    talk.replays();
    const wide = talk.under({ policy, ...roomOf(400) });
    expect(goOn(wide, 3)).toMatchObject({ failed: 0, asked: expect.toSatisfy((asked: number) => asked > 0) });
  });

  test.each(policies)("is reported ever more rarely if a shorter turn might fit: %s", (_, policy) => {
    const talk = new Talk(conversationMachine({ policy, ...roomOf(200) }));
    const first = goOn(talk, 50);
    const later = goOn(talk, 50);
    expect(first.asked + later.asked).toBe(0);
    expect(first.failed).toBeLessThanOrEqual(26);
    expect(later.failed).toBeLessThanOrEqual(6);
  });

  // Wants a summary of each turn, whatever failed before.
  const eachTurn = (requestTokens: number): Policy => {
    const next: Summariser["next"] = ({ history }) => {
      const [turn] = history.newestFirst();
      return turn === undefined ? null : { covers: { from: turn.number, to: turn.number }, earlier: null };
    };
    const summariser = { instruction: "Sum it up.", model: {}, maxTokens: 100, requestTokens, next };
    return { ...keepAll(), name: "newest", summariser };
  };

  /** Returns the turns after which a failure is reported. */
  const failuresIn = (requestTokens: number, turns: number): readonly number[] => {
    const talk = new Talk(conversationMachine({ policy: eachTurn(requestTokens), counter: characterCounter }));
    return Array.from({ length: turns }, (_, index) => (goOn(talk, 1).failed > 0 ? [index + 1] : [])).flat();
  };

  test("is tried freely four times, and then again after as many turns as it has failed", () => {
    expect(failuresIn(120, 40)).toEqual([1, 2, 3, 6, 11, 17, 24, 32]);
  });

  test("is tried freely if there is just room for the instruction, and once in 256 turns if there is not", () => {
    const instruction = countPrompt(characterCounter, leastRequest("Sum it up."));
    expect(failuresIn(instruction, 4)).toEqual([1, 2, 3]);
    expect(failuresIn(instruction - 1, 260)).toEqual([1, 257]);
  });

  test("leaves out earlier turns that are only context", () => {
    const talk = new CheckedTalk({ policy: summariseTurns(), ...roomOf(300) });
    expect(goOn(talk, 20)).toEqual({ failed: 0, asked: 20 });
    expect(talk.entries.at(-2)).toMatchObject({ decided: { summary: { earlier: null, characters: 100 } } });
  });
});

describe("the calibration", () => {
  // One token fills a quarter of the room, the least share that is measured; four reported ones are the most.
  const measured = (inputTokens = 4): CheckedTalk => {
    const talk = new CheckedTalk(within(4));
    talk.ask("x");
    talk.reply("y", { usage: { inputTokens } });
    return talk;
  };

  test("is by any prompt that fills a quarter of the room, up to four times the counted size", () => {
    const talk = measured();
    talk.ask("z");
    expect(talk.isCalling()).toBe(false);
    expect(talk.signals()).toContainEqual({
      type: "context.unfit",
      turn: 2,
      unfit: { tokens: 3, available: 1, budget: 4, reserve: 0, fixed: 1, largest: { message: "2.0", tokens: 1 } },
    });
  });

  test("ignores a report of more than that", () => {
    const talk = measured(5);
    talk.ask("z");
    expect(talk.sent()).toEqual(["x", "y", "z"]);
  });

  test("is forgotten when a redaction takes out the words that were measured", () => {
    const talk = measured();
    talk.tell({ type: "thread.redacted", seqs: [1] });
    expect(promptOf(talk.machine, talk.state)).toMatchObject({ available: 4 });
  });

  test("of another machine is ignored by one that does not calibrate", () => {
    const { state } = measured();
    expect(promptOf(conversationMachine(within(4)), state)).toMatchObject({ available: 1, fits: false });
    expect(promptOf(conversationMachine(within(4, 0, { calibrate: false })), state)).toMatchObject({
      available: 4,
      fits: true,
    });
  });
});

// A window shows as many messages of a long thread, whose turns are stored in runs, as of a short one.

test("a window of a long thread shows as many messages as fit, each answer with its question", () => {
  const talk = new Talk(conversationMachine());
  for (let turn = 1; turn <= 100; turn++) {
    talk.ask(`question ${turn}`.padEnd(40, "."));
    talk.reply(`answer ${turn}`.padEnd(60, "."));
  }
  const all = messagesOf(talk.state);
  const sizes = Array.from({ length: 100 }, (_, turns) => countPrompt(characterCounter, all.slice(200 - 2 * turns)));
  for (const turns of [1, 3, 4, 5, 31, 32, 33, 35, 36, 37, 40, 64, 67, 68, 69, 70, 99]) {
    for (const [tokens, shown] of [
      [sizes[turns] ?? 0, 2 * turns],
      [(sizes[turns] ?? 0) + 1, 2 * turns],
      [(sizes[turns] ?? 0) - 1, 2 * turns - 2],
    ] as const) {
      const machine = conversationMachine({ policy: tokenWindow({ tokens }), counter: characterCounter });
      expect(promptOf(machine, talk.state).messages).toHaveLength(shown);
    }
  }
});

describe("a prompt that a server found too long", () => {
  // Leaves out all closed turns if there is little room.
  const shortening: Policy = {
    ...keepAll(),
    decide: ({ available, history }) => {
      const [newest] = history.newestFirst();
      if (available === null || available > 8 || newest === undefined) return { from: null, reason: "there is room" };
      return { from: { turn: newest.number + 1, unit: 0 }, pressed: true, reason: "there is little room" };
    },
  };

  const tooLong = (options: MachineOptions, input: string | [] = "Two"): CheckedTalk => {
    const talk = new CheckedTalk({ policy: shortening, counter: characterCounter, ...options });
    talk.say("One..", "1....");
    talk.tell({ type: "ask.received", askId: "second", input });
    talk.fail({ kind: "context_length" });
    return talk;
  };

  test("is sent again without the closed turns", () => {
    const talk = tooLong({});
    talk.fire("retry");
    expect(talk.sent()).toEqual(["Two"]);
  });

  test("is not sent again if the ask itself says nothing, and so nothing would be left", () => {
    expect(lastTurnOf(tooLong({}, []).state)).toMatchObject({ number: 2, outcome: { status: "failed" } });
  });

  test("is not sent a third time in the same turn, even if the policy could leave out more", () => {
    // Leaves out one turn more for each halving of the room.
    const patient: Policy = {
      ...shortening,
      decide: ({ available }) => {
        if (available === null) return { from: null, reason: "there is room" };
        return { from: { turn: available > 10 ? 2 : 3, unit: 0 }, pressed: true, reason: "there is little room" };
      },
    };
    const talk = new CheckedTalk({ policy: patient, counter: characterCounter });
    talk.say("One..", "1....");
    talk.say("Two..", "2....");
    talk.ask("Three");
    talk.fail({ kind: "context_length" });
    talk.fire("retry");
    expect(talk.sent()).toEqual(["Two..", "2....", "Three"]);
    talk.fail({ kind: "context_length" });
    expect(lastTurnOf(talk.state)).toMatchObject({ number: 3, outcome: { status: "failed" } });
  });

  test("is not sent again if it can't be counted", () => {
    const counter: Counter = { ...characterCounter, countPrompt: () => never("no") };
    expect(lastTurnOf(tooLong({ counter }).state)).toMatchObject({ number: 2, outcome: { status: "failed" } });
  });

  test("leaves the server to decide about one that exceeds only the room that was learned", () => {
    const talk = tooLong({ budget: { tokens: 20, reserve: 0 }, calibrate: false });
    talk.fire("retry");
    talk.reply("2");
    for (const [tokens, isSent] of [
      [20, true],
      [21, false],
    ] as const) {
      talk.ask("x".repeat(tokens));
      expect(talk.isCalling()).toBe(isSent);
      if (isSent) talk.reply("y");
    }
  });
});

describe("a prompt that exceeds the budget", () => {
  test("is described with 0 for what can't be counted alone", () => {
    const counter: Counter = {
      ...characterCounter,
      countPart: () => never("no"),
      countPrompt: (messages) => (messages.length === 1 ? never("one") : 20),
    };
    const talk = new CheckedTalk(within(10, 0, { counter }));
    talk.say("One", "1");
    talk.ask("Two");
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({
      unfit: { tokens: 20, available: 10, fixed: 0, largest: { message: "2.0", tokens: 0 } },
    });
  });

  test("is described with the first of its largest messages", () => {
    const talk = new CheckedTalk(within(5));
    const input = ["one", "three", "seven"].map((content) => ({ role: "user", content }) as const);
    talk.tell({ type: "ask.received", askId: "three", input });
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ unfit: { largest: { message: "1.1", tokens: 5 } } });
  });

  test("is shown as the next call would be: a policy without a summariser isn't told to do without", () => {
    const policy: Policy = {
      ...keepAll(),
      name: "told",
      decide: ({ withoutSummary }) => ({ from: withoutSummary ? { turn: 2, unit: 0 } : null, reason: "as it is told" }),
    };
    const talk = new CheckedTalk(within(100));
    talk.say("x".repeat(10), "y".repeat(10));
    expect(promptOf(conversationMachine(within(15, 0, { policy })), talk.state)).toMatchObject({
      fits: false,
      tokens: 20,
    });
  });
});

test("an ask that says nothing itself shows all of the thread if its policy shows nothing, unless a message waits", () => {
  const hiding: Policy = {
    ...keepAll(),
    name: "hiding",
    decide: ({ history }) => {
      const [newest] = history.newestFirst();
      return { from: newest === undefined ? null : { turn: newest.number + 1, unit: 0 }, reason: "the past is past" };
    },
  };
  for (const [waiting, sent] of [
    [[], ["One", "1"]],
    [["Two"], ["Two"]],
  ] as const) {
    const talk = new CheckedTalk({ policy: hiding });
    talk.say("One", "1");
    for (const content of waiting) talk.tell({ type: "message.appended", message: { role: "user", content } });
    talk.tell({ type: "ask.received", askId: "nothing", input: [] });
    expect(talk.sent()).toEqual(sent);
  }
});

test("a turn that ends at once, because its prompt does not fit, starts no timer for its deadline", () => {
  const talk = new CheckedTalk(within(5, 0, { limits: { deadlineMs: 1_000 } }));
  talk.ask("x".repeat(6));
  expect(talk.told()).not.toContain("startTimer");
});

test("a prompt that can't be counted leaves the warning of the last one as it was", () => {
  let isBroken = false;
  const countPrompt: Counter["countPrompt"] = () => (isBroken ? never("no") : 9);
  const talk = new CheckedTalk(within(10, 0, { counter: { ...characterCounter, countPrompt } }));
  talk.ask("One");
  talk.reply("1");
  isBroken = true;
  talk.ask("Two");
  expect(talk.signals().filter(({ type }) => type === "context.warning")).toEqual([]);
  expect(talk.state.context.fullness).toBe("approaching_limit");
});
