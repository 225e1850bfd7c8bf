import type { Clock, LlmHandler } from "@colloquy/host";
import {
  type JsonObject,
  type MachineOptions,
  type SystemDraft,
  type Usage,
  noUsage,
  textOf,
  toArray,
  toolCallsOf,
  type Turn,
  type TurnOutcome,
  usageMonoid,
} from "@colloquy/machine";
import type { Metric } from "../../turns/turns.ts";
import { firstWords, textTable } from "@colloquy/machine/inspect";

export interface RerunOptions {
  readonly llm: LlmHandler;
  readonly clock: Clock;
  /** The policy, the budget, the tools, the pricing and other options. Default: all defaults, without tools. */
  readonly machine?: MachineOptions;
  /** The system prompt; null for none. Default: that of each recorded turn. */
  readonly system?: SystemDraft | null;
  /** Parameters that override those of each recorded thread. */
  readonly model?: JsonObject;
  /**
   * The history before a question. `recorded`: the recorded turns, so that each answer is to the same conversation as
   * the recorded one. `own`: the new answers, as if the user had asked the same questions. Default `recorded`.
   */
  readonly history?: "recorded" | "own";
  /**
   * Scores each answer, including the recorded ones. The reference is the recorded version of the same turn. An error
   * is stored with the turn.
   */
  readonly metric?: Metric<SaidTurn, SaidTurn>;
  /** The number of conversations to ask at a time. Default 4. */
  readonly concurrency?: number;
  /** Stops the run; remaining questions are not asked. */
  readonly signal?: AbortSignal;
}

/** A turn in the form for metrics. */
export interface SaidTurn {
  readonly question: string;
  readonly answer: string;
  readonly tools: readonly CalledTool[];
}

/** Recorded conversations beside their new runs. Plain data. */
export interface RerunReport {
  readonly conversations: readonly RerunConversation[];
  /** The recorded figures of all turns that were asked again. */
  readonly before: RerunFigures;
  /** The new figures of the same turns. */
  readonly after: RerunFigures;
}

export interface RerunConversation {
  readonly name: string;
  /** A description of why it could not be asked, or not to its end; null if it could. */
  readonly problem: string | null;
  /** The turns with a question, in order. */
  readonly turns: readonly RerunTurn[];
}

export interface RerunTurn {
  /** Its number in the recording. */
  readonly turn: number;
  readonly question: string;
  readonly before: RerunSide;
  readonly after: RerunSide;
  /** Whether both called the same tools in the same order, and gave the same answer. */
  readonly same: boolean;
}

/** One version of a turn. */
export interface RerunSide {
  readonly status: "completed" | "failed" | "cancelled";
  /** Why it did not complete; null if it did. */
  readonly why: string | null;
  /** The text of its last answer; "" for none. */
  readonly answer: string;
  readonly tools: readonly CalledTool[];
  /** Calls, tokens and cost; for a turn from elsewhere, all are unknown. */
  readonly usage: Usage;
  /** The metric's score; null without a metric, if it failed, and for a turn that did not complete. */
  readonly score: number | null;
  readonly metricFailed: string | null;
}

/** A tool call as a model wrote it. */
export interface CalledTool {
  readonly name: string;
  readonly arguments: string;
}

/** The figures of one version of all turns. */
export interface RerunFigures {
  readonly turns: number;
  readonly completed: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  /** The mean of the existing scores; null if there are none. */
  readonly score: number | null;
  readonly scored: number;
}

/** Returns one version of a closed turn, without a score. */
export const sideOf = (turn: Turn): RerunSide => {
  const messages = toArray(turn.messages);
  // A turn that was added whole has no answer from a model here; its last reply is used.
  const answer = messages.find(({ id }) => id === turn.answer) ?? messages.findLast(({ role }) => role === "assistant");
  return {
    status: turn.outcome.status,
    why: reasonOf(turn.outcome),
    answer: answer === undefined ? "" : textOf(answer),
    tools: messages.flatMap(toolCallsOf).map(({ name, arguments: given }) => ({ name, arguments: given })),
    usage: turn.usage,
    score: null,
    metricFailed: null,
  };
};

/** Adds up all versions. */
export const figuresOf = (sides: readonly RerunSide[]): RerunFigures => {
  const scores = sides.flatMap(({ score }) => score ?? []);
  return {
    turns: sides.length,
    completed: sides.filter(({ status }) => status === "completed").length,
    toolCalls: sides.reduce((sum, { tools }) => sum + tools.length, 0),
    usage: sides.reduce((sum, { usage }) => usageMonoid.concat(sum, usage), noUsage),
    score: scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length,
    scored: scores.length,
  };
};

