import { expect, it } from "vitest";

import { withPostgres } from "../../packages/runtime-node/test/stores/postgres/server.ts";
import { restarts, takeovers } from "../../proof/backend/main.ts";

const violationsOf = (runs: readonly { readonly violations: readonly string[] }[]): string =>
  runs.flatMap(({ violations }) => violations).join("\n");

it("the proof of the backend fails when a turn that was cut off is not continued", async () => {
  const runs = await restarts({ kills: 2, takeovers: 0, seed: 1, fault: "no-recovery", patienceMs: 5_000 });
  expect(violationsOf(runs)).toContain("is not continued");
}, 120_000);

it("the proof of the backend fails when a tool does its work twice", async () => {
  const runs = await restarts({ kills: 1, takeovers: 0, seed: 1, fault: "orders-twice", patienceMs: 60_000 });
  expect(violationsOf(runs)).toContain("it was ordered 2 times");
}, 120_000);

withPostgres("The proof of the backend", () => {
  const url = process.env["COLLOQUY_POSTGRES_URL"] ?? "";

  it("fails when the lease of a lost instance lasts a minute", async () => {
    const options = { kills: 0, takeovers: 1, seed: 1, fault: "long-leases", patienceMs: 10_000 } as const;
    expect(violationsOf(await takeovers(url, false, options))).toContain("the other instance did not answer");
  }, 120_000);
});
