import { describe, expect, test } from "vitest";
import { mergeExamples, scoreOf } from "../../src/index.ts";
import { answering, asked } from "../question-answerer.ts";

// Cases 93 to 96 of dspy-session, from its own tests, and its mistakes there.

const isGood = ({ outputs }: { readonly outputs: { readonly answer: string } }): boolean =>
  outputs.answer.startsWith("good");

const questions = (examples: readonly { readonly inputs: { readonly question: string } }[]): readonly string[] =>
  examples.map(({ inputs }) => inputs.question);

describe("scores", () => {
  test("93: good, bad and good score 1, 0 and 1, and from .5 on the first and the last are examples", async () => {
    const { qa } = answering(["good", "bad", "good"]);
    await asked(qa, 3, 1);
    expect(await qa.score(isGood)).toEqual([1, 0, 1]);
    expect(questions(await qa.examples({ minScore: 0.5 }))).toEqual(["Q1", "Q3"]);
    expect((await qa.turns()).map(scoreOf)).toEqual([1, 0, 1]);
  });

  test("95: what a metric throws counts as 0, and is reported with the turn", async () => {
    const reported: string[] = [];
    const host = { onObserverError: (error: unknown, where: string) => reported.push(`${where}: ${String(error)}`) };
    const { qa } = answering([], { host });
    await asked(qa, 1);
    const failing = (): never => {
      throw new Error("no judge");
    };
    expect(await qa.score(failing)).toEqual([0]);
    expect(reported).toEqual(["the metric, for turn 1: Error: no judge"]);
  });

  test("95: or is raised; then no turn is scored, also none before it", async () => {
    const { qa } = answering([]);
    await asked(qa, 2);
    const late = ({ number }: { readonly number: number }): number => {
      if (number === 2) throw new RangeError("no judge");
      return 1;
    };
    await expect(qa.score(late, { onMetricError: "raise" })).rejects.toThrow(RangeError);
    expect((await qa.turns()).map(scoreOf)).toEqual([null, null]);
  });

  test.each([
    { judged: null, score: 0 },
    { judged: undefined, score: 0 },
    { judged: 0.25, score: 0.25 },
    { judged: false, score: 0 },
  ])("a metric that gives $judged scores $score", async ({ judged, score }) => {
    const { qa } = answering([]);
    await asked(qa, 1);
    expect(await qa.score(() => judged, { onMetricError: "raise" })).toEqual([score]);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])(
    "%d is no score: the error names it and the turn",
    async (judged) => {
      const { qa } = answering([], { host: { onObserverError: () => {} } });
      await asked(qa, 1);
      expect(await qa.score(() => judged)).toEqual([0]);
      await expect(qa.score(() => judged, { onMetricError: "raise" })).rejects.toThrow(
        `the metric gave ${judged} for turn 1; a score is a finite number, or true or false`,
      );
    },
  );

  test("the newest score counts, and one that is the same again is not noted again", async () => {
    const { qa } = answering([]);
    await asked(qa, 1);
    await qa.score(() => 1);
    await qa.score(() => 1);
    await qa.score(() => 0.5);
    const [turn] = await qa.turns();
    expect(turn?.annotations.map(({ value }) => value)).toEqual([1, 0.5]);
    expect((await qa.examples())[0]?.score).toBe(0.5);
  });

  test("an option that is misspelt is refused, as those of dspy-session are", async () => {
    const { qa } = answering([]);
    await expect(qa.examples(Object({ min_score: 1 }))).rejects.toThrow(/no option "min_score"; there are .*minScore/u);
    await expect(qa.score(() => 1, Object({ strict: true }))).rejects.toThrow(/score has no option "strict"/u);
  });

  test("a value of an option that means nothing is refused, and named", async () => {
    const { qa } = answering([]);
    await expect(qa.score(() => 1, Object({ onMetricError: "rise" }))).rejects.toThrow(
      'score: onMetricError must be "zero" or "raise" (got "rise")',
    );
    for (const minScore of [Number.NaN, "1"])
      await expect(qa.examples(Object({ minScore }))).rejects.toThrow(
        /examples: minScore must be a number \(got (NaN|".*")\)/,
      );
  });
});

describe("examples", () => {
  test("94: strictly good up to the first bad turn, which and those behind it are left out", async () => {
    const { qa } = answering(["good1", "good2", "bad", "good3"]);
    await asked(qa, 4);
    const examples = await qa.examples({ metric: isGood, minScore: 0.5, strict: true });
    expect(questions(examples)).toEqual(["Q0", "Q1"]);
    expect(examples.leftOut).toEqual([
      { thread: "qa", turn: 3, step: 1, because: "belowScore", score: 0 },
      { thread: "qa", turn: 4, step: 1, because: "behindBadTurn", score: 1 },
    ]);
  });

  test("94: of good, bad and good two are examples where they need not be strict", async () => {
    const { qa } = answering(["good1", "bad", "good2"]);
    await asked(qa, 3);
    expect(await qa.examples({ metric: isGood, minScore: 0.5 })).toHaveLength(2);
  });

  test("96: of two sessions, two and one, are three, with what was left out of each", async () => {
    const [one, other] = [answering(["A", new Error("down")]), answering([], { name: "other" })];
    await asked(one.qa, 3);
    await asked(other.qa, 1);
    const merged = mergeExamples(await one.qa.examples(), await other.qa.examples());
    expect(merged.map(({ thread, turn }) => [thread, turn])).toEqual([
      ["qa", 1],
      ["qa", 3],
      ["other", 1],
    ]);
    expect(merged.leftOut).toEqual([{ thread: "qa", turn: 2, step: 1, because: "failed", score: null }]);
  });

  test("are none where a score is asked for and there is none, where words were taken out, and of no thread", async () => {
    const { qa } = answering([]);
    expect(await qa.examples()).toEqual([]);
    await asked(qa, 2);
    await qa.thread.redact({ turn: 1 });
    const { leftOut } = await qa.examples({ minScore: 0 });
    expect(leftOut.map(({ because }) => because)).toEqual(["redacted", "unscored"]);
  });
});

test("what is no metric is refused in words, and no turn is scored", async () => {
  const { qa } = answering([]);
  await asked(qa, 1);
  // @ts-expect-error no function
  await expect(qa.score(0.5)).rejects.toThrow("score: the metric must be a function (got 0.5)");
  // @ts-expect-error none
  await expect(qa.score()).rejects.toThrow("score: the metric must be a function (got undefined)");
  expect((await qa.turns()).map(scoreOf)).toEqual([null]);
});
