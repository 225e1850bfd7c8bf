import { firstWords, textTable } from "./text-table.ts";
import { messageWords } from "../thread/message.ts";
import type { BrokenLaw, JournalComparison, PromptComparison, PromptFigures, PromptSketch } from "./comparison.ts";

/**
 * Formats a comparison as text: the first difference of each journal, the figures of both sides, and the broken laws.
 */
export const comparisonTable = ({ journals, before, after }: PromptComparison): string =>
  [
    ...journals.flatMap(journalLines),
    ...(journals.some(({ calls }) => calls > 0) ? ["", textTable(columns, rowsOf(before, after))] : []),
    ...brokenLines("before", before.broken),
    ...brokenLines("after", after.broken),
  ].join("\n");

const columns = [
  { title: "" },
  { title: "before", align: "right" },
  { title: "after", align: "right" },
  { title: "change", align: "right" },
] as const;

const journalLines = (journal: JournalComparison): readonly string[] => {
  const { name, unreadable, calls, imported, differing, first } = journal;
  if (unreadable !== null) return [`${name}: can't be compared: ${firstWords(unreadable, 2 * reasonColumns)}`];
  if (calls === 0) return [`${name}: nothing to compare: no model call was made in it`];
  const made = `${numbered(calls, "call")}${imported === 0 ? "" : ` (${imported} of them imported)`}`;
  if (first === null) return [`${name}: ${made}, the same prompts`];
  const { seq, turn, step, attempt, index } = first;
  const again = attempt === 1 ? "" : `, attempt ${attempt}`;
  const what = index === null ? "the prompt is the same" : `message ${index} is the first to differ`;
  return [
    `${name}: ${made}, ${differing} with another prompt; the first at entry ${seq} (turn ${turn}, step ${step}${again}): ${what}`,
    `  before  ${sketchWords(first.before)}`,
    `  after   ${sketchWords(first.after)}`,
  ];
};

const sketchWords = ({ messages, tokens, message, fits, policy, reason }: PromptSketch): string => {
  const size = `${numbered(messages, "message")}, ${tokens ?? "?"} tokens${fits ? "" : ", does not fit"}`;
  const next =
    message === null ? "" : `: ${message.id} ${message.role} "${firstWords(messageWords(message), textColumns)}"`;
  return `${size}${next} (${firstWords(`${policy}: ${reason}`, reasonColumns)})`;
};

const textColumns = 40;
const reasonColumns = 80;

const rowsOf = (before: PromptFigures, after: PromptFigures): readonly (readonly string[])[] => {
  const row = (title: string, count: (figures: PromptFigures) => number): readonly string[] =>
    rowOf(title, count(before), count(after));
  const some = (...rows: readonly (readonly string[])[]): readonly (readonly string[])[] =>
    rows.filter(([, ...cells]) => cells.some((cell) => cell !== "0" && cell !== ""));
  return [
    ["policy", before.policy, after.policy, ""],
    row("prompts sent", ({ sent }) => sent),
    row("tokens sent", ({ tokens }) => tokens),
    row("  kept from the prompt before", ({ keptTokens }) => keptTokens),
    row("  new", ({ tokens, keptTokens }) => tokens - keptTokens),
    row("tokens that fell out of the cache", ({ lostTokens }) => lostTokens),
    row("cuts", ({ cuts }) => cuts),
    ...some(
      row("summaries asked for", ({ summaries }) => summaries.asked),
      row("  of them in the recordings", ({ summaries }) => summaries.answered),
      row("  tokens to ask for them", ({ summaries }) => summaries.tokens),
      row("prompts that can't be counted", ({ uncounted }) => uncounted),
    ),
    row("laws broken", ({ broken }) => broken.length),
  ];
};

const rowOf = (title: string, before: number, after: number): readonly string[] => {
  const change = after - before;
  const share = before === 0 || change === 0 ? "" : ` (${signed(Math.round((change / before) * 100))} %)`;
  return [title, String(before), String(after), change === 0 ? "" : `${signed(change)}${share}`];
};

const signed = (value: number): string => (value > 0 ? `+${value}` : String(value));

const numbered = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** A policy that breaks a law does so at each call, so the first few are enough. */
const mostBroken = 5;

const brokenLines = (side: string, broken: readonly BrokenLaw[]): readonly string[] => {
  if (broken.length === 0) return [];
  const shown = broken
    .slice(0, mostBroken)
    .map(
      ({ journal, seq, turn, step, law, reason }) =>
        `  ${law}  ${journal}, entry ${seq} (turn ${turn}, step ${step}): ${firstWords(reason, 2 * reasonColumns)}`,
    );
  const more = broken.length - shown.length;
  return ["", `laws broken ${side}:`, ...shown, ...(more === 0 ? [] : [`  and ${more} more`])];
};
