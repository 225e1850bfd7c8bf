import { expect, test } from "vitest";
import {
  clearResults,
  compactTurns,
  compose,
  fitOversized,
  keepAll,
  lastMessages,
  lastTurns,
  limitResults,
  omitFields,
  onlyInputs,
  type Policy,
  summariseTurns,
  tokenWindow,
} from "../../../src/policies.ts";
import { policyFunctions, policyNameOf } from "./shipped-policies.ts";

test("what a policy does by default is written down: a change of it is another fingerprint, and another prompt", async () => {
  const policies: readonly (readonly [string, Policy])[] = [
    ["clearResults()", clearResults()],
    ["compactTurns()", compactTurns()],
    ['compactTurns({ level: "verbose" })', compactTurns({ level: "verbose" })],
    ["compose()", compose()],
    ["fitOversized()", fitOversized()],
    ["keepAll()", keepAll()],
    ["lastMessages()", lastMessages()],
    ["lastTurns(3)", lastTurns(3)],
    ["limitResults({ characters: 200 })", limitResults({ characters: 200 })],
    ['omitFields(["image"])', omitFields(["image"])],
    ['onlyInputs(["text"])', onlyInputs(["text"])],
    ["summariseTurns()", summariseTurns()],
    ['summariseTurns({ level: "verbose" })', summariseTurns({ level: "verbose" })],
    ["tokenWindow()", tokenWindow()],
  ];
  expect(new Set(policies.map(([, { name }]) => name))).toEqual(new Set(policyFunctions.map(policyNameOf)));
  const lines = policies.map(
    ([made, { name, version, options, summariser, decide: _, ...claims }]) =>
      `${made}\n${JSON.stringify({ name, version, options, claims, summariser }, null, 2)}\n`,
  );
  await expect(lines.join("\n")).toMatchFileSnapshot("defaults.txt");
});
