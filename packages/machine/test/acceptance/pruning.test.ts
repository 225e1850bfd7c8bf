import { describe, expect, test } from "vitest";
import { messagesOf, promptOf, type State, textOf, toolCallsOf, toolResultOf } from "../../src/index.ts";
import { checkPrompt, lastMessages, lastTurns, type Policy, tokenWindow } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter, rolling } from "../hand-made.ts";
import { calling } from "../talk.ts";

// Repeats mistakes of other libraries that leave messages out of prompts. A test's name says if this machine differs.

describe("two defects of other libraries that this machine does not have", () => {
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
      // The call waits for approval, so its result in a prompt says so.
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

  test("a failed summary destroys nothing, and its error is not a summary (LangChain's middleware replaces the history with it)", () => {
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

  test("text like a replacement pattern stays unchanged, into the request and out of the summary", () => {
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
