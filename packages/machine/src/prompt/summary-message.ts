import { contentText, type Message, toolCallsOf } from "../thread/message.ts";
import { marked, messageFromDraft } from "../thread/make-message.ts";
import { type Thread, turnOf } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Summary, Turn } from "../thread/turn.ts";
import { type Cut, type SummarisedTurns, type TurnRange, withFields } from "./cut.ts";
import { isLeftOut } from "./unit.ts";

/**
 * Returns the message that stands for turns shown as summaries; null if there are none. Its wording, and that of the
 * lines, is part of the journal format, since digests depend on it.
 */
export const summaryMessage = (
  thread: Thread,
  cut: Pick<Cut, "summarised" | "interrupted" | "fields">,
): Message | null => {
  if (cut.summarised === undefined) return null;
  const lines = linesOf(thread, cut.summarised, cut);
  if (lines.length === 0) return null;
  const { from, to, upTo } = cut.summarised;
  const content = `Earlier in this conversation:\n${lines.join("\n")}`;
  return marked(messageFromDraft(`summary.${from}-${to}.${upTo}`, { role: "user", content }), { synthesised: true });
};

/**
 * Returns turns of the path as their summaries, one line each (`[Turn 3] …`, `[Turns 1 to 4] …`), oldest first. If
 * several cover a turn, the widest is used, and of those the newest. A turn without a summary gives a line made by
 * rule. The wording is part of the journal format.
 */
export const summaryLines = (
  thread: Thread,
  turns: SummarisedTurns | null,
  showing: Pick<Cut, "interrupted" | "fields"> = { interrupted: "keep" },
): string => {
  const lines = turns === null ? [] : linesOf(thread, turns, showing);
  return lines.length === 0 ? "No prior conversation context." : lines.join("\n");
};

/** One line, and the turns of the path that it covers. */
export interface SummarySection extends TurnRange {
  /** The number of the summary; null for a line made by rule. */
  readonly number: number | null;
  readonly line: string;
}

/** Returns the section that covers a turn, among those of a path. */
export const sectionOf = (sections: readonly SummarySection[], turn: number): SummarySection | undefined => {
  let [low, high] = [0, sections.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((sections[middle]?.to ?? turn) < turn) low = middle + 1;
    else high = middle;
  }
  const section = sections[low];
  return section !== undefined && section.from <= turn ? section : undefined;
};

/**
 * Returns the lines, oldest first, with the turns that they cover. Interrupted turns have none if they are left out,
 * unless a summary covers them.
 */
export const summarySections = (
  thread: Thread,
  { from, to, upTo }: SummarisedTurns,
  showing: Pick<Cut, "interrupted" | "fields">,
): readonly SummarySection[] => {
  const sections: SummarySection[] = [];
  let next = to;
  for (let turn = turnOf(thread, to); turn !== undefined && turn.number >= from; turn = turnOf(thread, next)) {
    const { number } = turn;
    const summary = widest(turn, from, upTo);
    if (summary !== undefined) {
      const line = `${labelOf(summary.from, number)} ${summary.text}`;
      sections.push({ from: summary.from, to: number, number: summary.number, line });
    } else if (!isLeftOut(turn, showing)) {
      const line = `[Turn ${number}] ${exchangeOf(toArray(turn.messages), showing)}`;
      sections.push({ from: number, to: number, number: null, line });
    }
    if (summary?.from === 0) return sections.reverse();
    next = (summary === undefined ? turn : turnOf(thread, summary.from))?.parent ?? 0;
  }
  if (from === 0 && next === 0 && thread.seed.length > 0)
    sections.push({ from: 0, to: 0, number: null, line: `[Before turn 1] ${exchangeOf(thread.seed, showing)}` });
  return sections.reverse();
};

const linesOf = (
  thread: Thread,
  turns: SummarisedTurns,
  showing: Pick<Cut, "interrupted" | "fields">,
): readonly string[] => summarySections(thread, turns, showing).map(({ line }) => line);

const widest = ({ number, summaries = [] }: Turn, from: number, upTo: number): Summary | undefined => {
  let best: Summary | undefined;
  for (const summary of summaries) {
    // A damaged journal may hold a summary whose first turn is after its last.
    if (summary.stale === true || summary.from > number || summary.from < from || summary.number > upTo) continue;
    if (best === undefined || summary.from <= best.from) best = summary;
  }
  return best;
};

const labelOf = (from: number, to: number): string => {
  if (from === to) return `[Turn ${to}]`;
  return from === 0 ? `[Up to turn ${to}]` : `[Turns ${from} to ${to}]`;
};

/** Returns a turn's question and answer, shortened, and the used tools. */
const exchangeOf = (said: readonly Message[], { fields }: Pick<Cut, "fields">): string => {
  const messages = fields === undefined ? said : said.flatMap((message) => withFields(message, fields) ?? []);
  const asked = messages.find(({ role }) => role === "user");
  const answered = messages.findLast(({ role }) => role === "assistant");
  const tools = [...new Set(messages.flatMap((message) => toolCallsOf(message).map(({ name }) => name)))];
  return [
    ...(asked === undefined ? [] : [`Asked: ${clipped(contentText(asked.parts))}`]),
    ...(tools.length === 0 ? [] : [`Tools used: ${tools.join(", ")}.`]),
    ...(answered === undefined ? [] : [`Answered: ${clipped(contentText(answered.parts))}`]),
  ].join(" ");
};

const longestClip = 200;
const longestLook = 4_000;

const clipped = (text: string): string => {
  // Reads at most this much of a long text, including blanks.
  const line = text.slice(0, longestLook).replaceAll(/\s+/gu, " ").trim();
  if (line.length <= longestClip) return line;
  const cut = line.slice(0, longestClip);
  const last = cut.charCodeAt(cut.length - 1);
  return `${last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut}…`;
};
