import * as Either from "fp-ts/lib/Either.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fold } from "../../src/journal.ts";
import { runs } from "../runs.ts";
import { configs, type Move, moves, text } from "./model-moves.ts";
import { Pair } from "./model-pair.ts";
import { type Config, isReadable, isTriedInVain, mostTurnsRead, pathOf, wantedIn } from "./plain-prompt.ts";

// Long conversations with everything that can be done to them, held against the plain model after every event: what
// is out and with which prompt, what the next prompt would be, what is summarised, and why a turn could not be fitted.

const features = [
  "a call waits for a summary",
  "a call waits in its second step",
  "a prompt with a pinned message that is older than what is shown",
  "a prompt with a summary",
  "a retry waits for a summary",
  "a summary would read too much",
  "a summary would read too much, and is not tried",
  "a turn that was interrupted",
  "calibrated",
  "retried",
  "some are left out",
  "summary beside a call",
  "summary beside tools",
  "the head is on another branch",
  "unfit",
];

const featuresOf = ({ plain }: Pair): readonly string[] => {
  const { open, unfit, calibration, summarising, leaf } = plain;
  const shown = plain.nextPrompt();
  const path = pathOf(plain);
  const units = new Set(shown.map(({ unit }) => unit));
  const oldest = path.flatMap(({ said }) => said.filter(({ unit }) => units.has(unit)))[0];
  const wanted = summarising === null ? wantedIn(plain, open?.said ?? plain.appended) : null;
  const isTooMuch = wanted !== null && !isReadable(plain, wanted);
  const isCompacting = open?.stage.type === "compacting";
  const found: readonly (readonly [string, boolean])[] = [
    ["a call waits for a summary", isCompacting],
    ["a call waits in its second step", isCompacting && open.step === 1],
    ["a retry waits for a summary", isCompacting && "attempt" in open.stage && open.stage.attempt > 1],
    ["a prompt with a summary", shown.some(({ id }) => id === "summary")],
    ["a summary would read too much", isTooMuch],
    ["a summary would read too much, and is not tried", isTooMuch && isTriedInVain(plain)],
    ["a turn that was interrupted", path.some(({ completed }) => !completed)],
    ["calibrated", calibration > 1],
    ["retried", leaf === "backing_off"],
    ["some are left out", path.some(({ said }) => said.some(({ unit }) => !units.has(unit)))],
    ["summary beside a call", summarising !== null && leaf === "responding"],
    ["summary beside tools", summarising !== null && leaf === "running"],
    ["the head is on another branch", path.some(({ number, parent }) => parent !== number - 1)],
    ["unfit", unfit !== null],
    [
      "a prompt with a pinned message that is older than what is shown",
      oldest !== undefined && plain.pins.includes(oldest.id) && plain.config.policy.type === "turns",
    ],
  ];
  return found.flatMap(([feature, is]) => (is ? feature : []));
};

/** Conversations that are too rare at random for every seed to reach. */
const retryThatWaits: Move[] = [
  { move: "ask", text: "a" },
  { move: "answer", text: "a", reported: null, tools: [], pick: 0 },
  { move: "ask", text: "a" },
  { move: "fail", retryable: true },
  {
    move: "configure",
    config: {
      policy: { type: "rolling", keep: 0, when: "always", without: "keep" },
      budget: { tokens: 20, reserve: 0 },
      interrupted: "keep",
    },
  },
  { move: "append", text: "aaaaaaaaaaaa" },
  { move: "wait" },
];

const times = (count: number, played: readonly Move[]): Move[] => Array.from({ length: count }, () => played).flat();

const say: Move[] = [
  { move: "ask", text: "a" },
  { move: "answer", text: "a", reported: null, tools: [], pick: 0 },
];

const always: Config = {
  policy: { type: "rolling", keep: 0, when: "always", without: "keep" },
  budget: null,
  interrupted: "keep",
};

const lastTurn: Config = { policy: { type: "turns", count: 1 }, budget: null, interrupted: "keep" };

const toolsBesideSummary: Move[] = [
  ...say,
  { move: "ask", text: "a" },
  { move: "answer", text: "a", reported: null, tools: ["search"], pick: 0 },
];

const readBehindSummary: Move[] = [
  { move: "ask", text: "a" },
  { move: "summary", text: "a" },
  { move: "answer", text: "a", reported: null, tools: [], pick: 0 },
  { move: "summary", text: null },
  ...times(mostTurnsRead - 1, [{ move: "add", text: "a" }]),
  { move: "ask", text: "a" },
];

const window: Config = { policy: { type: "window" }, budget: null, interrupted: "keep" };

test("every prompt of a long conversation is the one that the plain model gives", () => {
  const reached = new Set<string>();
  const property = fc.property(
    configs,
    // A thread that is long already lies in more than one chunk.
    fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 30, max: 70 })),
    fc.array(text(10), { maxLength: 2 }),
    fc.array(moves, { maxLength: 120, size: "max" }),
    (config, before, seed, played) => {
      const pair = new Pair(config, seed);
      for (let turn = 1; turn <= before; turn++) pair.play({ move: "add", text: `${turn}` });
      for (const each of played) {
        pair.play(each);
        pair.check();
        for (const feature of featuresOf(pair)) reached.add(feature);
      }
      expect(fold(pair.entries)).toEqual(Either.right(pair.state));
    },
  );
  const cases = runs(500);
  fc.assert(property, {
    numRuns: cases,
    examples: [
      [window, 0, [], retryThatWaits],
      // As much as a summary can read, also behind an earlier one; and, with the seed, too much, which is tried more
      // and more rarely.
      [always, mostTurnsRead, [], say],
      [always, 1, [], readBehindSummary],
      [always, mostTurnsRead, ["a"], times(10, say)],
      [always, 1, [], toolsBesideSummary],
      [lastTurn, 0, [], [...times(3, say), { move: "pin", pick: 0 }, ...say]],
    ],
  });
  // A feature that the run never reaches is not tested.
  expect([...reached].sort()).toEqual(features);
}, 600_000);