const reasonOf = (outcome: TurnOutcome): string | null => {
  if (outcome.status === "completed") return null;
  if (outcome.status === "cancelled") return outcome.reason ?? "it was cancelled";
  if ("failure" in outcome) return outcome.failure.message;
  if ("output" in outcome) return outcome.output.message;
  if ("limit" in outcome) return `the limit ${outcome.limit.limit} of ${outcome.limit.allowed} was reached`;
  return `the prompt takes ${outcome.unfit.tokens} tokens, and there is room for ${outcome.unfit.available}`;
};

/**
 * Formats recorded conversations beside their new runs, for a person: the turns that differ, and the figures of both
 * versions.
 */
export const rerunTable = ({ conversations, before, after }: RerunReport): string =>
  [
    ...conversations.flatMap(conversationLines),
    ...(before.turns === 0 ? [] : ["", textTable(columns, rowsOf(before, after))]),
  ].join("\n");

const columns = [
  { title: "" },
  { title: "recorded", align: "right" },
  { title: "now", align: "right" },
  { title: "change", align: "right" },
] as const;

const conversationLines = ({ name, problem, turns }: RerunConversation): readonly string[] => {
  const other = turns.filter(({ same }) => !same);
  const asked = turns.length === 1 ? "1 turn" : `${turns.length} turns`;
  const stopped = problem === null ? "" : `; stopped: ${firstWords(problem, reasonColumns)}`;
  return [
    `${name}: ${asked} asked again, ${other.length === 0 ? "all as recorded" : `${other.length} otherwise`}${stopped}`,
    ...other.flatMap(turnLines),
  ];
};

const turnLines = ({ turn, question, before, after }: RerunTurn): readonly string[] => [
  `  turn ${turn}: ${firstWords(question, textColumns)}`,
  `    recorded  ${sideWords(before)}`,
  `    now       ${sideWords(after)}`,
];

const sideWords = ({ status, why, answer, tools, score, metricFailed }: RerunSide): string =>
  [
    ...(status === "completed" ? [] : [`${status}: ${firstWords(why ?? "", reasonColumns)}`]),
    ...tools.map((call) => firstWords(`${call.name}(${call.arguments})`, textColumns)),
    ...(answer === "" ? [] : [`"${firstWords(answer, reasonColumns)}"`]),
    ...(score === null ? [] : [`score ${rounded(score)}`]),
    ...(metricFailed === null ? [] : [`no score: ${firstWords(metricFailed, textColumns)}`]),
  ].join(", ");

const textColumns = 60;
const reasonColumns = 100;

const rowsOf = (before: RerunFigures, after: RerunFigures): readonly (readonly string[])[] => {
  const row = (title: string, figure: (figures: RerunFigures) => number | null): readonly string[] =>
    rowOf(title, figure(before), figure(after));
  const currencies = new Set([...Object.keys(before.usage.cost), ...Object.keys(after.usage.cost)]);
  return [
    row("turns", ({ turns }) => turns),
    row("completed", ({ completed }) => completed),
    row("tool calls", ({ toolCalls }) => toolCalls),
    row("model calls", ({ usage }) => (usage.calls === 0 ? null : usage.calls)),
    row("input tokens", ({ usage }) => sumOf(usage.inputTokens)),
    row("output tokens", ({ usage }) => sumOf(usage.outputTokens)),
    ...[...currencies].map((currency) => row(`cost (${currency})`, ({ usage }) => costIn(usage, currency))),
    ...(before.scored + after.scored === 0 ? [] : [row("mean score", ({ score }) => score)]),
  ];
};

/** Returns null if no call reported it. */
const sumOf = ({ sum, reported }: Usage["totalTokens"]): number | null => (reported === 0 ? null : sum);

const costIn = ({ cost }: Usage, currency: string): number | null => {
  const { sum, reported } = (Object.hasOwn(cost, currency) ? cost[currency] : undefined) ?? noUsage.totalTokens;
  return reported === 0 ? null : sum / nanoUnits;
};

const nanoUnits = 1_000_000_000;

const rowOf = (title: string, before: number | null, after: number | null): readonly string[] => {
  const change = before === null || after === null ? "0" : rounded(after - before);
  return [title, shown(before), shown(after), change === "0" ? "" : change.startsWith("-") ? change : `+${change}`];
};

const shown = (value: number | null): string => (value === null ? "?" : rounded(value));

/** Rounds away the errors of binary fractions. */
const rounded = (value: number): string => String(Number(value.toFixed(6)));
