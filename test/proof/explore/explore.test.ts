import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { faults } from "../../../proof/explore/faults.ts";
import { drawnByXState, sequencesOf } from "../../../proof/explore/machine.ts";
import { scenes } from "../../../proof/explore/scene.ts";
import { Search } from "../../../proof/explore/search.ts";

describe("every schedule of a small world that departs once", () => {
  test("keeps the laws of recovery, shared threads and approvals", async () => {
    const { violation, schedules } = await new Search(scenes.approval, 1).visit([]);
    expect(violation).toBeNull();
    expect(schedules).toBeGreaterThan(100);
  });

  test("finds a once-only tool that runs again, and not without a departure", async () => {
    const { scene, bound } = faults.rerun;
    expect((await new Search(scenes[scene], bound - 1, faults.rerun).visit([])).violation).toBeNull();
    expect((await new Search(scenes[scene], bound, faults.rerun).visit([])).violation?.what).toMatch(/ran 2 times/);
  });
});

test("XState draws the same states and arrows as all sequences of three events, and these keep the laws", () => {
  const { states, arrows, problems } = sequencesOf(3, 2);
  expect(problems).toEqual([]);
  const drawn = drawnByXState(3);
  expect(drawn.states).toEqual(states);
  expect(drawn.arrows).toEqual(new Set(arrows.keys()));
});

test("the page of arrows has each arrow of the chart", () => {
  const read = (file: string): string => readFileSync(new URL(`../../../docs/${file}`, import.meta.url), "utf8");
  const ofChart = read("conversation.mmd")
    .split("\n")
    .flatMap((line) => {
      const [, arrow = "", events = ""] = /^ {2}(\w+ --> \w+) : (.*)$/u.exec(line) ?? [];
      return events === "" ? [] : events.split(", ").map((event) => `${arrow} : ${event}`);
    });
  expect(read("arrows.txt").match(/^\w.* --> .*$/gmu)).toEqual(ofChart);
});
