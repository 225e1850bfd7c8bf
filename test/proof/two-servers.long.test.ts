import { expect, it } from "vitest";
import { twoServers } from "../../proof/two-servers/main.ts";

it("two servers are noticed when they answer with nothing that the journal has", async () => {
  const run = await twoServers({ store: "sqlite", kills: 1, clients: 2, fault: "blind" }, 1);
  expect(run.violations.join("\n")).toMatch(/is completed with the output \[\]/u);
}, 120_000);
