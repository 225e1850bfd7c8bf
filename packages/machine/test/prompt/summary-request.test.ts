import { describe, expect, test } from "vitest";
import { textOf } from "../../src/index.ts";
import { longestTranscriptText, summaryRequest } from "../../src/prompt/summary-request.ts";
import type { SummaryTask } from "../../src/prompt/policy.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { calling } from "../talk.ts";

// The exact input of the model that writes a summary.

const talkOf = (...said: readonly (readonly [string, string])[]): CheckedTalk => {
  const talk = new CheckedTalk({ tools: [{ name: "lookup" }] }, { seed: [{ role: "user", content: "Before." }] });
  for (const [asked, answered] of said) talk.say(asked, answered);
  return talk;
};

const readBy = (talk: CheckedTalk, task: Partial<SummaryTask>): string =>
  summaryRequest(
    talk.state.context.conversation,
    { covers: { from: 0, to: 1 }, earlier: null, ...task },
    "Summarise.",
    0,
  )
    .map(textOf)
    .join("\n---\n");

const turnText = (title: string, asked: string, answered: string): string =>
  `${title}\nInput:\n${asked}\nOutput:\n${answered}\nTool use:\nNone`;

describe("the request for a summary", () => {
  test("from the beginning has the seed, and then each turn", () => {
    const talk = talkOf(["One?", "One."], ["Two?", "Two."]);
    const text = readBy(talk, { covers: { from: 0, to: 2 } });
    expect(text.slice(text.indexOf("Before turn 1"))).toBe(
      [
        turnText("Before turn 1", "Before.", "None"),
        turnText("Turn 1", "One?", "One."),
        turnText("Turn 2", "Two?", "Two."),
      ].join("\n\n"),
    );
    expect(readBy(talk, { covers: { from: 0, to: 0 } })).toContain(turnText("Before turn 1", "Before.", "None"));
  });

  test("from a later turn on has nothing before it", () => {
    const talk = talkOf(["One?", "One."], ["Two?", "Two."]);
    expect(readBy(talk, { covers: { from: 1, to: 1 } })).not.toContain("Before");
    const second = readBy(talk, { covers: { from: 2, to: 2 } });
    expect(second).toContain(turnText("Turn 2", "Two?", "Two."));
    expect(second).not.toContain("One");
  });

  test("after an earlier summary has only later turns", () => {
    const talk = talkOf(["One?", "One."], ["Two?", "Two."]);
    const text = readBy(talk, { covers: { from: 0, to: 2 }, earlier: { from: 0, to: 1 } });
    expect(text).not.toContain("Before turn 1\nInput");
    expect(text).not.toContain("Turn 1\nInput");
    expect(text).toContain(turnText("Turn 2", "Two?", "Two."));
  });

  test("of no seed says nothing of it", () => {
    const talk = new CheckedTalk({}, {});
    talk.say("One?", "One.");
    expect(readBy(talk, {})).not.toContain("Before turn 1");
  });

  test("shows a long text by a head and a tail of the same length", () => {
    const long = `${"a".repeat(longestTranscriptText)}${"z".repeat(longestTranscriptText)}`;
    const half = longestTranscriptText / 2;
    expect(readBy(talkOf(["One?", long]), {})).toContain(
      `Output:\n${"a".repeat(half)}\n[…]\n${"z".repeat(half)}\nTool use`,
    );
    const whole = "b".repeat(longestTranscriptText);
    expect(readBy(talkOf(["One?", whole]), {})).toContain(`Output:\n${whole}\nTool use`);
    expect(readBy(talkOf(["One?", "0123456789"]), { characters: 4 })).toContain("Output:\n01\n[…]\n89\nTool use");
  });

  test("has the calls of a turn, their results, and its end", () => {
    const talk = talkOf();
    talk.ask("One?");
    talk.reply(calling("lookup", "lookup"));
    talk.result(0, "1");
    talk.tell({ type: "cancel.requested" });
    const text = readBy(talk, {});
    expect(text).toContain("Turn 1 (cancelled)\n");
    expect(text).toContain("Tool use:\nlookup({})\nlookup({})\n-> lookup (completed): 1\n-> lookup (interrupted): ");
    expect(readBy(talk, { interrupted: "omit" })).not.toContain("Turn 1");
  });
});
