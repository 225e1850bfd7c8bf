import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  messagesOf,
  promptOf,
  type SeedDraft,
  start,
  type State,
  textOf,
  toolCallsOf,
  toolResultOf,
} from "../../src/index.ts";
import { checkPrompt, lastMessages, lastTurns, type Policy, tokenWindow } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter, rolling } from "../hand-made.ts";
import { calling } from "../talk.ts";

// Repeats claims of Jido AI, and mistakes of it and others, about leaving messages out of prompts. If this machine
// answers otherwise, the test's name says so.

const pair = (asked: string, answered: string): readonly SeedDraft[] => [
  { role: "user", content: asked },
  { role: "assistant", content: answered },
];

const shownOf = (policy: Policy, seed: readonly SeedDraft[], system?: string): readonly string[] => {
  const machine = conversationMachine({ policy });
  const { state } = start(machine, { threadId: "t", at: 0, seed, ...(system === undefined ? {} : { system }) });
  return promptOf(machine, state).messages.map(textOf);
};

describe("Jido's pruning", () => {
  test("21: usage adds up over turns, what summaries cost included (Jido loses that of the turns before)", () => {
    const talk = new CheckedTalk({ policy: rolling({ keep: 0 }) });
    talk.ask("One");
    talk.reply("1", { usage: { inputTokens: 50, outputTokens: 25 } });
    talk.summarise("They count.", { usage: { inputTokens: 40, outputTokens: 5 } });
    talk.ask("Two");
    talk.reply("2", { usage: { inputTokens: 10, outputTokens: 5 } });
    expect(talk.state.context.usage).toMatchObject({
      total: { inputTokens: { sum: 100 }, outputTokens: { sum: 35 } },
      betweenTurns: { inputTokens: { sum: 40 }, outputTokens: { sum: 5 } },
    });
  });

  const rounds = Array.from({ length: 17 }, (_, index): readonly SeedDraft[] => [
    { role: "user", content: `question ${index}` },
    { role: "assistant", toolCalls: [{ id: "call_0", name: "search", arguments: "{}" }] },
    { role: "tool", toolCallId: "call_0", content: `found ${index}` },
  ]).flat();

  test("22: of 51 messages, with 50 allowed and 10 kept, where the tenth is a result: its round is left out whole", () => {
    const machine = conversationMachine({ policy: lastMessages() });
    const { state } = start(machine, { threadId: "t", at: 0, system: "You are helpful.", seed: rounds });
    expect(messagesOf(state)).toHaveLength(51);
    const { messages } = promptOf(machine, state);
    expect(messages).toHaveLength(1 + 9);
    expect(messages.slice(0, 2).map(textOf)).toEqual(["You are helpful.", "question 14"]);
    expect(checkPrompt(messages)).toBeNull();
  });

  test.each([50, 10, 5, 1, 0])(
    "22: with %i of them allowed and any number kept, no call is without its result",
    (max) => {
      for (let keepRecent = 0; keepRecent <= max; keepRecent++) {
        const machine = conversationMachine({ policy: lastMessages({ max, keepRecent }) });
        const { state } = start(machine, { threadId: "t", at: 0, seed: rounds });
        const { messages } = promptOf(machine, state);
        expect(messages.length).toBeLessThanOrEqual(keepRecent);
        expect(messages.length).toBeGreaterThan(keepRecent - 3);
        expect(messages.length === 0 ? null : checkPrompt(messages)).toBeNull();
      }
    },
  );

  test("23: of a prompt and four messages a limit of 2 shows the prompt and the last two, 0 the prompt, and nothing without one", () => {
    const seed = [...pair("First", "Reply 1"), ...pair("Second", "Reply 2")];
    const limit = (max: number): Policy => lastMessages({ max, keepRecent: max });
    expect(shownOf(limit(2), seed, "Be brief.")).toEqual(["Be brief.", "Second", "Reply 2"]);
    expect(shownOf(limit(0), seed, "Be brief.")).toEqual(["Be brief."]);
    expect(shownOf(limit(0), seed)).toEqual([]);
  });

  test("24: a thread of seven messages, tools among them, is shown as it was said", () => {
    const talk = new CheckedTalk({ tools: [{ name: "search" }], policy: lastMessages() });
    talk.ask("One");
    talk.reply(calling("search", "search"));
    talk.result(1, "second");
    talk.result(0, "first");
    talk.reply("Done.");
    talk.ask("Two");
    talk.reply("Done.");
    const { messages } = promptOf(talk.machine, talk.state);
    expect(messages).toEqual(messagesOf(talk.state));
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "user",
      "assistant",
    ]);
  });

  test("25: the second question is asked with the first and its answer", () => {
    const talk = new CheckedTalk({ policy: lastMessages() });
    talk.say("Q1", "A1");
    talk.ask("Q2");
    const by = (role: string) =>
      talk
        .call()
        .messages.filter((message) => message.role === role)
        .map(textOf);
    expect({ users: by("user"), assistants: by("assistant") }).toEqual({ users: ["Q1", "Q2"], assistants: ["A1"] });
  });
});

