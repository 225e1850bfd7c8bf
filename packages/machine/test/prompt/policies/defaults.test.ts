import { expect, test } from "vitest";
import {
  clearResults,
  compactTurns,
  fitOversized,
  lastMessages,
  lastTurns,
  type Policy,
  summariseTurns,
  tokenWindow,
} from "../../../src/policies.ts";

test("what a policy does by default is written down: a change of it is another fingerprint, and another prompt", async () => {
  const policies: readonly (readonly [string, Policy])[] = [
    ["clearResults()", clearResults()],
    ["compactTurns()", compactTurns()],
    ['compactTurns({ level: "verbose" })', compactTurns({ level: "verbose" })],
    ["fitOversized()", fitOversized()],
    ["lastMessages()", lastMessages()],
    ["lastTurns(3)", lastTurns(3)],
    ["summariseTurns()", summariseTurns()],
    ['summariseTurns({ level: "verbose" })', summariseTurns({ level: "verbose" })],
    ["tokenWindow()", tokenWindow()],
  ];
  const lines = policies.map(
    ([made, { name, version, options, summariser, decide: _, ...claims }]) =>
      `${made}\n${JSON.stringify({ name, version, options, claims, summariser }, null, 2)}\n`,
  );
  await expect(lines.join("\n")).toMatchFileSnapshot("defaults.txt");
});
