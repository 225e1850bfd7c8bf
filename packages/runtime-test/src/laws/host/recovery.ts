import {
  type AnswerableEffect,
  type Entry,
  outstanding,
  type ToolDeclaration,
  type ToolRecovery,
} from "@colloquy/machine";
import { differenceOf, LawBroken } from "../evidence/law-broken.ts";
import { foldedUnder } from "./host-under-test.ts";

/** One script, run twice: without a crash, and with one or more. */
export interface RecoveredRun {
  /** The journal of the run without a crash. */
  readonly uncrashed: readonly Entry[];
  /** The journal of the other run, after it ended. */
  readonly resumed: readonly Entry[];
  /** The tools as they were declared, for how each recovers. */
  readonly tools: readonly ToolDeclaration[];
  /** Each time a tool's function was called in the run that crashed, by the id of its effect. */
  readonly ran: readonly string[];
}

/**
 * R2: a crash changes nothing but what it must. Times aside, the journal is the uncrashed one up to the first entry
 * that is marked `recovered`, and to its end when there is none. Such an entry is one of these:
 *
 * | what was out | recovery of the tool | the recovered entry |
 * | --- | --- | --- |
 * | `callLlm`, `startTimer` | | none: it is performed again |
 * | `callTool` | `rerun` | none: it is performed again |
 * | `callTool` | `interrupted` (the default) | `tool.failed`, outcome `interrupted` |
 * | `callTool`, not started | `once` | none: it runs |
 * | `callTool`, started | `once` | `tool.failed`, outcome `unknown` |
 * | `callTool`, not started | `ask` | none: it runs |
 * | `callTool`, started | `ask` | `tool.withheld`, `unknown_outcome`: a person is asked whether it runs again |
 * | `callTool`, to be approved first | any | none: its arguments are validated again |
 * | `requestApproval` | | none: the question stands |
 *
 * The events after such an entry may differ, but every ask of the uncrashed run is there, in its order, and if that run
 * ended, nothing is left outstanding. A call, by its tool and arguments, that was answered in both runs was answered
 * alike: with an outcome and a content that it also had without the crash. The function of a tool that is not to be
 * rerun is called at most once for each call, and once more each time that a second run was approved. The script must
 * fix the order of answers that come at the same time, and its tools must answer by their arguments alone.
 */
export const lawRecovery = ({ uncrashed, resumed, tools, ran }: RecoveredRun): void => {
  const first = resumed.findIndex(isRecovered);
  requireEqual(uncrashed, resumed, first < 0 ? Math.max(uncrashed.length, resumed.length) : first);
  for (const [index, entry] of resumed.entries()) {
    if (isRecovered(entry)) requireByTable(resumed.slice(0, index), entry, tools);
  }
  requireFewRuns(resumed, tools, ran);
  requireAsks(uncrashed, resumed);
  if (first >= 0) requireSameAnswers(uncrashed, resumed);
  if (outstandingAfter(uncrashed).length === 0 && outstandingAfter(resumed).length > 0)
    throw broken(`the uncrashed run came to its end; after the crash there is still something outstanding`);
};

const broken = (words: string): LawBroken => new LawBroken("R2", words);

const requireFewRuns = (resumed: readonly Entry[], tools: readonly ToolDeclaration[], ran: readonly string[]): void => {
  const single = new Set(
    calls(resumed)
      .filter((call) => recoveryOf(call, tools) !== "rerun")
      .map(({ id }) => id),
  );
  const again = allowedAgain(resumed);
  for (const id of new Set(ran)) {
    const times = ran.filter((other) => other === id).length;
    const allowed = 1 + again.filter((other) => other === id).length;
    if (single.has(id) && times > allowed)
      throw broken(`the call ${id}, whose tool is not to be run again, ran ${times} times`);
  }
};

/** The first attempts of the calls that were approved to run again, once for each approval. */
const allowedAgain = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ event }, index) => {
    if (event.type !== "approval.answered" || !event.approved) return [];
    const question = outstandingAfter(entries.slice(0, index)).find(({ id }) => id === event.effectId);
    if (question?.type !== "requestApproval" || question.because !== "unknown_outcome") return [];
    return [`${question.threadId}/${question.callId}#1`];
  });

const requireAsks = (uncrashed: readonly Entry[], resumed: readonly Entry[]): void => {
  const [expected, got] = [askIdsIn(uncrashed), askIdsIn(resumed)];
  const missing = expected.findIndex((askId, index) => got[index] !== askId);
  if (missing >= 0)
    throw broken(`ask "${expected[missing]}" stands at place ${missing} without the crash, and not after it`);
};

