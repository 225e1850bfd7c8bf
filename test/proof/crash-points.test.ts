import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { converse, type Conversed } from "../../proof/crash-points/converse.ts";
import { hostLife } from "../../proof/crash-points/host-life.ts";
import { judge } from "../../proof/crash-points/judge.ts";
import { crashAtPoints } from "../../proof/crash-points/run.ts";
import { memoryPlace } from "../../proof/crash-points/stores.ts";
import { tableInMarkdown } from "../../proof/crash-points/table.ts";

describe("R2: a crash before and after each append and each effect", () => {
  it("leaves what the table says at some points, on the memory store", async () => {
    const { points, crashes, problems } = await crashAtPoints(memoryPlace, { every: 24 });
    expect(problems).toEqual([]);
    expect(crashes).toBe(Math.ceil(points / 24));
  });
});

describe("the judge of crash points", () => {
  const conversed = (diesAt: number | null): Promise<Conversed> => {
    return converse({ begin: hostLife, openStore: ({ clock }) => memoryPlace.open(clock), diesAt, runAgain: true });
  };

  it("finds what was lost, what ran twice, what is answered otherwise, and what is marked wrongly", async () => {
    const uncrashed = await conversed(null);
    const crashed = await conversed(14);
    expect(judge(uncrashed, crashed).problems).toEqual([]);
    const wrongly: readonly (readonly [Partial<Conversed>, RegExp])[] = [
      [{ acknowledged: [{ seq: 2, event: { type: "system.reset", at: 0 } }] }, /entry 2 was acknowledged, and is lost/],
      [{ ran: [...crashed.ran, ...crashed.ran] }, /whose tool is not to be run again, ran 2 times/],
      [{ answers: new Map([["order", "something else"]]) }, /"order" was answered with "something else"/],
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
      expect(judge(uncrashed, { ...crashed, ...change }).problems.join("\n")).toMatch(problem);
  });
});

it("the table is the one that the documentation has", () => {
  const page = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8");
  const squeezed = (text: string): string => text.replaceAll(/ +/gu, " ").replaceAll(/-{3,}/gu, "---");
  expect(squeezed(page)).toContain(squeezed(tableInMarkdown()));
});
