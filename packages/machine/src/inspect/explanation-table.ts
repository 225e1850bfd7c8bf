import type { UnitExplanation } from "../prompt/explain-units.ts";
import type { Explanation } from "./explain.ts";
import { messageWords } from "../thread/message.ts";
import { firstWords, textTable } from "./text-table.ts";

/**
 * Formats an explanation as a table, with a line for each unit of the thread and the totals below. At least 80 columns
 * wide.
 */
export const explanationTable = (explanation: Explanation): string =>
  [textTable(columns, rowsOf(explanation)), "", ...totalsOf(explanation)].join("\n");

const columns = [
  { title: "turn", align: "right" },
  { title: "unit" },
  { title: "kind" },
  { title: "says" },
  { title: "shown" },
  { title: "tokens", align: "right" },
  { title: "of", align: "right" },
  { title: "why" },
] as const;

const textColumns = 28;

/** The summary is placed as in the prompt: after the system message. */
const rowsOf = ({ units, summary }: Explanation): readonly (readonly string[])[] => {
  const rows = units.map(rowOf);
  if (summary === null) return rows;
  const { from, to } = summary.turns;
  const row = [
    `${from}-${to}`,
    summary.message.id,
    "summary",
    firstWords(messageWords(summary.message), textColumns),
    "whole",
    numberOf(summary.tokens),
    "",
    "stands for older turns",
  ];
  return rows.toSpliced(units[0]?.kind === "system" ? 1 : 0, 0, row);
};

const rowOf = ({ turn, id, kind, messages, shown, sentTokens, tokens, why }: UnitExplanation): readonly string[] => [
  turn === null ? "" : String(turn),
  id,
  kind === "message" ? (messages[0]?.role ?? kind) : kind,
  firstWords(messages.map(messageWords).join(" "), textColumns),
  shown,
  numberOf(sentTokens),
  numberOf(tokens),
  firstWords(why, reasonColumns),
];

/** A policy may give a reason of any length. */
const reasonColumns = 100;

const totalsOf = (explanation: Explanation): readonly string[] => {
  const { tokens, besideTokens, wholeTokens, available, share, fits, budget, calibration } = explanation;
  const { policy, reason, failed } = explanation;
  const room =
    available === null
      ? ", no bound"
      : ` of ${available}${share === null ? "" : ` (${Math.round(share * 100)} %)`}, ${fits ? "fits" : "does not fit"}`;
  const calibrated = calibration === 1 ? "" : `; a model reports ${calibration} for each that is counted`;
  return [
    `prompt   ${numberOf(tokens)} tokens${room}; ${numberOf(besideTokens)} of them beside the messages; the whole thread takes ${numberOf(wholeTokens)}`,
    ...(budget === null
      ? []
      : [`budget   ${budget.tokens} tokens, ${budget.reserve} of them left for the answer${calibrated}`]),
    `policy   ${firstWords(`${policy}: ${reason}`, reasonColumns)}`,
    ...(failed === undefined ? [] : [`failed   ${firstWords(failed, 2 * reasonColumns)}`]),
  ];
};

const numberOf = (tokens: number | null): string => (tokens === null ? "?" : String(tokens));
