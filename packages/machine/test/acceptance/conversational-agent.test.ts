import { describe, expect, test } from "vitest";
import { conversationMachine, lastTurnOf, messagesOf, textOf, turnsOf } from "../../src/index.ts";
import { type Policy, summariseTurns, summaryLines } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { calling } from "../talk.ts";

// Repeats the behaviour of DSPy's ConversationalAgent, from its own tests and from running it. If this machine answers
// otherwise, the test's name says so. Checkpoints (51, 52) are of the thread, not of prompts; there is no hook that
// rewrites outputs (57).

const agent = (policy: Policy = summariseTurns()): CheckedTalk =>
  new CheckedTalk({ policy, tools: [{ name: "get_weather" }] });

/** Asks, has the answer, and then the summary of the turn. */
const turn = (talk: CheckedTalk, asked: string, summary: string): void => {
  talk.say(asked, `${asked}!`);
  talk.summarise(summary);
};

const requestOf = (talk: CheckedTalk): string => talk.summary().messages.map(textOf).at(-1) ?? "";

describe("ConversationalAgent", () => {
  test("48: without turns the context is exactly `No prior conversation context.` (told to the summariser; a prompt has no such line)", () => {
    const talk = agent();
    expect(summaryLines(talk.state.context.conversation, null)).toBe("No prior conversation context.");
    talk.ask("One");
    expect(talk.sent()).toEqual(["One"]);
    talk.reply("1");
    expect(requestOf(talk).startsWith("Earlier summaries:\nNo prior conversation context.\n")).toBe(true);
  });

  test("49: turns that are summarised stand one on a line, under their numbers", () => {
    const talk = agent();
    turn(talk, "One", "S1");
    turn(talk, "Two", "S2");
    const turns = { from: 1, to: 2, upTo: 2 };
    expect(summaryLines(talk.state.context.conversation, turns)).toBe("[Turn 1] S1\n[Turn 2] S2");
    talk.ask("Three");
    expect(talk.sent()).toEqual(["Earlier in this conversation:\n[Turn 1] S1\n[Turn 2] S2", "Three"]);
  });

  test("50: two turns are two, in both views, and after clearing none (nothing is removed: the head is at the beginning)", () => {
    const talk = agent();
    turn(talk, "One", "S1");
    turn(talk, "Two", "S2");
    expect(turnsOf(talk.state)).toHaveLength(2);
    expect(turnsOf(talk.state).flatMap(({ summaries }) => summaries ?? [])).toHaveLength(2);
    talk.tell({ type: "head.moved", to: 0 });
    expect(turnsOf(talk.state)).toEqual([]);
    talk.ask("Three");
    expect(talk.sent()).toEqual(["Three"]);
  });

  test("53: of three turns with two allowed the newest two are shown, as turns 2 and 3 (theirs begin at 1 again)", () => {
    const talk = agent(summariseTurns({ maxTurns: 2 }));
    for (const [asked, summary] of [
      ["One", "S1"],
      ["Two", "S2"],
      ["Three", "S3"],
    ] as const)
      turn(talk, asked, summary);
    talk.ask("Four");
    expect(talk.sent()).toEqual(["Earlier in this conversation:\n[Turn 2] S2\n[Turn 3] S3", "Four"]);
    expect(turnsOf(talk.state)).toHaveLength(3);
  });

  test("54: with none allowed none is shown, and none summarised (theirs keeps all)", () => {
    const talk = agent(summariseTurns({ maxTurns: 0 }));
    talk.say("One", "1");
    expect(talk.isSummarising()).toBe(false);
    talk.ask("Two");
    expect(talk.sent()).toEqual(["Two"]);
  });

  test("55: another level is refused, and both that there are named", () => {
    // @ts-expect-error it is none of the levels
    const medium = () => summariseTurns({ level: "medium" });
    expect(medium).toThrow(/medium.*(verbose.*concise|concise.*verbose)/su);
    expect(() => conversationMachine({ policy: summariseTurns({ level: "verbose" }) })).not.toThrow();
  });

  test("56: the summariser is told of the tools that were used, with what they were given and gave", () => {
    const talk = agent();
    talk.ask("Weather?");
    talk.reply({ toolCalls: [{ id: "a", name: "get_weather", arguments: '{"city":"Paris"}' }] });
    talk.result(0, "sunny");
    talk.reply("It is sunny.");
    expect(requestOf(talk)).toContain('Tool use:\nget_weather({"city":"Paris"})\n-> get_weather (completed): sunny');
  });

  test("56: and of none where none was", () => {
    const talk = agent();
    talk.say("Hello", "Hi.");
    expect(requestOf(talk)).toContain("Tool use:\nNone");
  });

  test("58: a summariser that fails costs neither the answer nor the turn, which is then shown as a line made by rule", () => {
    const talk = agent();
    talk.ask("Weather?");
    talk.reply(calling("get_weather"));
    talk.result(0, "sunny");
    talk.reply("It is sunny.");
    expect(talk.state.value).toBe("completed");
    talk.failSummary("Error: 529");
    expect(lastTurnOf(talk.state)?.outcome.status).toBe("completed");
    talk.ask("And?");
    expect(talk.sent()).toEqual(["Weather?", "", "sunny", "It is sunny.", "And?"]);
    talk.failSummary("Error: 529");
    talk.reply("That is all.");
    talk.summarise("S2");
    talk.ask("Thanks.");
    expect(talk.sent()).toEqual([
      "Earlier in this conversation:\n[Turn 1] Asked: Weather? Tools used: get_weather. Answered: It is sunny.\n[Turn 2] S2",
      "Thanks.",
    ]);
    expect(messagesOf(talk.state)).toHaveLength(7);
  });

  test("the summariser reads the summaries before (theirs never sees them)", () => {
    const talk = agent();
    turn(talk, "One", "S1");
    talk.say("Two", "2");
    expect(requestOf(talk)).toBe("Earlier summaries:\n[Turn 1] S1\n\nTurn 2\nInput:\nTwo\nOutput:\n2\nTool use:\nNone");
  });
});
