import { describe, expect, test } from "vitest";
import { lastTurnOf, type ReplyDraft, turnNumbered } from "../../src/index.ts";
import { type Policy } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { rolling } from "../hand-made.ts";
import { calling } from "../talk.ts";

// A summary is background work: it costs nobody the answer, and whatever becomes of it, the thread keeps what was said.

const talking = (policy: Policy, ...texts: readonly string[]): CheckedTalk => {
  const talk = new CheckedTalk({ policy, tools: [{ name: "search" }] });
  for (const text of texts) talk.say(text, `${text}!`);
  return talk;
};

/** Shows all closed turns as lines, with a summary or without. */
const asLines: Policy = {
  ...rolling({ keep: 0 }),
  name: "as-lines",
  decide: ({ history }) => {
    const turns = [...history.newestFirst()];
    const to = turns[0]?.number;
    if (to === undefined) return { from: null, reason: "there are none" };
    return {
      from: { turn: to + 1, unit: 0 },
      summarised: { from: turns.at(-1)?.number ?? to, to },
      reason: "lines",
    };
  },
};

describe("a summary", () => {
  test("is asked for after the answer has come, with its own instruction and model, and of no turn's step", () => {
    const talk = talking(rolling(), "One");
    talk.ask("Two");
    talk.reply("Two!");
    expect(talk.told()).toEqual(["turn.ended", "thread.updated", "summary.started", "callLlm"]);
    expect(talk.state.value).toBe("completed");
    const { messages, ...call } = talk.summary();
    expect(call).toMatchObject({
      id: "t/summary-1#1",
      purpose: "summary",
      turn: 0,
      step: 0,
      attempt: 1,
      model: { name: "small" },
    });
    expect(messages.map(({ role, parts }) => ({ role, parts }))).toEqual([
      { role: "system", parts: [{ type: "text", text: "Sum it up." }] },
      {
        role: "user",
        parts: [
          {
            type: "text",
            text: "Earlier summaries:\nNo prior conversation context.\n\nTurn 1\nInput:\nOne\nOutput:\nOne!\nTool use:\nNone",
          },
        ],
      },
    ]);
  });

  test("stands in the place of its turns in the next prompt, and the thread keeps them", () => {
    const talk = talking(rolling(), "One", "Two");
    talk.summarise(" They counted. ");
    expect(talk.signals()).toEqual([{ type: "summary.completed", number: 1, covers: { from: 1, to: 1 } }]);
    talk.ask("Three");
    expect(talk.sent()).toEqual(["Earlier in this conversation:\n[Turn 1] They counted.", "Two", "Two!", "Three"]);
    expect(turnNumbered(talk.state, 1)).toMatchObject({
      messages: { length: 2 },
      summaries: [{ number: 1, from: 1, text: "They counted." }],
    });
    talk.replays();
  });

  test("of a turn with tools shows the model what they were asked and what they said", () => {
    const talk = talking(rolling({ keep: 0 }));
    talk.ask("Where?");
    talk.reply({ content: "Let me look.", ...calling("search") });
    talk.result(0, "in Paris");
    talk.reply("Paris.");
    const [, asked] = talk.summary().messages;
    expect(asked?.parts).toEqual([
      {
        type: "text",
        text: "Earlier summaries:\nNo prior conversation context.\n\nTurn 1\nInput:\nWhere?\nOutput:\nLet me look.\nParis.\nTool use:\nsearch({})\n-> search (completed): in Paris",
      },
    ]);
  });

  test.each<readonly [string, (talk: CheckedTalk) => void]>([
    ["responding", (talk) => talk.ask("Two")],
    ["backing_off", (talk) => (talk.ask("Two"), talk.fail({ retryable: true }))],
    ["running", (talk) => (talk.ask("Two"), talk.reply(calling("search", "search")), talk.result(1, "found"))],
    ["completed", () => {}],
    ["error", (talk) => (talk.ask("Two"), talk.tell({ type: "cancel.requested" }))],
  ])("that comes in %s is kept, and changes nothing of what is out", (_, arrive) => {
    const talk = talking(rolling({ keep: 0 }), "One");
    arrive(talk);
    const { value } = talk.state;
    const others = talk.out().filter(({ id }) => id !== "t/summary-1#1");
    talk.summarise("S1");
    expect(talk.state.value).toEqual(value);
    expect(talk.out().filter(({ id }) => id !== "t/summary-2#1")).toEqual(others);
    expect(turnNumbered(talk.state, 1)?.summaries).toEqual([{ number: 1, from: 1, text: "S1" }]);
    talk.replays();
  });

  test("that comes while a call is out is in the next prompt, and not in that of the call, line for line", () => {
    const talk = talking(asLines, "One");
    talk.ask("Two");
    const before = talk.call();
    expect(talk.sent()).toEqual(["Earlier in this conversation:\n[Turn 1] Asked: One Answered: One!", "Two"]);
    talk.summarise("S1");
    expect(talk.call()).toEqual(before);
    talk.reply(calling("search"));
    talk.result(0, "found");
    expect(talk.sent()).toEqual(["Earlier in this conversation:\n[Turn 1] S1", "Two", "", "found"]);
    talk.replays();
  });

  test("of summaries keeps the numbers of the turns, also where some are off the path", () => {
    const talk = talking(rolling({ keep: 0 }), "One");
    talk.summarise("S1");
    talk.say("Two", "Two!");
    talk.tell({ type: "head.moved", to: 1 });
    talk.say("Three", "Three!");
    const [, request] = talk.summary().messages;
    expect(request?.parts).toEqual([
      {
        type: "text",
        text: "Earlier summaries:\n[Turn 1] S1\n\nTurn 3\nInput:\nThree\nOutput:\nThree!\nTool use:\nNone",
      },
    ]);
    talk.summarise("S2");
    talk.say("Four", "Four!");
    expect(talk.summary().messages.at(-1)?.parts).toMatchObject([
      { text: expect.stringContaining("Earlier summaries:\n[Turns 1 to 3] S2\n\nTurn 4\n") },
    ]);
    talk.summarise("S3");
    talk.ask("Five");
    expect(talk.sent()).toEqual(["Earlier in this conversation:\n[Turns 1 to 4] S3", "Five"]);
  });

  test("holds wherever its last turn is on the path: undone with it, and there again when it is", () => {
    const talk = talking(rolling({ keep: 0 }), "One");
    talk.summarise("S1");
    talk.tell({ type: "head.moved", to: 0 });
    talk.say("Two", "Two!");
    expect(talk.summary().messages.at(-1)?.parts).toMatchObject([
      { text: expect.stringContaining("Earlier summaries:\nNo prior conversation context.\n\nTurn 2\n") },
    ]);
    talk.tell({ type: "head.moved", to: 1 });
    talk.ask("Three");
    expect(talk.sent()).toEqual(["Earlier in this conversation:\n[Turn 1] S1", "Three"]);
  });
});

