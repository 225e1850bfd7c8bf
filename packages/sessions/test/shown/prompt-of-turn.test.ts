import { describe, expect, test } from "vitest";
import { answering, asked, throughJson } from "../question-answerer.ts";

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

  test("is there of a turn that failed, and null of one that was added by hand, whose example has what was to be seen", async () => {
    const { qa, seen } = answering(["A0", new Error("down")]);
    await asked(qa, 2);
    await qa.thread.addTurn([
      { role: "user", content: [{ type: "data", field: "question", value: "by hand" }] },
      { role: "assistant", content: [{ type: "data", field: "answer", value: "A2" }] },
    ]);
    expect((await qa.promptOfTurn(2))?.memory).toEqual(seen[1]);
    expect(await qa.promptOfTurn(3)).toBeNull();
    const [, example] = await qa.examples();
    expect(example?.history?.exchanges.map(({ turn }) => turn)).toEqual([1]);
  });

  test("is refused by the number of a turn that is not there", async () => {
    const { qa } = answering([]);
    await asked(qa, 1);
    await expect(qa.promptOfTurn(2)).rejects.toThrow('thread "qa" has no turn 2; there are 1 to 1');
  });
});
