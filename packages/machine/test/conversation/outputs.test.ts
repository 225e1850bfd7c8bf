import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import {
  type CallLlm,
  type Entry,
  type ExpectedOutput,
  promptOf,
  textOf,
  toArray,
  type Turn,
  turnNumbered,
} from "../../src/index.ts";
import { lostEventIn } from "../../src/hosting.ts";
import { comparePrompts, explain } from "../../src/inspect.ts";
import { fold, forkOf } from "../../src/journal.ts";
import { lastTurns } from "../../src/policies.ts";
import { entriesToRedact, loadAll, redactEntry, StoredChunks, takeSnapshot } from "../../src/storage.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { SnapshotShelf } from "../snapshot/shelf.ts";

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

/** One answer is refused, the next is accepted. */
const repaired = (...given: ConstructorParameters<typeof CheckedTalk>): CheckedTalk => {
  const talk = talkOf(...given);
  askFor(talk);
  talk.reply('{"title":"secret"}');
  refuse(talk);
  talk.reply('{"title":"Autumn"}');
  accept(talk);
  return talk;
};

describe("an output", () => {
  test("is kept with its turn, as it was written, and so is what was refused; the turn's messages are those of an answer at once", () => {
    const talk = repaired();
    const { output: accepted, refusedOutputs = [], messages, outcome, answer, steps } = turnOf(talk);
    expect(accepted).toEqual({ name: "title", value: { title: "Autumn" } });
    expect(outcome).toEqual({ status: "completed", finishReason: "stop" });
    expect(toArray(messages).map(textOf)).toEqual(["A title?", '{"title":"Autumn"}']);
    expect(answer).toBe("1.3");
    expect(steps).toBe(2);
    expect(refusedOutputs).toMatchObject([{ reply: { id: "1.1" }, issues, request: { id: "1.2", synthesised: true } }]);
    talk.replays();
  });

  test("is on the call for the handler, and its digest covers it: the same words with another schema are another prompt", () => {
    const called = (wanted?: ExpectedOutput): CallLlm => {
      const talk = talkOf();
      talk.tell({ type: "ask.received", askId: "a", input: "?", ...(wanted === undefined ? {} : { output: wanted }) });
      return talk.call();
    };
    const { repairs: _, ...wanted } = output;
    expect(called(output).output).toEqual(wanted);
    expect(called()).not.toHaveProperty("output");
    const digests = [called(), called(output), called({ ...output, schema: {} }), called({ ...output, mode: "tool" })];
    expect(new Set(digests.map(({ promptDigest }) => promptDigest)).size).toBe(4);
    expect(called({ ...output, repairs: 0 }).promptDigest).toBe(called(output).promptDigest);
  });

  test("no later prompt shows what was refused, under any policy, and it costs no window", () => {
    for (const talk of [repaired(), repaired({ policy: lastTurns(1) })]) {
      talk.ask("And why?");
      expect(talk.sent()).toEqual(["A title?", '{"title":"Autumn"}', "And why?"]);
      expect(explain(talk.machine, talk.state).units.map(({ id }) => id)).toEqual(["1.0", "1.3", "2.0"]);
    }
  });

  test("repairs are as many as were allowed, and each is a step: then the turn fails, with what was said", () => {
    const talk = talkOf();
    askFor(talk);
    for (const attempt of [1, 2]) {
      talk.reply(`no ${attempt}`);
      expect(checkOf(talk).attempt).toBe(attempt);
      refuse(talk);
    }
    talk.reply("no 3");
    refuse(talk);
    const { outcome, refusedOutputs = [], steps, answer, messages } = turnOf(talk);
    expect(outcome).toEqual({
      status: "failed",
      output: { kind: "invalid", message: '"title": secret is too long' },
    });
    expect(refusedOutputs.map(({ reply }) => textOf(reply))).toEqual(["no 1", "no 2", "no 3"]);
    expect(refusedOutputs.map(({ request }) => request === undefined)).toEqual([false, false, true]);
    expect({ steps, answer, messages: messages.length }).toEqual({ steps: 3, answer: undefined, messages: 1 });
    expect(turnOf(talk)).not.toHaveProperty("output");
    talk.replays();
  });

  test.each([
    ["steps", { steps: 1 }],
    ["tokens", { tokens: 5 }],
  ])("a limit of %s stands before a repair, and the model is not called again", (limit, limits) => {
    const talk = talkOf({ limits });
    askFor(talk);
    talk.reply("no", { usage: { inputTokens: 3, outputTokens: 3 } });
    refuse(talk);
    expect(turnOf(talk).outcome).toMatchObject({ status: "failed", limit: { limit } });
    expect(turnOf(talk).refusedOutputs).toHaveLength(1);
    expect(turnOf(talk).refusedOutputs?.[0]).not.toHaveProperty("request");
    talk.replays();
  });

  test("is not looked for in a reply that is cut off or declines, which is kept", () => {
    const talk = talkOf();
    askFor(talk, "a");
    talk.reply('{"title":"Au', { finishReason: "length" });
    expect(turnOf(talk, 1).outcome).toMatchObject({ output: { kind: "cut" } });
    expect(toArray(turnOf(talk, 1).messages).at(-1)).toMatchObject({ incomplete: true });
    askFor(talk, "b");
    talk.reply({ content: [{ type: "refusal", text: "No." }] });
    expect(turnOf(talk, 2).outcome).toEqual({ status: "failed", output: { kind: "refused", message: "No." } });
    talk.replays();
  });

  test("a deadline that passes while it is checked ends the turn, and nothing is passed off as an output", () => {
    const talk = talkOf({ limits: { deadlineMs: 100 } });
    askFor(talk);
    talk.reply('{"title":"Autumn"}');
    const { id } = checkOf(talk);
    talk.fire("deadline");
    expect(turnOf(talk).outcome).toMatchObject({ limit: { limit: "deadlineMs" } });
    expect(turnOf(talk)).not.toHaveProperty("output");
    expect(talk.refused({ type: "output.accepted", effectId: id, value: {} }).kind).toBe("stale");
  });

  test("a turn that answers several asks has the output of the last one that wants any", () => {
    const talk = talkOf({ overlap: { type: "merge", max: 3 } });
    talk.ask("Hello", "first");
    askFor(talk, "a");
    askFor(talk, "b", { ...output, name: "heading" });
    talk.ask("Thanks", "c");
    talk.reply("Hi.");
    talk.fire("queue");
    expect(talk.call().output?.name).toBe("heading");
    expect(turnOf(talk)).not.toHaveProperty("output");
  });

  test("may not be called like a tool that the model can call, where it is one", () => {
    const talk = talkOf({ tools: [{ name: "title" }] });
    const told = { type: "ask.received", askId: "a", input: "?", output: { ...output, mode: "tool" } } as const;
    expect(talk.refused(told).reason).toMatch(/"title" is the name of a tool/);
    expect(talk.refused({ ...told, output: { ...output, name: "" } }).reason).toMatch(/needs a name/);
  });
});

describe("what is kept of an output", () => {
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

  test("a check that nobody made is refused when a journal comes from outside", () => {
    const { entries } = repaired();
    const at = entries.findIndex(({ event }) => event.type === "output.refused");
    const foreign = entries.map((entry, seq): Entry =>
      seq === at ? { seq, event: { type: "output.accepted", at: 9, effectId: "t/1.2!output", value: {} } } : entry,
    );
    expect(lostEventIn(entries)).toBeNull();
    expect(lostEventIn(foreign)).toMatchObject({ seq: at, reason: expect.stringMatching(/was not awaited/) });
  });

  test("its words, those of what was refused and of what was wrong with it are redacted with the turn, or with the message", () => {
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
