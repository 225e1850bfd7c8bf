import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { converse, type Conversed } from "../../../proof/chaos/points/converse.ts";
import { crashAtPoints, judgePoint, memoryPlace } from "../../../proof/chaos/points/target.ts";
import type { Fact } from "../../../proof/chaos/story/facts.ts";
import { tableInMarkdown } from "../../../proof/chaos/story/table.ts";

describe("R2: a crash before and after each append and each effect", () => {
  it("leaves what the table says at some points, on the memory store", async () => {
    const { points, crashes, problems } = await crashAtPoints(memoryPlace, { every: 24 });
    expect(problems).toEqual([]);
    expect(crashes).toBe(Math.ceil(points / 24));
  });
});

describe("the judge of crash points", () => {
  const conversed = (diesAt: number | null): Promise<Conversed> =>
    converse({ openStore: memoryPlace.open, diesAt, runAgain: true });

  it("finds what was lost, what ran twice, what is answered otherwise, and what is marked wrongly", async () => {
    const uncrashed = await conversed(null);
    const crashed = await conversed(18);
    expect(judgePoint(uncrashed, crashed)).toEqual([]);
    const more = (...facts: readonly Fact[]): Partial<Conversed> => ({ facts: [...crashed.facts, ...facts] });
    const once = crashed.facts.filter((fact) => fact.type === "performed" && fact.what === "charge");
    const wrongly: readonly (readonly [Partial<Conversed>, RegExp])[] = [
      [more({ type: "acknowledged", seq: 2, digest: "" }), /entry 2 was acknowledged, and is another/],
      [more(...once), /whose tool is not to be run again, ran 2 times/],
      [
        more({ type: "answered", askId: "order 1", turn: 1, text: "something else" }),
        /order 1 had the result "something else"/,
      ],
      [more({ type: "malformed", effectId: "it", reason: "no result" }), /the prompt of it: no result/],
      [
        {
          journal: crashed.journal.map((entry) => {
            if (!("recovered" in entry)) return entry;
            const { recovered: _, ...bare } = entry;
            return bare;
          }),
        },
        /was answered by itself, and should be by tool\.failed/,
      ],
    ];
    for (const [change, problem] of wrongly)
      expect(judgePoint(uncrashed, { ...crashed, ...change }).join("\n")).toMatch(problem);
  });
});

it("the table is the one that the documentation has", () => {
  const page = readFileSync(new URL("../../../docs/recovery.md", import.meta.url), "utf8");
  const squeezed = (text: string): string => text.replaceAll(/ +/gu, " ").replaceAll(/-{3,}/gu, "---");
  expect(squeezed(page)).toContain(squeezed(tableInMarkdown()));
});
