import { describe, expect, test } from "vitest";
import { conversationMachine, lastTurnOf, type Message, type ReplyDraft, toArray } from "../../src/index.ts";
import { calling, Talk } from "../talk.ts";

const talking = (): Talk => {
  const talk = new Talk(conversationMachine({ tools: [{ name: "search" }], limits: { deadlineMs: 1_000 } }));
  talk.ask("Go.");
  return talk;
};

/** Returns the messages of the turn beside the ask. */
const said = (talk: Talk): readonly Message[] => {
  const turn = lastTurnOf(talk.state);
  if (turn === undefined) throw new Error("no turn has ended");
  return toArray(turn.messages).slice(1);
};

const progress = (talk: Talk, partial: ReplyDraft, again = false) =>
  talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial, ...(again ? { again: true } : {}) });

describe("what was shown of a reply that ends early", () => {
  test.each<readonly [string, (talk: Talk) => void]>([
    ["a cancellation", (talk) => talk.tell({ type: "cancel.requested", partial: { content: "Once upon" } })],
    ["a failure", (talk) => talk.fail({}, { partial: { content: "Once upon" } })],
    [
      "a cancellation after it was journalled",
      (talk) => {
        progress(talk, { content: "Once " });
        progress(talk, { content: "upon" });
        talk.tell({ type: "cancel.requested" });
      },
    ],
    [
      "a failure after it was journalled",
      (talk) => {
        progress(talk, { content: "Once upon" });
        talk.fail();
      },
    ],
    [
      "a deadline after it was journalled",
      (talk) => {
        progress(talk, { content: "Once upon" });
        talk.fire("deadline");
      },
    ],
    [
      "a call that began anew",
      (talk) => {
        progress(talk, { content: "It was" });
        progress(talk, { content: "Once upon" }, true);
        talk.tell({ type: "cancel.requested" });
      },
    ],
    [
      "a cancellation that knows more than the journal",
      (talk) => {
        progress(talk, { content: "Once" });
        talk.tell({ type: "cancel.requested", partial: { content: "Once upon" } });
      },
    ],
  ])("is kept and marked after %s, as the turn's answer", (_, end) => {
    const talk = talking();
    end(talk);
    expect(said(talk)).toMatchObject([
      { id: "1.1", role: "assistant", incomplete: true, parts: [{ type: "text", text: "Once upon" }] },
    ]);
    expect(lastTurnOf(talk.state)?.answer).toBe("1.1");
  });

  test("holds no tool call, since it may not be whole", () => {
    const talk = talking();
    talk.tell({ type: "cancel.requested", partial: { content: "Let me", ...calling("search") } });
    expect(said(talk)).toMatchObject([{ parts: [{ type: "text", text: "Let me" }] }]);
  });

  test("is no message when it is nothing", () => {
    const talk = talking();
    talk.tell({ type: "cancel.requested", partial: { content: "", ...calling("search") } });
    expect(said(talk)).toEqual([]);
    expect(lastTurnOf(talk.state)?.answer).toBeUndefined();
  });

  test("is void when the call is made again, and when it is answered after all", () => {
    const talk = talking();
    progress(talk, { content: "Once" });
    talk.fail({ retryable: true }, { partial: { content: "Once" } });
    talk.fire("retry");
    talk.reply("There was.");
    expect(said(talk)).toMatchObject([{ role: "assistant", parts: [{ text: "There was." }] }]);
    expect(said(talk)[0]).not.toHaveProperty("incomplete");
  });

  test("costs what was reported, and what is not known counts as unreported", () => {
    const talk = talking();
    talk.tell({ type: "cancel.requested", usage: { inputTokens: 7 } });
    expect(lastTurnOf(talk.state)?.usage).toMatchObject({
      calls: 1,
      inputTokens: { sum: 7, reported: 1, unreported: 0 },
      outputTokens: { sum: 0, reported: 0, unreported: 1 },
    });
  });
});
