import {
  type CallLlm,
  conversationMachine,
  type Event,
  type MachineOptions,
  type Message,
  messagesOf,
  type State,
  turnNumbered,
  type Summary,
  textOf,
  toArray,
  type Turn,
} from "@colloquy/machine";
import { type Counter, countPrompt, estimateCounter, keepAll, type SummarisedTurns } from "@colloquy/machine/policies";
import { answeringCallOf, handledSteps, type HandledStep, statesOf, type Trace } from "../../arbitraries/trace.ts";
import { LawBroken, differenceOf, preview } from "../evidence/law-broken.ts";
import { openMessages } from "../evidence/said-units.ts";
import { longConversation } from "./long-conversation.ts";
import { type PolicyLaw, brokenAt, looksOf, type ShownPrompt } from "./policy-run.ts";

/**
 * Checks P9 for policies that are declared stable. The prompt of an answering call is a prefix of the next one's
 * prompt, by the digests of its messages. The exception is a journalled cause between them:
 *
 * - another cut (a compaction or a shrinking is one), or another configuration
 * - a change or reset of the system prompt, a move of the head, a truncated answer, a pin, or a redaction
 * - an interrupted turn that is omitted, or the end of a turn with refused answers
 * - a question that joins a turn in which nothing was said
 */
export const promptsArePrefixes: PolicyLaw = ({ policy, options, trace }) => {
  if (!policy.stable) return;
  let last: CallLlm | null = null;
  let caused = false;
  for (const step of handledSteps(trace)) {
    caused ||= isCause(step, options.interrupted === "omit");
    const call = answeringCallOf(step.transition);
    if (call === undefined) continue;
    const before: CallLlm = last ?? call;
    const changed = before.messages.findIndex(({ digest }, index) => call.messages[index]?.digest !== digest);
    if (changed >= 0 && !caused)
      throw new LawBroken(
        "P9",
        `${policy.name} is declared stable, and message ${changed} of ${call.id} is another than in ${before.id}, for no cause that is journalled`,
      );
    last = call;
    caused = false;
  }
};

/**
 * Checks P9 for policies that are declared stable: the cut does not change all the time. The test is a long
 * conversation of equal turns. Each turn has a question, a tool's result and an answer, about 150 tokens together; 40
 * turns fit into the room. Summaries are answered at once. From the first cut on, the cut may change in three of four
 * turns, and in one more. The first call always has a cut. A policy may have its own room, which holds hardly any of
 * these turns. It is then stable only in conversations with shorter turns.
 *
 * @param turns the number of turns.
 */
export const cutsSeldom = (options: MachineOptions, turns = 80): void => {
  const { policy = keepAll(), counter = estimateCounter } = options;
  if (!policy.stable) return;
  const cuts = cutsOf(options, counter, turns).filter((turn) => turn > 1);
  const [first = turns] = cuts;
  const most = Math.ceil(((turns - first) * 3) / 4) + 1;
  if (cuts.length <= most) return;
  throw new LawBroken(
    "P9",
    `${policy.name} is declared stable, and in a conversation of ${turns} equal turns it cuts in ${cuts.length} of the ${turns - first + 1} from turn ${first} on: ${cuts.slice(0, 8).join(", ")}, …`,
  );
};

const isCause = ({ event, before, transition: { entry, state } }: HandledStep, omitting: boolean): boolean => {
  if (entry.decided?.cut !== undefined || causes.has(event.type) || movesHead(event)) return true;
  if (isFirstQuestion(before, state)) return true;
  const { length } = state.context.conversation.turns;
  const ended = length > before.context.conversation.turns.length ? turnNumbered(state, length) : undefined;
  // Refused answers are shown only in their own turn.
  if (ended?.refusedOutputs !== undefined) return true;
  return omitting && ended !== undefined && ended.outcome.status !== "completed";
};