describe("two defects of others, which are none here", () => {
  const narrow: readonly Policy[] = [
    lastTurns(0),
    lastTurns(1),
    lastMessages({ max: 1, keepRecent: 1 }),
    lastMessages({ max: 0 }),
    tokenWindow({ tokens: 1 }),
    { ...rolling(), name: "drops-all", decide: dropsEverything },
  ];

  const namesCalledAndAnswered = (machine: CheckedTalk["machine"], state: State): readonly string[] => {
    const { messages } = promptOf(machine, state);
    expect(checkPrompt(messages)).toBeNull();
    return messages.flatMap((message) => [
      ...toolCallsOf(message).map(({ callId }) => `call ${callId}`),
      ...(toolResultOf(message) === undefined
        ? []
        : [`${toolResultOf(message)?.outcome} ${toolResultOf(message)?.callId}`]),
    ]);
  };

  test.each(narrow)(
    "pruning while a tool call is pending keeps it and its result together (AI SDK drops the call): $name",
    (policy) => {
      const talk = new CheckedTalk({ policy, tools: [{ name: "delete" }, { name: "search" }] });
      talk.say("before", "before!");
      talk.ask("Delete it.");
      talk.reply(calling("delete", "search"));
      talk.tell({ type: "tool.started", effectId: "t/2.1.0#1" });
      // It waits for somebody's approval: what is shown of it meanwhile has a result that says so.
      expect(namesCalledAndAnswered(talk.machine, talk.state)).toEqual([
        "call 2.1.0",
        "call 2.1.1",
        "interrupted 2.1.0",
        "interrupted 2.1.1",
      ]);
      talk.result(1, "found");
      expect(namesCalledAndAnswered(talk.machine, talk.state)).toEqual([
        "call 2.1.0",
        "call 2.1.1",
        "interrupted 2.1.0",
        "completed 2.1.1",
      ]);
      talk.result(0, "deleted");
      expect(talk.call().messages.slice(-3).map(textOf)).toEqual(["", "deleted", "found"]);
      expect(checkPrompt(talk.call().messages)).toBeNull();
    },
  );

  test.each(narrow)(
    "a pending call whose turn was cancelled is left out with its result, or shown with it: $name",
    (policy) => {
      const talk = new CheckedTalk({ policy, tools: [{ name: "delete" }] });
      talk.ask("Delete it.");
      talk.reply(calling("delete"));
      talk.tell({ type: "cancel.requested" });
      expect(talk.refused({ type: "tool.completed", effectId: "t/1.1.0#1", content: "deleted" }).kind).toBe("stale");
      talk.ask("And?");
      const { messages } = talk.call();
      expect(checkPrompt(messages)).toBeNull();
      expect(messages.filter((message) => toolCallsOf(message).length > 0)).toHaveLength(
        messages.filter((message) => toolResultOf(message) !== undefined).length,
      );
    },
  );

  test("a summary that fails destroys nothing, and what the failure says is no summary (LangChain's middleware replaces the history with it)", () => {
    const budget = { tokens: 60, reserve: 0 };
    const policy = rolling({ keep: 0, when: "full" });
    const talk = new CheckedTalk({ policy, counter: characterCounter, budget });
    talk.say("My name is Ada.", "Hello Ada, nice to meet you.");
    const said = messagesOf(talk.state);
    talk.ask("What is my name, please?");
    talk.failSummary("Error generating summary: overloaded");
    expect(messagesOf(talk.state).slice(0, 2)).toEqual(said);
    const larger = talk.under({ policy });
    larger.tell({ type: "head.moved", to: 1 });
    larger.ask("What is my name?");
    expect(larger.sent()).toEqual(["My name is Ada.", "Hello Ada, nice to meet you.", "What is my name?"]);
    expect(JSON.stringify(larger.state)).not.toContain("Error generating summary");
  });

  test("what looks like a pattern of replacement comes through word for word, into the request and out of the summary", () => {
    const odd = "costs $& or $' or $` or $1 or $$ or {messages}";
    const talk = new CheckedTalk({ policy: rolling({ keep: 0 }), tools: [{ name: "search" }] });
    talk.ask(odd);
    talk.reply({ toolCalls: [{ id: "a", name: "search", arguments: JSON.stringify(odd) }] });
    talk.result(0, odd);
    talk.reply(odd);
    const request = textOf(talk.summary().messages[1] ?? never());
    expect(request).toBe(
      `Earlier summaries:\nNo prior conversation context.\n\nTurn 1\nInput:\n${odd}\nOutput:\n${odd}\nTool use:\nsearch(${JSON.stringify(odd)})\n-> search (completed): ${odd}`,
    );
    talk.summarise(odd);
    talk.say("And?", "Yes.");
    expect(textOf(talk.summary().messages[1] ?? never())).toContain(`Earlier summaries:\n[Turn 1] ${odd}\n`);
    talk.ask("So?");
    expect(talk.sent()[0]).toBe(`Earlier in this conversation:\n[Turn 1] ${odd}`);
  });
});

function dropsEverything({ history }: Parameters<Policy["decide"]>[0]) {
  const units = [...history.newestFirst()].flatMap((turn) => turn.units());
  return { from: null, dropped: [...units, ...history.fixed()].map(({ id }) => id), reason: "all" };
}

function never(): never {
  throw new Error("no message");
}
