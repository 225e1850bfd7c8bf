import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import {
  type ExpectedOutput,
  lastTurnOf,
  messagesOf,
  promptOf,
  type ReplyDraft,
  textOf,
  type Turn,
  turnNumbered,
} from "../../src/index.ts";
import { lostEventIn } from "../../src/hosting.ts";
import { comparePrompts } from "../../src/inspect.ts";
import { fold, forkOf } from "../../src/journal.ts";
import { lastTurns } from "../../src/policies.ts";
import { entriesToRedact, loadAll, redactEntry, StoredChunks, takeSnapshot } from "../../src/storage.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { SnapshotShelf } from "../snapshot/shelf.ts";
import { calling } from "../talk.ts";

const output: ExpectedOutput = { name: "title", schema: { type: "object" }, mode: "native", repairs: 2 };
const issues = [{ path: ["title"], message: "secret is too long" }];

const talkOf = (...given: ConstructorParameters<typeof CheckedTalk>): CheckedTalk => {
  const talk = new CheckedTalk(...given);
  return talk;
};

const askFor = (talk: CheckedTalk, askId = "a", wanted: ExpectedOutput = output) =>
  talk.tell({ type: "ask.received", askId, input: "A title?", output: wanted });
const checkOf = (talk: CheckedTalk) => {
  const check = talk.out().find((effect) => effect.type === "checkOutput");
  if (check?.type !== "checkOutput") throw new Error("no check is out");
  return check;
};
const refuse = (talk: CheckedTalk) => talk.tell({ type: "output.refused", effectId: checkOf(talk).id, issues });
const accept = (talk: CheckedTalk, value = "Autumn") =>
  talk.tell({ type: "output.accepted", effectId: checkOf(talk).id, value: { title: value } });
const turnOf = (talk: CheckedTalk, number = 1): Turn => {
  const turn = turnNumbered(talk.state, number);
  if (turn === undefined) throw new Error(`turn ${number} is not closed`);
  return turn;
};

/** Returns a thread with a refused answer and an accepted one. */
const repaired = (...given: ConstructorParameters<typeof CheckedTalk>): CheckedTalk => {
  const talk = talkOf(...given);
  askFor(talk);
  talk.reply('{"title":"secret"}');
  refuse(talk);
  talk.reply('{"title":"Autumn"}');
  accept(talk);
  return talk;
};

describe("the kept parts of an output", () => {
  test("a journal folds, forks and is read from a snapshot, also in the middle of a check", () => {
    const talk = repaired();
    askFor(talk, "b");
    talk.reply("{}");
    const shelf = new SnapshotShelf();
    shelf.save(takeSnapshot(talk.state, talk.entries.at(-1) ?? talk.beginning, new StoredChunks()));
    expect(loadAll(shelf.read().state)).toEqual(talk.state);
    const forked = forkOf(talk.entries, { threadId: "copy", turn: 1, at: 50 });
    const copy = Either.isRight(forked) ? forked.right.entries : [];
    const folded = fold(copy);
    expect(Either.isRight(folded) && turnNumbered(folded.right, 1)).toEqual(turnOf(talk));
    expect(lostEventIn(copy)).toBeNull();
  });

  test("its words, those of refused answers and those of their issues are redacted with the turn, or with the message", () => {
    const { entries } = repaired();
    for (const target of [{ turn: 1 }, { message: "1.1" }]) {
      const named = entriesToRedact(entries, target);
      const seqs: readonly number[] = Either.isRight(named) ? named.right : [];
      const redacted = entries.map((entry) => (seqs.includes(entry.seq) ? redactEntry(entry) : entry));
      expect(JSON.stringify(redacted)).not.toContain("secret");
      const folded = fold(redacted);
      expect(JSON.stringify(folded)).not.toContain("secret");
      expect(Either.isRight(folded) && turnNumbered(folded.right, 1)).toMatchObject({
        outcome: { status: "completed" },
        refusedOutputs: [{}],
      });
    }
    const answer = entriesToRedact(entries, { message: "1.3" });
    const types = Either.isRight(answer) ? answer.right.map((seq) => entries[seq]?.event.type) : [];
    expect(types).toEqual(["llm.completed", "output.accepted"]);
  });

  test("another configuration is compared step by step, the repairs among them", () => {
    const talk = repaired();
    talk.ask("And why?");
    const compared = comparePrompts([{ name: "one", entries: talk.entries }], talk.machine, { policy: lastTurns(0) });
    expect(compared.journals).toMatchObject([{ calls: 3, differing: 1, first: { turn: 2, step: 1, index: 0 } }]);
    expect(promptOf(talk.machine, talk.state).messages.map(textOf)).toEqual(talk.sent());
  });
});