/** Returns whether a question joins the open turn, whose prompt was led by an earlier one because it said nothing. */
const isFirstQuestion = (before: State, state: State): boolean =>
  before.context.open !== null &&
  before.context.open.number === state.context.open?.number &&
  firstSaid(before) === undefined &&
  firstSaid(state)?.role === "user";

const firstSaid = (state: State): Message | undefined =>
  openMessages(state).find(({ role }) => role !== "system" && role !== "developer");

const movesHead = (event: Event): boolean => event.type === "ask.received" && event.from !== undefined;

const causes: ReadonlySet<Event["type"]> = new Set([
  "system.changed",
  "system.reset",
  "head.moved",
  "answer.truncated",
  "message.pinned",
  "thread.redacted",
  "thread.configured",
]);

/** Returns the numbers of the turns in which the cut changed, at any step. */
const cutsOf = (options: MachineOptions, counter: Counter, turns: number): readonly number[] => {
  const sample = longConversation("P9", conversationMachine({ counter, policy: keepAll(), unknownTool: "ask" }), 1);
  const last = sample.steps.at(-1)?.transition.state ?? sample.started.state;
  const messages = messagesOf(last).flatMap((message) => Array.from({ length: 40 }, () => message));
  const tokens = countPrompt(counter, messages);
  const machine = conversationMachine({ ...options, budget: { tokens, reserve: 0 }, limits: {}, unknownTool: "ask" });
  const changed = handledSteps(longConversation("P9", machine, turns)).flatMap(({ transition: { entry, state } }) =>
    entry.decided?.cut === undefined ? [] : [state.context.open?.number ?? state.context.conversation.turns.length],
  );
  return [...new Set(changed)];
};

/**
 * Checks P8: turn numbers are stable. A turn keeps its number, its place in the tree, its message ids and its
 * summaries, wherever the head moves. The message that replaces earlier turns contains each turn of its range once, in
 * order, under its own number. Each is part of a summary of just these turns, or a line made by rule.
 */
export const turnNumbersAreStable: PolicyLaw = (run) => {
  requireSameTurns(run.trace);
  for (const look of looksOf(run)) requireLines(look, run.options.interrupted === "omit");
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

/** Checks P8 for the message of one prompt that replaces earlier turns. */
export const requireLines = (look: ShownPrompt, omitting: boolean): void => {
  const { summarised } = look.prompt.cut;
  const message = look.prompt.messages.find(({ id }) => id.startsWith("summary."));
  const broken = (words: string): LawBroken => brokenAt("P8", look, `: ${words}`);
  if (message === undefined) return;
  if (summarised === undefined) throw broken(`${message.id} is shown, and the cut shows no turns as summaries`);
  const { from, to, upTo } = summarised;
  if (message.id !== `summary.${from}-${to}.${upTo}`) throw broken(`turns ${from} to ${to} are shown as ${message.id}`);
  if (!textOf(message).startsWith(heading))
    throw broken(`${message.id} begins with ${preview(textOf(message).slice(0, 40))}`);
  const { turns } = look.said;
  const left: LineTurn[] = [...turns.values()].filter(({ number }) => number >= from && number <= to).reverse();
  if (from === 0 && look.state.context.conversation.seed.length > 0) left.unshift(seed);
  let text = textOf(message).slice(heading.length);
  while (text !== "") {
    const line = lineOf(text, turns, summarised);
    if (line === null)
      throw broken(`${message.id} goes on with ${preview(text.slice(0, 60))}, which is no turn's line`);
    while (left[0] !== undefined && left[0].number < line.from && isSilent(left[0], omitting)) left.shift();
    const covered = left.filter(({ number }) => number >= line.from && number <= line.to);
    if (covered.length === 0 || covered[0] !== left[0])
      throw broken(`${message.id} has turns ${line.from} to ${line.to} where ${left[0]?.number ?? "none"} should come`);
    left.splice(0, covered.length);
    text = text.slice(line.length);
  }
  const missing = left.find((turn) => !isSilent(turn, omitting));
  if (missing !== undefined) throw broken(`${message.id} lacks turn ${missing.number}`);
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