describe("one summary at a time", () => {
  test("is written, and the next one asked for when it has come", () => {
    const talk = talking(rolling({ keep: 0 }), "One", "Two", "Three");
    expect(talk.summary().id).toBe("t/summary-1#1");
    talk.summarise("S1");
    expect(talk.told()).toEqual(["summary.completed", "summary.started", "callLlm"]);
    expect(talk.signals()).toContainEqual({ type: "summary.started", number: 2, covers: { from: 1, to: 3 } });
    talk.summarise("S2");
    expect(talk.isSummarising()).toBe(false);
  });

  test("after a failure none is asked for until the next turn, and what fails again and again is for the policy to give up", () => {
    const talk = talking(rolling({ keep: 0, failures: 2 }), "One");
    talk.failSummary();
    expect(talk.isSummarising()).toBe(false);
    talk.ask("Two");
    expect(talk.summary().id).toBe("t/summary-2#1");
    talk.failSummary();
    expect(turnNumbered(talk.state, 1)?.summaryFailures).toBe(2);
    talk.reply("Two!");
    expect(talk.signals()).toContainEqual({ type: "summary.started", number: 3, covers: { from: 1, to: 2 } });
  });
});

describe("a summary that can't be used", () => {
  const broken: readonly (readonly [string, ReplyDraft, string | null, string])[] = [
    ["empty", { content: "" }, "stop", "the summary is empty"],
    ["blank", { content: " \n" }, "stop", "the summary is empty"],
    ["thinking alone", { content: [{ type: "reasoning", text: "Hm." }] }, "stop", "the summary is empty"],
    ["cut off", { content: "They" }, "length", "cut off"],
    ["oversized", { content: "word ".repeat(200) }, "stop", "and 10 are allowed"],
    ["asking for tools", { content: "S", ...calling("search") }, "tool_calls", "asked for tools"],
  ];

  test.each(broken)("is reported and changes nothing: %s", (_, reply, finishReason, reason) => {
    const talk = talking(rolling({ keep: 0, maxTokens: 10 }), "One");
    const { conversation } = talk.state.context;
    const turn = lastTurnOf(talk.state);
    talk.summarise("", { reply, finishReason });
    expect(talk.signals()).toEqual([
      { type: "summary.failed", number: 1, covers: { from: 1, to: 1 }, reason: expect.stringContaining(reason) },
    ]);
    expect(lastTurnOf(talk.state)).toEqual({ ...turn, summaryFailures: 1 });
    expect({ ...talk.state.context.conversation, turns: null }).toEqual({ ...conversation, turns: null });
    talk.ask("Two");
    expect(talk.sent()).toEqual(["One", "One!", "Two"]);
    talk.replays();
  });

  test("is one whose call failed: what the failure says is for observers, and in no prompt", () => {
    const talk = talking(rolling({ keep: 0 }), "One");
    talk.failSummary("Error generating summary: 529");
    expect(talk.signals()).toMatchObject([{ type: "summary.failed", reason: "Error generating summary: 529" }]);
    talk.ask("Two");
    expect(talk.sent()).toEqual(["One", "One!", "Two"]);
    expect(
      talk
        .summary()
        .messages.flatMap(({ parts }) => JSON.stringify(parts))
        .join("\n"),
    ).not.toContain("529");
  });

  test.each<readonly [string, (talk: CheckedTalk) => string]>([
    ["told twice", (talk) => (talk.summarise("S1"), "t/summary-1#1")],
    ["of a number that is not out yet", () => "t/summary-2#1"],
    ["of another thread", () => "u/summary-1#1"],
    ["of another attempt", () => "t/summary-1#2"],
  ])("is one that is not awaited: %s", (_, prepare) => {
    const talk = talking(rolling({ keep: 0 }), "One");
    const effectId = prepare(talk);
    const late = { effectId, reply: { content: "late" }, finishReason: "stop" };
    expect(talk.refused({ type: "llm.completed", ...late }).kind).toBe("stale");
    const failure = { kind: "timeout", message: "late", retryable: true } as const;
    expect(talk.refused({ type: "llm.failed", effectId, failure }).kind).toBe("stale");
  });

  test("has no progress", () => {
    const talk = talking(rolling({ keep: 0 }), "One");
    const { id } = talk.summary();
    expect(talk.refused({ type: "llm.progressed", effectId: id, partial: { content: "Th" } }).kind).toBe("invalid");
  });
});
