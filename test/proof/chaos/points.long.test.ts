import { afterAll, describe, expect, it } from "vitest";

import { crashAtPoints } from "../../../proof/chaos/points/run.ts";
import { memoryPlace, placeOf } from "../../../proof/chaos/points/places.ts";
import { serverUrl } from "../../../proof/kit/server-urls.ts";
import { table } from "../../../proof/chaos/story/table.ts";

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

describe("on other stores", () => {
  const others = (["sqlite", "files", "postgres", "redis"] as const).flatMap((name) => {
    const isThere = name === "sqlite" || name === "files" || serverUrl(name) !== null;
    return isThere ? [{ name, place: placeOf(name) }] : [];
  });
  afterAll(async () => {
    for (const { place } of others) await place.leave();
  });

  it.each(others)("leaves what the table says at some points, on $name", async ({ place }) =>
    expect((await crashAtPoints(place, { every: 48 })).problems).toEqual([]),
  );
});
