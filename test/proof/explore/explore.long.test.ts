import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { faultNames, faults } from "../../../proof/explore/faults.ts";
import { arrowsPage, sequencesOf } from "../../../proof/explore/machine.ts";
import { scenes } from "../../../proof/explore/scene.ts";
import { Search } from "../../../proof/explore/search.ts";

const docs = join(import.meta.dirname, "../../../docs");

describe("a world in which", () => {
  // The shorter test of this folder has `rerun`.
  const names = faultNames.filter((name) => name !== "rerun");
  test.each(names)("a mistake is built in breaks a law at its bound, and not below: %s", async (name) => {
    const { scene, bound } = faults[name];
    const search = (most: number) => new Search(scenes[scene], most, faults[name]).visit([]);
    expect((await search(bound - 1)).violation).toBeNull();
    expect((await search(bound)).violation).not.toBeNull();
  });
});

test("all sequences of six events take each arrow as the page says, and keep the laws on the first to each", async () => {
  const sequences = sequencesOf(6, 0);
  expect(sequences.problems).toEqual([]);
  const chart = readFileSync(join(docs, "conversation.mmd"), "utf8");
  const page = arrowsPage(chart, sequences);
  expect(page).not.toContain("not taken");
  await expect(page).toMatchFileSnapshot(join(docs, "arrows.txt"));
});
