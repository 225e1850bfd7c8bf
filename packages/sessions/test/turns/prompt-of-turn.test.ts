import { describe, expect, test } from "vitest";
import type { TurnPrompt } from "../../src/index.ts";
import { answering, asked, throughJson } from "../question-answerer.ts";

const fieldsOfLast = (prompt: TurnPrompt | null): object =>
  Object.fromEntries(
    (prompt?.messages.at(-1)?.parts ?? []).flatMap((part) => (part.type === "data" ? [[part.field, part.value]] : [])),
  );

describe("the prompt of a turn", () => {
  test("is what its program saw, with the messages", async () => {
    const { qa, seen } = answering(["A0", "A1", "A2"], { maxTurns: 1 });
    await asked(qa, 3);
    const prompts = await Promise.all([1, 2, 3].map((turn) => qa.promptOfTurn(turn)));
    expect(prompts.map((prompt) => prompt?.memory)).toEqual(seen);
    expect(prompts[2]?.messages.map(({ id }) => id)).toEqual(["2.0", "2.1", "3.0"]);
    expect(Object.isFrozen(prompts[2]?.messages[0])).toBe(true);
  });

  test("stays what it was after undo, another branch, a fork, another window, and when it is saved and loaded", async () => {
    const { qa, seen } = answering(["A0", "A1", "A2", "A3"]);
    await asked(qa, 3);
    await qa.thread.undo(2);
    await asked(qa, 1, 3);
    const { thread: fork } = await qa.thread.fork({ turn: 3, threadId: "fork" });
    const saved = await qa.save();
    const elsewhere = answering([], { maxTurns: 0 });
    const loaded = await elsewhere.qa.load(throughJson(saved));
    const forked = await elsewhere.qa.load({ ...saved, journal: await fork.exportJournal() });
    for (const turn of [1, 2, 3]) {
      const prompt = await qa.promptOfTurn(turn);
      expect(prompt?.memory).toEqual(seen[turn - 1]);
      expect(await loaded.promptOfTurn(turn)).toEqual(prompt);
      expect(await forked.promptOfTurn(turn)).toEqual(prompt);
    }
    expect((await qa.promptOfTurn(4))?.memory).toEqual(seen[3]);
  });

  test("has no words that were taken out", async () => {
    const { qa } = answering(["my secret", "A1"]);
    await asked(qa, 2);
    await qa.thread.redact({ turn: 1 });
    expect(JSON.stringify(await qa.promptOfTurn(2))).not.toMatch(/secret|"Q0"/u);
    expect((await qa.promptOfTurn(2))?.memory.exchanges).toHaveLength(1);
  });

  test("is, for a turn that was added by hand, what a program would have been called with then", async () => {
    const added = { inputs: { question: "by hand" }, outputs: { answer: "A2" } };
    const { qa } = answering(["A0", new Error("down"), "A3"], { maxTurns: 1 });
    await qa.addTurn(added);
    expect((await qa.promptOfTurn(1))?.memory.text).toBe("No prior conversation context.");
    await asked(qa, 2);
    await qa.addTurn(added);
    await asked(qa, 1, 2);
    const prompt = await qa.promptOfTurn(4);
    expect(prompt?.memory.exchanges.map(({ turn }) => turn)).toEqual([2]);
    expect(prompt?.messages.map(({ id }) => id)).toEqual(["2.0", "2.1", "4.0"]);
    expect(fieldsOfLast(prompt)).toEqual(added.inputs);
    const [first, , third] = await qa.examples();
    expect([first, third].map((example) => example?.history?.text)).toEqual([
      "No prior conversation context.",
      prompt?.memory.text,
    ]);
    expect(await (await qa.load(await qa.save(), { threadId: "copy" })).promptOfTurn(4)).toEqual(prompt);
    await qa.thread.redact({ turn: 4 });
    expect(JSON.stringify(await qa.promptOfTurn(4))).not.toContain("by hand");
  });

  test("is refused by the number of a turn that is not there", async () => {
    const { qa } = answering([]);
    await asked(qa, 1);
    for (const turn of [2, 0, -1, 0.5])
      await expect(qa.promptOfTurn(turn)).rejects.toThrow(`thread "qa" has no turn ${turn}; there are 1 to 1`);
    const { qa: empty } = answering([], { threadId: "empty" });
    await empty.checkpoint("begun");
    await expect(empty.promptOfTurn(1)).rejects.toThrow('thread "empty" has no turn 1; there are none');
  });

  test("promptOfTurn returns null if the turn ended before its program was called", async () => {
    const { qa, seen } = answering([]);
    await expect(qa.thread.ask("Q", { limits: { steps: 0 } })).rejects.toThrow(/steps/);
    expect([await qa.promptOfTurn(1), seen]).toEqual([null, []]);
  });
});
