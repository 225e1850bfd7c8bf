import { expect, it } from "vitest";

import { restarts } from "../../proof/backend/main.ts";

it("the proof of the backend fails when a turn that was cut off is not continued", async () => {
  const runs = await restarts({ kills: 2, takeovers: 0, seed: 1, fault: "no-recovery", patienceMs: 5_000 });
  expect(runs.flatMap(({ violations }) => violations).join("\n")).toContain("is not continued");
}, 120_000);

it("the proof of the backend fails when a tool does its work twice", async () => {
  const runs = await restarts({ kills: 1, takeovers: 0, seed: 1, fault: "orders-twice", patienceMs: 60_000 });
  expect(runs.flatMap(({ violations }) => violations).join("\n")).toContain("it was ordered 2 times");
}, 120_000);
