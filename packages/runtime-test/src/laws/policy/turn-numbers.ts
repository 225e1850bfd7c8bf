import type { SummarisedTurns } from "@colloquy/machine/policies";
import { type Summary, textOf, toArray, type Turn } from "@colloquy/machine";
import { statesOf, type Trace } from "../../arbitraries/trace.ts";
import { differenceOf, preview } from "../evidence/difference.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { cutNamed, type Look, lookNamed, type PolicyLaw } from "./policy-run.ts";

/**
 * Checks P8: turn numbers are stable. A turn keeps its number, its place in the tree, its message ids and its
 * summaries, wherever the head moves. The message that replaces earlier turns contains each turn of its range once, in
 * order, under its own number. Each is part of a summary of just these turns, or a line made by rule.
 */
export const turnNumbersAreStable: PolicyLaw = ({ trace, views, options }) => {
  requireSameTurns(trace);
  for (const look of views.flatMap(({ looks }) => looks)) {
    requireLines(look, options.interrupted === "omit");
  }
};

const requireSameTurns = (trace: Trace): void => {
  const known = new Map<number, Turn>();
  for (const { context } of statesOf(trace)) {
    for (const [index, turn] of toArray(context.conversation.turns).entries()) {
      const before = known.get(index + 1);
      known.set(index + 1, turn);
      if (before === undefined || before === turn) continue;
      const difference = differenceOf(identityOf(before), identityOf(turn)) ?? lostSummary(before, turn);
      if (difference !== null)
        throw new LawBroken("P8", `turn ${index + 1} is another after entry ${context.seq}: ${difference}`);
    }
  }
};

const identityOf = ({ number, parent, messages }: Turn): object => ({
  number,
  parent,
  messages: toArray(messages).map(({ id }) => id),
});

const lostSummary = (before: Turn, after: Turn): string | null => {
  const now = after.summaries ?? [];
  const lost = before.summaries?.find(
    (summary) =>
      !now.some(
        ({ number, from, text }) => number === summary.number && from === summary.from && text === summary.text,
      ),
  );
  return lost === undefined ? null : `summary ${lost.number} is gone, or says something else`;
};

const requireLines = (look: Look, omitting: boolean): void => {
  const { summarised } = look.prompt.cut;
  const message = look.prompt.messages.find(({ id }) => id.startsWith("summary."));
  const fail = (words: string): never => {
    throw new LawBroken("P8", `${lookNamed(look)}: ${words}; ${cutNamed(look)}`);
  };
  if (message === undefined) return;
  if (summarised === undefined) return fail(`${message.id} is shown, and the cut shows no turns as summaries`);
  const { from, to, upTo } = summarised;
  if (message.id !== `summary.${from}-${to}.${upTo}`) fail(`turns ${from} to ${to} are shown as ${message.id}`);
  if (!textOf(message).startsWith(heading)) fail(`${message.id} begins with ${preview(textOf(message).slice(0, 40))}`);
  const { turns } = look.said;
  const left: LineTurn[] = [...turns.values()].filter(({ number }) => number >= from && number <= to).reverse();
  if (from === 0 && look.state.context.conversation.seed.length > 0) left.unshift(seed);
  let text = textOf(message).slice(heading.length);
  while (text !== "") {
    const line = lineOf(text, turns, summarised);
    if (line === null) return fail(`${message.id} goes on with ${preview(text.slice(0, 60))}, which is no turn's line`);
    while (left[0] !== undefined && left[0].number < line.from && isSilent(left[0], omitting)) left.shift();
    const covered = left.filter(({ number }) => number >= line.from && number <= line.to);
    if (covered.length === 0 || covered[0] !== left[0])
      return fail(`${message.id} has turns ${line.from} to ${line.to} where ${left[0]?.number ?? "none"} should come`);
    left.splice(0, covered.length);
    text = text.slice(line.length);
  }
  const missing = left.find((turn) => !isSilent(turn, omitting));
  if (missing !== undefined) fail(`${message.id} lacks turn ${missing.number}`);
};

const heading = "Earlier in this conversation:\n";

/** Returns whether a turn is omitted because it was interrupted. */
const isSilent = ({ outcome }: LineTurn, omitting: boolean): boolean => omitting && outcome.status !== "completed";

/** The part of a turn that a line needs; the seed before the first turn counts as turn 0. */
type LineTurn = Pick<Turn, "number" | "outcome">;

const seed: LineTurn = { number: 0, outcome: { status: "completed", finishReason: null } };

interface Line {
  readonly from: number;
  readonly to: number;
  /** The length with the line break, in UTF-16 units. */
  readonly length: number;
}

/** Returns the turns that the first line of a text represents; a summary may itself have several lines. */
const lineOf = (text: string, turns: ReadonlyMap<number, Turn>, range: SummarisedTurns): Line | null => {
  const label = labelOf(text);
  if (label === null) return null;
  const { from, to, length } = label;
  const said = text.slice(length);
  const usable = (turns.get(to)?.summaries ?? []).filter((summary) => isUsable(summary, range));
  const written = usable
    .filter((summary) => summary.from === from && said.startsWith(summary.text))
    .map((summary) => summary.text.length)
    .filter((end) => said[end] === undefined || said[end] === "\n");
  const end = said.indexOf("\n");
  // A line made by rule represents only a turn that no summary covers.
  const byRule = from === to && usable.length === 0 ? (end < 0 ? said.length : end) : null;
  const longest = written.length > 0 ? Math.max(...written) : byRule;
  return longest === null ? null : { from, to, length: length + longest + (said[longest] === "\n" ? 1 : 0) };
};

const isUsable = ({ number, from, stale }: Summary, range: SummarisedTurns): boolean =>
  number <= range.upTo && from >= range.from && stale !== true;

const labelOf = (text: string): Line | null => {
  const [whole = "", one, first, last, until, before] =
    /^\[(?:Turn (\d+)|Turns (\d+) to (\d+)|Up to turn (\d+)|(Before turn 1))\] ?/.exec(text) ?? [];
  if (one !== undefined) return { from: Number(one), to: Number(one), length: whole.length };
  if (first !== undefined) return { from: Number(first), to: Number(last), length: whole.length };
  if (until !== undefined) return { from: 0, to: Number(until), length: whole.length };
  return before === undefined ? null : { from: 0, to: 0, length: whole.length };
};
