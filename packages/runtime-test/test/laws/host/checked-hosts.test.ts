import { type AskHandle, createHost, memoryStore } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { sqliteStore } from "@colloquy/runtime-node";
import {
  checkApprovals,
  checkRedaction,
  checkSameJournal,
  checkSharedThread,
  type HostUnderTest,
  lawSameJournal,
  type MakeScriptedHost,
} from "@colloquy/runtime-test/laws";
import { describe, expect, test } from "vitest";
import { runningClock } from "../../../src/index.ts";
import { withAsk, withoutApprovals, withRecovery } from "../../simulate/broken-host.ts";
import {
  forgetful,
  keepingHits,
  keepingSnapshots,
  renamed,
  withHost,
  withStore,
  withThread,
  withTools,
} from "./broken-parts.ts";
import { runs, spread } from "../runs.ts";

/** Sets timers for ever, and answers no ask. */
const restless: HostUnderTest = {
  createHost: (options) => {
    const { clock } = options;
    const wake = (): void => void clock.wakeAt(clock.now() + 1, wake);
    wake();
    return withAsk({ outcome: () => new Promise(() => {}) })(options);
  },
};

const sqlite: HostUnderTest = { createStore: ({ clock }) => sqliteStore({ path: ":memory:", clock }) };

/** Parts with a fault, and the law's message about it. */
type Fault = readonly [what: string, subject: HostUnderTest, words: RegExp];

const finds = async (checking: Promise<void>, words: RegExp): Promise<void> => {
  const error: unknown = await checking.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(String(error)).toContain("Got LawBroken: ");
  expect(String(error)).toMatch(words);
};

describe("R3: two hosts lose, repeat and duplicate nothing", () => {
  test.each([
    ["memory", {}],
    ["SQLite", sqlite],
  ])("in %s", (_, subject) => checkSharedThread(subject, { runs: runs(60) }));

  const faults: readonly Fault[] = [
    ["a store that takes entries for stored that are not", withStore(forgetful), /R3/],
    ["a host that never comes to rest", restless, /R3: the conversation did not come to rest within \d+ wake-ups/],
    ["a host that asks under an id of its own", withHost((host) => ({ ask: renamed(host) })), /R3: ask-\d+/],
    [
      "a host that tells another's answer",
      { createHost: withAsk({ outcome: async (handle: AskHandle) => ({ ...(await handle), text: "Hm." }) }) },
      /R3: ask-\d+ had the result "Hm\."/,
    ],
    [
      "a host that runs a tool twice",
      withTools((tool) => ({ ...tool, run: async (...given) => [await tool.run(...given), tool.run(...given)] })),
      /R3: the call .* ran 2 times/,
    ],
    ["a host that runs a once-only tool again", { createHost: withRecovery("act", "rerun") }, /ran \d times/],
    [
      "a host that makes a result up",
      withTools((tool) => ({ ...tool, run: () => "done" })),
      /R3: the call .* has a result, and its tool never ran/,
    ],
  ];
  test.each(spread(faults, 2))("or else %s is found out", (_, subject, words) =>
    finds(checkSharedThread(subject, { runs: 2_000 }), words),
  );
});

