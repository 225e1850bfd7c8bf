import {
  clearResults,
  compactTurns,
  compose,
  fitOversized,
  type HistoryTurn,
  keepAll,
  lastMessages,
  lastTurns,
  limitResults,
  omitFields,
  onlyInputs,
  type Policy,
  type PolicyDecision,
  type PolicyInput,
  summariseTurns,
  tokenWindow,
  type Unit,
} from "@colloquy/machine/policies";
import { checkPolicyLaws, type PolicyLawsRun } from "@colloquy/runtime-test/laws";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../test/runs.ts";

const turnsOf = ({ history }: PolicyInput): readonly HistoryTurn[] => [...history.newestFirst()];

const policy = (name: string, decide: Policy["decide"], newestFirst?: Policy["newestFirst"]): Policy => ({
  name,
  version: 1,
  options: {},
  monotone: false,
  stable: false,
  ...(newestFirst === undefined ? {} : { newestFirst }),
  decide,
});

const from = (turn: HistoryTurn | undefined, unit = 0): PolicyDecision => ({
  from: { turn: turn?.number ?? Number.MAX_SAFE_INTEGER, unit },
  reason: "older than the window",
});

const all: PolicyDecision = { from: null, reason: "everything is kept" };

const windowOfTurns = (size: number, newestFirst?: Policy["newestFirst"]): Policy =>
  policy("turns", (input) => (turnsOf(input).length <= size ? all : from(turnsOf(input)[size - 1])), newestFirst);

const windowOfMessages = (size: number, newestFirst?: Policy["newestFirst"]): Policy =>
  policy("messages", (input) => lastMessages({ max: size, keepRecent: size }).decide(input), newestFirst);

/** Drops units until the prompt fits. */
const dropping = (name: string, candidates: (units: readonly Unit[]) => readonly Unit[]): Policy =>
  policy(name, (input) => {
    const { available, measure } = input;
    const units = turnsOf(input).flatMap((turn) =>
      turn
        .units()
        .filter(({ pinned }) => pinned !== true)
        .toReversed(),
    );
    const dropped: string[] = [];
    for (const unit of candidates(units)) {
      if (available === null || measure({ from: null, dropped }) <= available) break;
      dropped.push(unit.id);
    }
    return { from: null, dropped, reason: "there is no room" };
  });

/** Shows the newest turns that fit into a wrongly computed room. */
const reckoning = (name: string, spare: (input: PolicyInput, available: number) => number): Policy =>
  policy(name, (input) => {
    if (input.available === null) return all;
    let left = spare(input, input.available);
    let oldest: HistoryTurn | undefined;
    for (const turn of turnsOf(input)) {
      left -= turn.tokens();
      if (left < 0) return from(oldest);
      oldest = turn;
    }
    return all;
  });

const tokensOf = ({ count }: PolicyInput, units: readonly Unit[]): number =>
  units.flatMap(({ messages }) => messages).reduce((sum, message) => sum + count(message), 0);

const isAnswer = ({ messages: [first] }: Unit): boolean => first?.role === "assistant";

/** Policies with common mistakes and without claims. */
const mistakes: readonly Policy[] = [
  dropping("over budget, drops the newest tool result first", (units) => units.filter(({ kind }) => kind === "round")),
  dropping("over budget, drops every other answer", (units) => units.filter(isAnswer).filter((_, at) => at % 2 === 0)),
  policy("drops every second answer", (input) => {
    const answers = turnsOf(input).flatMap((turn) => turn.units().filter(isAnswer));
    return { ...all, dropped: answers.filter((_, at) => at % 2 === 1).map(({ id }) => id) };
  }),
  policy("forgets everything after twelve turns", (input) => (turnsOf(input).length > 12 ? from(undefined) : all)),
  policy("shows only twelve turns", (input) => (turnsOf(input).length > 12 ? from(turnsOf(input)[11]) : all)),
  reckoning(
    "does not count what is pinned",
    (input, available) =>
      available -
      tokensOf(
        input,
        input.history.fixed().filter(({ pinned }) => pinned !== true),
      ),
  ),
  reckoning(
    "counts what is pinned twice",
    (input, available) =>
      available -
      input.history.fixedTokens() -
      tokensOf(
        input,
        input.history.fixed().filter(({ pinned }) => pinned === true),
      ),
  ),
  reckoning("leaves one token free", ({ history }, available) => available - history.fixedTokens() - 1),
  reckoning("takes one token too many", ({ history }, available) => available - history.fixedTokens() + 1),
  policy("starts in the middle of its oldest turn", (input) => {
    const oldest = turnsOf(input).findLast((turn) => turn.units().length > 1);
    return oldest === undefined ? all : from(oldest, Math.floor(oldest.units().length / 2));
  }),
  windowOfTurns(20),
  windowOfMessages(50),
];

const conversations = Math.max(16, runs(100));

