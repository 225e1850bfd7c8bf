import { ImportRefusedError } from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { answering, asked, questionsOf, throughJson } from "../question-answerer.ts";

describe("a saved session", () => {
  test("97: has the same turns when it is loaded, and the same snapshots, and goes on", async () => {
    const { qa } = answering(["A0", "A1"]);
    await asked(qa, 2);
    await qa.score(() => 1);
    const saved = throughJson(await qa.save());
    const elsewhere = answering(["A2"]);
    const loaded = await elsewhere.qa.load(saved);
    expect(await loaded.turns()).toEqual(await qa.turns());
    expect(await loaded.examples()).toEqual(await qa.examples());
    await asked(loaded, 1, 2);
    expect(elsewhere.seen[0]?.exchanges.map(({ outputs }) => outputs)).toEqual([{ answer: "A0" }, { answer: "A1" }]);
    expect(await questionsOf(qa)).toEqual(["Q0", "Q1"]);
  });

  test.each([
    { what: "another version", change: { version: 999 }, says: "version 999 of a saved session can't be read" },
    { what: "another format", change: { format: "zip" }, says: 'it is no saved session, whose "format" is' },
    { what: "no journal", change: { journal: null }, says: "no list of entries" },
    { what: "an empty journal", change: { journal: [] }, says: "nothing was imported" },
    { what: "a damaged journal", change: { journal: [{ seq: 0 }] }, says: "nothing was imported" },
    { what: "what dspy-session wrote", change: { format: null, turns: [] }, says: "fromDspySession" },
  ])("97: is refused in words for $what, and nothing is stored", async ({ change, says }) => {
    const { qa } = answering([]);
    await asked(qa, 1);
    const elsewhere = answering([]).qa;
    const refused = await elsewhere.load({ ...(await qa.save()), ...change }).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(ImportRefusedError);
    expect(String(refused)).toContain(says);
    expect(await elsewhere.thread.state()).toBeNull();
  });
});
