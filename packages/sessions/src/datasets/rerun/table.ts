import { noUsage, type Usage } from "@colloquy/machine";
import { firstWords, textTable } from "@colloquy/machine/inspect";
import type { RerunConversation, RerunFigures, RerunReport, RerunSide, RerunTurn } from "./report.ts";

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
  const change = before === null || after === null ? 0 : after - before;
  return [title, shown(before), shown(after), change === 0 ? "" : `${change > 0 ? "+" : ""}${rounded(change)}`];
};

const shown = (value: number | null): string => (value === null ? "?" : rounded(value));

/** Rounds away the errors of binary fractions. */
const rounded = (value: number): string => String(Number(value.toFixed(6)));
