import { expect, it } from "vitest";

import { crashAtPoints } from "../../proof/crash-points/run.ts";
import { memoryPlace } from "../../proof/crash-points/stores.ts";

it.each([1, 4])("leaves what the table says where the next process dies as well, %i points later", async (again) => {
  expect((await crashAtPoints(memoryPlace, { every: 3, again })).problems).toEqual([]);
});