const askIdsIn = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ event }) => (event.type === "ask.received" ? [event.askId] : []));

const requireSameAnswers = (uncrashed: readonly Entry[], resumed: readonly Entry[]): void => {
  const before = answersIn(uncrashed);
  for (const { call, seq, answer } of answersIn(resumed)) {
    const expected = before.filter((other) => other.call === call).map((other) => other.answer);
    if (expected.length > 0 && !expected.includes(answer))
      throw broken(`entry ${seq} answers ${call} with ${answer}; without the crash it is ${expected[0]}`);
  }
};

/** Returns the answers of tools, without those of recovery, as text that is equal for equal calls and answers. */
const answersIn = (
  entries: readonly Entry[],
): readonly { readonly seq: number; readonly call: string; readonly answer: string }[] =>
  entries.flatMap((entry, index) => {
    const { seq, event } = entry;
    if ((event.type !== "tool.completed" && event.type !== "tool.failed") || isRecovered(entry)) return [];
    const effect = outstandingAfter(entries.slice(0, index)).find(({ id }) => id === event.effectId);
    if (effect?.type !== "callTool") return [];
    const outcome = event.type === "tool.failed" ? event.outcome : "completed";
    return [
      { seq, call: `${effect.name}(${effect.arguments})`, answer: `${outcome} ${JSON.stringify(event.content)}` },
    ];
  });

const isRecovered = (entry: Entry): boolean => "recovered" in entry;

const requireEqual = (uncrashed: readonly Entry[], resumed: readonly Entry[], length: number): void => {
  for (let index = 0; index < length; index++) {
    const difference = differenceOf(withoutTimes(uncrashed[index]), withoutTimes(resumed[index]));
    if (difference !== null) throw broken(`entry ${index} is another after the crash: ${difference}`);
  }
};

/** Checks that recovery may have written an entry after these. @throws LawBroken */
export const requireByTable = (
  before: readonly Entry[],
  { seq, event }: Entry,
  tools: readonly ToolDeclaration[],
): void => {
  const answered = "effectId" in event ? event.effectId : "";
  const effect = outstandingAfter(before).find(({ id }) => id === answered);
  if (effect?.type !== "callTool" || (event.type !== "tool.failed" && event.type !== "tool.withheld")) {
    throw broken(
      `recovered entry ${seq} (${event.type}) answers ${effect?.type ?? "nothing that was out"}: only a tool call is answered by recovery`,
    );
  }
  const rule = recoveryOf(effect, tools);
  const allowed = allowedFor(effect, rule);
  const is = event.type === "tool.failed" ? event.outcome : event.because;
  if (is !== allowed) {
    const how = `${rule}${effect.started ? ", started" : ""}`;
    throw broken(
      `recovered entry ${seq} says that ${effect.id} (${how}) is ${is}; it should ${allowed === null ? "run" : `be ${allowed}`}`,
    );
  }
};

/** Returns the answer that recovery may give to a call, by the table; null if the call runs. */
const allowedFor = ({ started, approval, by }: ToolCall, rule: ToolRecovery): string | null => {
  if (by === "caller" || approval === "required" || rule === "rerun") return null;
  if (rule === "interrupted") return "interrupted";
  if (!started) return null;
  return rule === "once" ? "unknown" : "unknown_outcome";
};

type ToolCall = Extract<AnswerableEffect, { readonly type: "callTool" }>;

const recoveryOf = ({ name }: ToolCall, tools: readonly ToolDeclaration[]): ToolRecovery =>
  tools.find((tool) => tool.name === name)?.recovery ?? "interrupted";

/** Every tool call that a journal ever asked for. */
const calls = (entries: readonly Entry[]): readonly ToolCall[] => {
  const found = entries.flatMap((_, index) => outstandingAfter(entries.slice(0, index + 1)));
  return found.filter((effect): effect is ToolCall => effect.type === "callTool");
};

const outstandingAfter = (entries: readonly Entry[]): readonly AnswerableEffect[] =>
  outstanding(foldedUnder("R2", entries));

/** Returns an entry without its times, which differ between two runs. */
export const withoutTimes = (entry: Entry | undefined): unknown =>
  JSON.parse(JSON.stringify(entry ?? null), (key: string, value: unknown) => (times.has(key) ? 0 : value));

const times: ReadonlySet<string> = new Set(["at", "dueAt", "deadlineAt"]);
