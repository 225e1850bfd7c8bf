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

test.each([
  [1, 1],
  [3, 1],
  [4, 2],
  [5, 2],
  [100, 50],
])("a default instruction for at most %i tokens asks for at most %i words", (maxTokens, words) => {
  for (const policy of [compactTurns({ maxTokens }), summariseTurns({ maxTokens })])
    expect(policy.summariser?.instruction).toMatch(new RegExp(`in at most ${words} words\\.$`));
});

test.each<readonly [string, Policy, readonly [monotone: boolean, stable: boolean]]>([
  ["lastTurns with slack", lastTurns(3, { slack: 1 }), [false, true]],
  ["tokenWindow that cuts deep", tokenWindow({ cutTo: 0.5 }), [false, true]],
  ["omitFields without names", omitFields([]), [true, true]],
])("%s declares whether it is monotone and stable", (_, { monotone, stable }, claims) => {
  expect([monotone, stable]).toEqual(claims);
});

// Whether policies declare that they show the newest turns first. Law P11 checks it.

test.each<readonly [string, Policy, Policy["newestFirst"]]>([
  ["everything", keepAll(), true],
  ["so many turns", lastTurns(3), { turns: 3 }],
  ["so many turns and a few more", lastTurns(3, { slack: 2 }), { turns: [3, 5] }],
  ["so many messages", lastMessages({ max: 20, keepRecent: 8 }), { messages: [8, 20] }],
  ["a window of the machine's room", tokenWindow(), true],
  ["one that cuts deep", tokenWindow({ cutTo: 0.5 }), { share: 0.5 }],
  ["one with a room of its own", tokenWindow({ tokens: 500, reserve: 100 }), { tokens: 400 }],
  ["one that leaves more free than the machine", tokenWindow({ reserve: 100 }), { reserve: 100 }],
  ["results that are cleared", clearResults(), true],
  ["results that are shortened", limitResults({ characters: 200 }), true],
  ["texts that are shortened", fitOversized(), true],
  ["fields that are left out", omitFields(["mood"]), true],
  ["some inputs", onlyInputs(["question"]), true],
  ["a summary", compactTurns(), undefined],
  ["summaries", summariseTurns(), undefined],
])("%s", (_, { newestFirst }, claim) => {
  expect(newestFirst).toEqual(claim);
});

test.each<readonly [string, readonly Policy[], Policy["newestFirst"]]>([
  ["nothing", [], true],
  ["policies without limits", [limitResults({ characters: 200 }), tokenWindow()], true],
  [
    "windows, within the narrowest of their limits",
    [lastTurns(5), tokenWindow({ tokens: 500, cutTo: 0.8 }), lastTurns(3), tokenWindow({ tokens: 300, cutTo: 0.6 })],
    { turns: 3, tokens: 300, share: 0.6 },
  ],
  ["windows with slack", [lastTurns(5), lastTurns(3, { slack: 4 })], { turns: [3, 5] }],
  ["reserves", [tokenWindow({ reserve: 10 }), tokenWindow({ reserve: 20 })], { reserve: 20 }],
  ["one that claims nothing", [tokenWindow(), compactTurns()], false],
  ["a policy of one's own that claims nothing", [{ ...keepAll(), newestFirst: false }, tokenWindow()], false],
])("a composition of %s", (_, policies, claim) => {
  expect(compose(...policies).newestFirst).toEqual(claim);
});