describe("R4: one script gives the same journal on every runtime", () => {
  const clock = runningClock();
  const memory: MakeScriptedHost = (parts) => createHost({ ...parts, clock, store: memoryStore({ clock }) });

  test("on the memory store, SQLite, and a host that starts at another time and takes snapshots", async () => {
    await checkSameJournal(
      {
        memory,
        sqlite: (parts) => createHost({ ...parts, clock, store: sqliteStore({ path: ":memory:", clock }) }),
        later: (parts) => {
          const other = runningClock(99);
          return createHost({ ...parts, clock: other, store: memoryStore({ clock: other }), snapshotEvery: 1 });
        },
      },
      { runs: runs(40) },
    );
  });

  test.each<readonly [string, MakeScriptedHost, RegExp]>([
    [
      "has ids of its own",
      (parts) =>
        withHost((host) => ({ ask: renamed(host) })).createHost?.({
          ...parts,
          clock,
          store: memoryStore({ clock }),
        }) ?? memory(parts),
      /R4: entry \d+ of other/,
    ],
    [
      "answers calls in its own order",
      (parts) =>
        memory({
          ...parts,
          tools: (parts.tools ?? []).map((tool) => ({
            ...tool,
            run: (_, { callId }) => ({ [tool.declaration.name]: callId }),
          })),
        }),
      /R4: entry \d+ of other/,
    ],
    [
      "says more than it was told",
      (parts) =>
        memory({ ...parts, llm: async (...given) => ({ ...(await parts.llm(...given)), usage: { inputTokens: 1 } }) }),
      /R4: .*usage/,
    ],
  ])("or else a runtime that %s is found out", (_, other, words) =>
    finds(checkSameJournal({ memory, other }, { runs: 100 }), words),
  );

  test("an entry too few is a difference", () => {
    const entries: readonly Entry[] = [{ seq: 1, event: { type: "ask.received", at: 0, askId: "a", input: "" } }];
    expect(() => lawSameJournal({ one: entries, two: [] })).toThrow(/R4: entry 0 of two is not the one of one/);
    expect(() => lawSameJournal({ one: entries })).toThrow(RangeError);
  });
});

describe("redaction leaves the words nowhere, and all else as it was", () => {
  test.each([
    ["memory", {}],
    ["SQLite", sqlite],
  ])("in %s", (_, subject) => checkRedaction(subject, { runs: runs(60) }));

  test.each<Fault>([
    [
      "a store that rewrites nothing",
      withStore(() => ({ rewrite: async () => {} })),
      /redaction: .*was redacted, and is in/,
    ],
    ["a host that never comes to rest", restless, /redaction: the conversation did not come to rest/],
    ["a store that keeps the snapshot", withStore(keepingSnapshots), /redaction: .* is in a snapshot/],
    ["a store that finds the words", withStore(keepingHits), /redaction: .* is in the search/],
    [
      "a host that redacts more than it says",
      withThread((thread) => ({ redact: async (...given) => (await thread.redact(...given)).slice(1) })),
      /redaction: entry \d+: /,
    ],
    [
      "a host that forgets the copies",
      withThread((thread) => ({ redact: (target) => thread.redact(target) })),
      /redaction: .* is in (a copy|the search)/,
    ],
  ])("or else %s is found out", (_, subject, words) => finds(checkRedaction(subject, { runs: 100 }), words));
});

describe("what needs approval runs when it was granted, as it was granted", () => {
  test.each([
    ["memory", {}],
    ["SQLite", sqlite],
  ])("in %s", (_, subject) => checkApprovals(subject, { runs: runs(60) }));

  test.each<Fault>([
    ["a host that never comes to rest", restless, /approvals: the conversation did not come to rest/],
    ["a host that asks nobody", { createHost: withoutApprovals }, /approvals: .* runs, but approval was not asked for/],
    [
      "a host that runs something else",
      withTools((tool) => ({ ...tool, run: (_, call) => tool.run({ amount: 1_000 }, call) })),
      /approvals: the input of .*amount: expected \d+, got 1000/,
    ],
    [
      "a host that runs it twice",
      withTools((tool) => ({ ...tool, run: async (...given) => [await tool.run(...given), tool.run(...given)] })),
      /approvals: .* was approved once, and ran 2 times/,
    ],
    [
      "a host that runs it to see whether it has to be approved",
      withTools((tool) => ({
        ...tool,
        needsApproval: tool.needsApproval && ((...given) => (tool.run(...given), true)),
      })),
      /approvals: .* ran before approval was asked for/,
    ],
  ])("or else %s is found out", (_, subject, words) => finds(checkApprovals(subject, { runs: 200 }), words));
});

test("a run of no conversations is refused, and a misspelt option", async () => {
  for (const [name, check] of Object.entries({ checkApprovals, checkRedaction, checkSharedThread }))
    await expect(check({}, { runs: 0 })).rejects.toThrow(`${name}: runs must be a whole number ≥ 1 (got 0)`);
  // Casts like a caller in JavaScript.
  const misspelt = { run: 5 } as object;
  await expect(checkSameJournal({}, misspelt)).rejects.toThrow('checkSameJournal has no option "run"');
});
