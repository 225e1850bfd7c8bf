import {
  type CaseFile,
  type CaseReplay,
  describeCaseDifference,
  isStrict,
  noFigures,
  type RecordedCase,
  type RecordedChatCase,
  replayCase,
} from "@colloquy/runtime-test/recordings";
import { count, type Finding, figuresLine, type Report, sumOfFigures } from "./report.ts";

export interface ReplayedCase {
  readonly recorded: RecordedCase;
  readonly replay: CaseReplay;
}

export const replayCases = ({ records, common }: CaseFile): readonly ReplayedCase[] =>
  records.map((recorded) => ({ recorded, replay: replayed(recorded, common) }));

/** Replays a case. An exception of the machine fails this case, and no other. */
const replayed = (recorded: RecordedCase, common: CaseFile["common"]): CaseReplay => {
  try {
    const replay = replayCase(recorded, { common });
    const words = recorded.api === "responses" ? null : (reasonProblem(recorded) ?? endProblem(recorded));
    return words === null || replay.outcome !== "passed"
      ? replay
      : { ...replay, outcome: "failed", difference: { step: null, words } };
  } catch (thrown) {
    const words = `the replay threw ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`;
    return {
      id: recorded.id,
      outcome: "failed",
      difference: { step: null, words },
      figures: noFigures,
      calls: [],
      entries: [],
      notes: [],
    };
  }
};

/** Returns how the finish reasons of a case contradict its replies and its tags; null if they do not. */
const reasonProblem = ({ steps, tags }: RecordedChatCase): string | null => {
  const replies = steps.flatMap((step) =>
    step.type === "llm"
      ? [{ reason: step.finish_reason ?? null, calls: Array.isArray(step.message["tool_calls"]) }]
      : [],
  );
  for (const [tag, has] of [
    ["length", replies.some(({ reason }) => reason === "length")],
    ["stop+tools", replies.some(({ reason, calls }) => calls && reason === "stop")],
  ] as const)
    if (tags.includes(tag) !== has) return `its finish reasons and its tags disagree about "${tag}"`;
  const k = replies.findIndex(
    ({ reason, calls }) => (reason === "tool_calls" && !calls) || (reason === "content_filter" && calls),
  );
  return k < 0
    ? null
    : `model call ${k} ended with "${replies[k]?.reason}" and ${replies[k]?.calls === true ? "calls" : "without calls"}`;
};

const endProblem = ({ steps, end }: RecordedChatCase): string | null => {
  const last = steps.at(-1)?.type;
  return end === undefined || last === undefined || last === "message" || end.startsWith(`after_${last}`)
    ? null
    : `it ends with a step "${last}", but its end is "${end}"`;
};

export const reportOfCases = (file: string, replayed: readonly ReplayedCase[]): Report => {
  const passed = replayed.filter(({ replay }) => replay.outcome === "passed");
  const strict = replayed.filter(({ recorded }) => isStrict(recorded) && recorded.expect.llm_calls > 1);
  const strictPassed = strict.filter(({ replay }) => replay.outcome === "passed");
  const withUsage = replayed.filter(({ recorded }) => recorded.expect.usage !== null).length;
  const kept = passed.filter(({ replay }) => replay.notes.length > 0).length;
  return {
    title: file,
    lines: [
      `replayed: ${figuresLine(sumOfFigures(replayed.map(({ replay }) => replay.figures)))}`,
      `strict with more than one call: ${count(strictPassed.length)} of ${count(strict.length)} passed; usage recorded in ${count(withUsage)}`,
      ...(kept === 0
        ? []
        : [`in ${count(kept)} the client kept another message than it received; the journal has the kept one`]),
      ...byTag(replayed),
    ],
    passed: passed.length,
    failures: findings(replayed, "failed"),
    inexpressible: findings(replayed, "inexpressible"),
  };
};

const findings = (replayed: readonly ReplayedCase[], outcome: CaseReplay["outcome"]): readonly Finding[] =>
  replayed.flatMap(({ recorded, replay }) =>
    replay.outcome === outcome && replay.difference !== null
      ? [
          {
            id: `${recorded.id} [${recorded.tags.join(" ")}]`,
            words: describeCaseDifference(recorded, replay.difference),
          },
        ]
      : [],
  );

const byTag = (replayed: readonly ReplayedCase[]): readonly string[] => {
  const tags = Map.groupBy(
    replayed.flatMap((each) =>
      (each.recorded.tags.length === 0 ? ["(none)"] : each.recorded.tags).map((tag) => ({ tag, ...each })),
    ),
    ({ tag }) => tag,
  );
  return [...tags]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([tag, cases]) => {
      const outcomes = Map.groupBy(cases, ({ replay }) => replay.outcome);
      const of = (outcome: CaseReplay["outcome"]): number => outcomes.get(outcome)?.length ?? 0;
      const why = outcomes.get("inexpressible")?.[0]?.replay.difference?.words;
      return `${tag.padEnd(22)} ${count(of("passed"))} passed, ${count(of("failed"))} failed, ${count(of("inexpressible"))} can't be expressed${why === undefined ? "" : `, for one: ${why}`}`;
    });
};
