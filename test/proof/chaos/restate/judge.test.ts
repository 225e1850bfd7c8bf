import type { Entry } from "@colloquy/machine";
import { beforeAll, describe, expect, test } from "vitest";

import type { Answer, Performed } from "../../../../proof/chaos/story/facts.ts";
import { judge, type Uncrashed } from "../../../../proof/chaos/story/judge.ts";
import { referencesOf } from "../../../../proof/chaos/restate/converse.ts";
import { asksOf, kinds } from "../../../../proof/chaos/restate/script.ts";
import { type Asked, machineOf } from "../../../../proof/chaos/story/script.ts";

const turns = kinds.length;

interface Given {
  readonly journal: readonly unknown[];
  readonly answers: readonly Answer[];
  readonly ran: readonly Performed[];
  readonly asked?: readonly Asked[];
}

describe("the judge of conversations on an engine", () => {
  let uncrashed: Uncrashed = { journal: [], answers: [], isOrdered: "but for tools" };
  let whole: Given;

  beforeAll(async () => {
    const { of, ran } = await referencesOf(1, turns);
    [uncrashed = uncrashed] = of;
    whole = { answers: uncrashed.answers, journal: uncrashed.journal, ran };
  });

  const judged = (changes: Partial<Given>): readonly string[] => {
    const { journal, answers, ran, asked = asksOf(0, turns) } = { ...whole, ...changes };
    const facts = [...ran, ...answers.map((answer) => ({ type: "answered", ...answer }) as const)];
    return judge({ journal, asked, facts, machine: machineOf(), uncrashed });
  };
  const problemsOf = (changes: Partial<Given>): string => judged(changes).join("\n");

  /** Returns the journal with another answer to a tool call. */
  const answered = (kind: (typeof kinds)[number], otherwise: object, mark: object): readonly unknown[] =>
    whole.journal.map((entry) => {
      // Cast: the reference journal has entries.
      const { event, ...rest } = entry as Entry;
      const isIt = event.type === "tool.completed" && event.effectId.startsWith(`t0/${kinds.indexOf(kind) + 1}.`);
      return isIt ? { ...rest, event: { ...event, ...otherwise }, ...mark } : entry;
    });

  const unknown = { type: "tool.failed", outcome: "unknown", content: "the outcome is unknown" };

  test("finds nothing wrong with the reference itself, nor with parallel answers in the other order", () => {
    expect(problemsOf({})).toBe("");
    const { journal } = whole;
    const at = journal.findIndex((entry, seq) =>
      [entry, journal[seq + 1]].every((each) => (each as Entry | undefined)?.event.type === "tool.completed"),
    );
    const [one, other] = [journal[at], journal[at + 1]] as [Entry, Entry];
    const swapped = [
      { ...other, seq: at },
      { ...one, seq: at + 1 },
    ];
    expect(at).toBeGreaterThan(0);
    expect(problemsOf({ journal: [...journal.slice(0, at), ...swapped, ...journal.slice(at + 2)] })).toBe("");
  });

  test("catches a once-only tool that ran twice, and lets one run again that may", () => {
    const again = (what: string): readonly Performed[] => [
      ...whole.ran,
      ...whole.ran.filter((ran) => ran.what === what),
    ];
    expect(problemsOf({ ran: again("charge") })).toMatch(/t0\/4\.1\.0#1.* ran 2 times/);
    expect(problemsOf({ ran: again("refund") })).toMatch(/t0\/5\.1\.0#1.* ran 2 times/);
    expect(problemsOf({ ran: again("notify") })).toMatch(/ran 2 times/);
    expect(problemsOf({ ran: again("model") })).toBe("");
  });

  test("catches a result of a tool that never ran", () => {
    expect(problemsOf({ ran: whole.ran.filter(({ what }) => what !== "charge") })).toMatch(
      /has a result, and its tool never ran/,
    );
  });

  test("catches an entry that is missing, one that is there twice, and one too many", () => {
    const { journal } = whole;
    const numbered = (entries: readonly unknown[]): readonly unknown[] =>
      entries.map((entry, seq) => ({ ...(entry as Entry), seq }));
    expect(problemsOf({ journal: [...journal.slice(0, 4), ...journal.slice(5)] })).toMatch(
      /does not decode|does not fold/,
    );
    expect(problemsOf({ journal: numbered([...journal.slice(0, 2), ...journal.slice(1)]) })).toMatch(
      /replays otherwise|does not fold/,
    );
    expect(problemsOf({ journal: journal.slice(0, -1) })).toMatch(new RegExp(`entry ${journal.length - 1} is missing`));
    const added = { seq: journal.length, event: { type: "checkpoint.named", at: 0, name: "more" } };
    expect(problemsOf({ journal: [...journal, added] })).toMatch(/is checkpoint\.named, and should be none/);
  });

  test("catches another answer, a second one that differs, and one that nobody had", () => {
    const [first, ...rest] = whole.answers;
    const other = { askId: "c0-0", turn: 1, text: "other" };
    expect(problemsOf({ answers: [other, ...rest] })).toMatch(/c0-0 had the result "other"/);
    expect(problemsOf({ answers: [...whole.answers, { ...other, text: first?.text ?? "", turn: 2 }] })).toMatch(
      /c0-0 was answered with/,
    );
    expect(problemsOf({ answers: rest })).toMatch(/its asker had no result/);
  });

  test("catches an ask that is lost, one that is taken twice, and one that nobody made", () => {
    const { journal } = whole;
    const lost = journal.findLastIndex((entry) => (entry as Entry).event.type === "ask.received");
    expect(problemsOf({ journal: journal.slice(0, lost) })).toMatch(/c0-7 is lost/);
    const again = { ...(journal.find((entry) => (entry as Entry).event.type === "ask.received") as Entry) };
    expect(problemsOf({ journal: [...journal, { ...again, seq: journal.length }] })).toMatch(
      /takes c0-0 a second time/,
    );
    expect(problemsOf({ asked: asksOf(0, turns - 1) })).toMatch(/c0-7 was accepted, but was never asked/);
  });

  test("takes what a recovery says of a once-only call, where the table has it so, and is marked", () => {
    const problems = judged({ journal: answered("charge", unknown, { recovered: true }) });
    // Later prompts contain the recovery's answer, so their digests differ.
    expect(problems.filter((problem) => !problem.includes("replays otherwise"))).toEqual([]);
  });

  test("catches a recovery that is not marked, and one that the table does not have", () => {
    expect(problemsOf({ journal: answered("charge", unknown, {}) })).toMatch(/is another after the crash/);
    expect(problemsOf({ journal: answered("lookup", unknown, { recovered: true }) })).toMatch(/it should run/);
  });
});