// A model that was cut off may not have finished a call, so none of its calls runs.

const options = { tools: [{ name: "wipe" }, { name: "pay", approval: "always" as const }] };

const asked = (): CheckedTalk => {
  const talk = new CheckedTalk(options);
  talk.ask("Delete the folder.");
  return talk;
};

describe("a reply that was cut off", () => {
  test.each([
    "length",
    "content_filter",
    "content-filter",
    "max_tokens",
    "MAX_TOKENS",
    "incomplete",
    "model_length",
    "contentFilter",
    "sensitive",
    "network_error",
    "repetition_truncation",
    "context_window_exceeded",
    "timeout",
    "ERROR_TOXIC",
    "ERROR_LIMIT",
    "USER_CANCEL",
    "MALFORMED_RESPONSE",
    "TOO_MANY_TOOL_CALLS",
    "engine_overloaded",
  ])("runs no tool if its finish reason is %s, and the model reads why", (finishReason) => {
    const talk = asked();
    talk.reply(calling("wipe", "pay", "nobody's"), { finishReason });
    const results = talk.call().messages.slice(-3);
    expect(results.map(({ role }) => role)).toEqual(["tool", "tool", "tool"]);
    for (const result of results)
      expect(textOf(result)).toContain(`cut off before the call was complete (${finishReason})`);
    talk.reply("I will say it in parts.");
    expect(lastTurnOf(talk.state)?.outcome.status).toBe("completed");
    talk.replays();
  });
});

describe("the shown part of a reply", () => {
  const shown = (...pieces: readonly ReplyDraft[]): CheckedTalk => {
    const talk = asked();
    for (const partial of pieces) talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial });
    talk.tell({ type: "cancel.requested" });
    return talk;
  };

  test("joins adjacent texts of one kind, but no others, and none with fields of a provider", () => {
    const provider = { signature: "s" };
    const talk = shown(
      { content: "a" },
      { content: [{ type: "text", text: "b" }] },
      { content: [{ type: "reasoning", text: "c" }] },
      { content: [{ type: "reasoning", text: "d" }] },
      { content: [{ type: "text", text: "e", provider }] },
      { content: "f" },
      { content: "g" },
      { content: [{ type: "text", text: "h", provider }] },
      { content: [{ type: "data", field: "i", value: 1 }] },
      { content: "j" },
    );
    expect(messagesOf(talk.state).at(-1)).toMatchObject({
      incomplete: true,
      parts: [
        { type: "text", text: "ab" },
        { type: "reasoning", text: "cd" },
        { type: "text", text: "e", provider },
        { type: "text", text: "fg" },
        { type: "text", text: "h", provider },
        { type: "data", field: "i", value: 1 },
        { type: "text", text: "j" },
      ],
    });
  });

  test("is no message if nothing was shown, or only a call that may be incomplete", () => {
    for (const piece of [{ content: "" }, { content: [] }, calling("wipe")])
      expect(messagesOf(shown(piece).state).map(textOf)).toEqual(["Delete the folder."]);
  });
});

test("an answer of several parts that is truncated keeps the beginning of its text, and its other parts", () => {
  const data = { type: "data", field: "mood", value: "fine" } as const;
  const partsAt = (characters: number) => {
    const talk = asked();
    talk.reply({ content: [{ type: "text", text: "ab" }, data, { type: "text", text: "cd" }] });
    talk.tell({ type: "answer.truncated", turn: 1, characters });
    return messagesOf(talk.state).at(-1);
  };
  expect(partsAt(0)?.parts).toEqual([data]);
  expect(partsAt(1)?.parts).toEqual([{ type: "text", text: "a" }, data]);
  expect(partsAt(2)?.parts).toEqual([{ type: "text", text: "ab" }, data]);
  expect(partsAt(3)).toMatchObject({
    parts: [{ type: "text", text: "ab" }, data, { type: "text", text: "c" }],
    truncated: { characters: 4 },
  });
});
