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

describe("the request for a summary", () => {
  test("of no seed says nothing of it", () => {
    const talk = new CheckedTalk({}, {});
    talk.say("One?", "One.");
    expect(readBy(talk, {})).not.toContain("Before turn 1");
  });

  test.each([
    [{ from: 0, to: 0 }, ["Before turn 1"]],
    [{ from: 0, to: 1 }, ["Before turn 1", "Turn 1"]],
    [{ from: 1, to: 2 }, ["Turn 1", "Turn 2"]],
  ])("of %j shows these turns, and the seed if that is covered", (covers, titles) => {
    const text = readBy(talkOf(["One?", "One."], ["Two?", "Two."]), { covers });
    expect(text.match(/^(?:Before turn|Turn) \d$/gmu)).toEqual(titles);
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