describe("a claim that is left open and would not hold", () => {
  test.each(mistakes)("adds a remark with the open claim and its counterexample: $name", (wrong) => {
    const { remarks } = checkPolicyLaws(wrong, { seed: 1, runs: conversations });
    expect(remarks.join("\n")).toMatch(
      /does not claim "(?:newestFirst: true|makesRoom: true)"; if it did, it would break P(?:4|11): /,
    );
  });

  test.each(mistakes)("breaks the law if all claims are checked: $name", (wrong) => {
    expect(() => checkPolicyLaws(wrong, { seed: 1, runs: conversations, claims: "all" })).toThrow(/^P(?:4|11): /);
  });

  test("is found again from the seed and the path of the remark", () => {
    const [wrong = keepAll()] = mistakes;
    const [remark = ""] = checkPolicyLaws(wrong, { seed: 1, runs: conversations }).remarks;
    const [, path = ""] = /checkPolicyLaws\(policy, \{ seed: 1, path: "(\d+)", claims: "all" \}\)/.exec(remark) ?? [];
    expect(() => checkPolicyLaws(wrong, { seed: 1, path, claims: "all" })).toThrow(/^P(?:4|11): /);
  });

  test("is found in a long conversation if no short one shows it", async () => {
    const remarks = checkPolicyLaws(
      { ...windowOfTurns(19), name: "last-20-turns" },
      { seed: 1, runs: 10, except: ["P4"] },
    ).remarks;
    await expect(`${remarks.find((remark) => remark.includes("does not claim"))}\n`).toMatchFileSnapshot("remark.txt");
  });

  test("adds no remark if its law is excepted", () => {
    const [wrong = keepAll()] = mistakes;
    expect(checkPolicyLaws(wrong, { seed: 1, runs: 20, except: ["P4", "P11"] }).remarks).toEqual([]);
  });
});

describe("a window that is one off its claim", () => {
  test.each([5, 10, 20, 50, 120].flatMap((size) => [[size, size - 1] as const, [size, size + 1] as const]))(
    "P11 breaks with a claim of %i turns or messages if %i are shown",
    (claimed, size) => {
      const run: PolicyLawsRun = { seed: 1, runs: 1 };
      expect(() => checkPolicyLaws(windowOfTurns(size, { turns: claimed }), run)).toThrow(/^P11: /);
      expect(() => checkPolicyLaws(windowOfTurns(size, { turns: [claimed, claimed] }), run)).toThrow(/^P11: /);
      expect(() => checkPolicyLaws(windowOfMessages(size, { messages: claimed }), run)).toThrow(/^P11: /);
    },
  );

  test.each([5, 10, 20, 50, 120])("P11 holds if the %i turns or messages that are claimed are shown", (size) => {
    const { remarks } = checkPolicyLaws(windowOfTurns(size, { turns: size }), { seed: 1, runs: 4 });
    expect(remarks.filter((remark) => !remark.includes("never makes room"))).toEqual([]);
    checkPolicyLaws(windowOfMessages(size, { messages: size }), { seed: 1, runs: 4 });
  });

  test.each([
    [{ turns: [5, 6] }, lastTurns(5, { slack: 2 })],
    [{ turns: [6, 7] }, lastTurns(5, { slack: 2 })],
    [{ messages: [10, 49] }, lastMessages()],
    [{ messages: [12, 50] }, lastMessages()],
  ] as const)("P11 breaks for a window with slack that claims other bounds: $0", (newestFirst, window) => {
    expect(() => checkPolicyLaws({ ...window, newestFirst }, { seed: 1, runs: 1 })).toThrow(/^P11: /);
  });
});

test("a room of its own is measured as it was decided, also without a budget of the machine", () => {
  checkPolicyLaws(tokenWindow({ tokens: 274 }), { seed: 31_371, runs: 10 });
});

describe("a shipped policy", () => {
  const shipped: readonly Policy[] = [
    keepAll(),
    lastTurns(0),
    lastTurns(3),
    lastTurns(20, { slack: 5 }),
    lastMessages(),
    lastMessages({ max: 20, keepRecent: 20, keepSystem: false }),
    tokenWindow(),
    tokenWindow({ cutTo: 0.5 }),
    tokenWindow({ reserve: 40 }),
    tokenWindow({ tokens: 300, reserve: 50 }),
    clearResults(),
    clearResults({ when: "always", keep: 1, slack: 2 }),
    limitResults({ characters: 200 }),
    fitOversized(),
    omitFields(["a"]),
    onlyInputs([]),
    compactTurns(),
    summariseTurns({ maxTurns: 3 }),
    compose(limitResults({ characters: 500 }), clearResults({ keep: 1 }), fitOversized(), tokenWindow({ cutTo: 0.6 })),
    compose(omitFields(["a"]), lastTurns(4), tokenWindow()),
  ];

  test.each(shipped)("gets no remark but that it never makes room: $name $options", (each) => {
    const { remarks } = checkPolicyLaws(each, { seed: 1, runs: runs(16) });
    expect(remarks.filter((remark) => !remark.includes("never makes room"))).toEqual([]);
  });
});

describe("a policy that never shows the system message", () => {
  const silent: Policy = { ...keepAll(), name: "silent", decide: () => ({ ...all, system: "omit" }) };

  test("gets a remark, and breaks P3 if all claims are checked", () => {
    const run: PolicyLawsRun = { seed: 1, runs: 20 };
    expect(checkPolicyLaws(silent, run).remarks.join("\n")).toMatch(
      /^silent never shows the system message: \d+ prompts/m,
    );
    const claims = { ...run, claims: "all", except: ["P4"] } as const;
    expect(() => checkPolicyLaws(silent, claims)).toThrow(/^P3: silent never shows the system message/);
    expect(checkPolicyLaws(silent, { ...claims, except: ["P3", "P4"] }).remarks.length).toBeGreaterThan(0);
  });
});
