import { expect, it } from "vitest";

import { crashAtPoints, memoryPlace } from "../../../proof/chaos/points/target.ts";
import { table } from "../../../proof/chaos/story/table.ts";

// The gate does the same on the other stores.
it("leaves what the table says at each point, and every row of the table comes about", async () => {
  const { points, crashes, problems, rows } = await crashAtPoints(memoryPlace);
  expect(problems).toEqual([]);
  expect(points).toBeGreaterThan(90);
  expect(crashes).toBe(points);
  expect([...rows.keys()].sort()).toEqual(table.map(({ name }) => name).sort());
});

it.each([1, 4])("leaves what the table says where the next process dies as well, %i points later", async (again) => {
  expect((await crashAtPoints(memoryPlace, { every: 3, again })).problems).toEqual([]);
});
