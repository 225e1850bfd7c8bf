import { conversationMachine, type MachineOptions } from "@colloquy/machine";
import { boundsOf, keepAll, type NewestFirst, type Unit, type Window } from "@colloquy/machine/policies";
import { roomIn } from "./fitting.ts";
import { handledSteps } from "../../arbitraries/trace.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { longConversation } from "./long-conversation.ts";
import { brokenAt, type Look, type PolicyLaw, type PolicyRun, policyRunOf } from "./policy-run.ts";
import { isQuestionAlone, withQuestions } from "../evidence/questions.ts";
import { fixedIn, messagesIn, tokensOf, wholeWith, withGapsFilled, withoutLeftOut } from "../evidence/said-units.ts";
import { hasWordsIn } from "./shown.ts";

/**
 * Checks P11 for policies that are declared `newestFirst`: whatever fits is shown, newest first.
 *
 * - No unit is left out while an older one that is not pinned is shown.
 * - If a turn is not shown whole, the newest such turn would not fit into the room or the declared limits. It is
 * counted unshortened.
 * - Nothing beyond these limits is shown, except pinned units, the open turn, and questions that the machine adds. It
 * adds questions because a prompt begins with a user message.
 *
 * Turns that are omitted because they were interrupted, and units of which no field is shown, do not count.
 */
export const newestIsShownFirst: PolicyLaw = (run) => {
  const { newestFirst = false } = run.policy;
  if (newestFirst === false) return;
  const limits = newestFirst === true ? {} : newestFirst;
  for (const { looks, calibration } of run.views) {
    for (const look of looks) {
      // The machine shows everything if a policy fails.
      if (look.prompt.failed !== undefined) continue;
      const said = withoutLeftOut(withGapsFilled(look.said, look.prompt.messages), run.options);
      requireNewestFirst(run, { ...look, said }, limits, calibration);
    }
  }
};

/**
 * Checks P11 in a conversation that is longer than the declared windows, of 110 turns at least. Some turns call a tool.
 * The checks are in its last turns, and before and after some of the cuts.
 */
export const newestIsShownFirstAtLength = (options: MachineOptions): void => {
  const { policy = keepAll() } = options;
  const { newestFirst = false } = policy;
  if (newestFirst === false) return;
  const machine = conversationMachine({ ...options, budget: null, limits: {}, unknownTool: "ask" });
  const turns = turnsBeyond(newestFirst);
  const trace = longConversation("P11", machine, turns, (turn) => turn % (turn < turns / 2 ? 3 : 2) === 0);
  const steps = handledSteps(trace);
  const cuts = steps.flatMap(({ transition }, index) => (transition.entry.decided?.cut === undefined ? [] : [index]));
  const every = Math.ceil(cuts.length / mostCuts);
  const last = Array.from({ length: 7 }, (_, index) => steps.length - 1 - index);
  const looked = new Set([...last, ...cuts.filter((_, at) => at % every === 0).flatMap((index) => [index - 1, index])]);
  newestIsShownFirst(
    policyRunOf(options, { ...trace, steps: steps.filter((_, index) => looked.has(index)) }, { states: steps.length }),
  );
};

const mostCuts = 10;

const turnsBeyond = (newestFirst: true | NewestFirst): number => {
  const { turns = 0, messages = 0 } = newestFirst === true ? {} : newestFirst;
  // Two turns have six messages.
  const wanted = [mostOf(turns) + 4, Math.ceil(mostOf(messages) / 3) + 4].filter((each) => each <= longest);
  return Math.max(110, ...wanted);
};

const longest = 500;

const requireNewestFirst = (run: PolicyRun, look: Look, limits: NewestFirst, calibration: number): void => {
  const broken = (words: string): LawBroken => brokenAt("P11", look, `: ${words}`);
  const units = look.said.closed;
  const ids = new Set(look.prompt.messages.map(({ id }) => id));
  const isThere = ({ messages }: Unit): boolean => messages.some(({ id }) => ids.has(id));
  const there = new Set(units.filter(isThere));
  const hasWords = hasWordsIn(look);
  const isAdded = (unit: Unit): boolean =>
    isBeyondDecision(unit, look) &&
    isQuestionAlone(look.said, { units: there, from: look.prompt.cut.from?.turn ?? 0 }, unit, hasWords);
  const added = new Set(units.filter((unit) => there.has(unit) && isAdded(unit)));
  const isShown = (unit: Unit): boolean => unit.pinned !== true && there.has(unit) && !added.has(unit);
  const beyond = beyondLimits(look, units.filter(isShown), limits);
  if (beyond !== null) throw broken(beyond);
  const isLeftOut = (unit: Unit): boolean => unit.pinned !== true && !there.has(unit) && hasWords(unit);
  const newest = units.findLastIndex(isLeftOut);
  const leftOut = units[newest];
  if (leftOut === undefined) return;
  const older = units.slice(0, newest).find(isShown);
  if (older !== undefined)
    throw broken(`unit ${leftOut.id} is left out, and unit ${older.id}, which is older, is shown`);
  const from = units.findIndex(({ turn }) => turn === leftOut.turn);
  if (!isWithinCounts(look, limits, units.slice(from))) return;
  const tokens = tokensWith(run, look, from);
  if (tokens === null) return;
  const room = roomWithin(run, look, limits, calibration);
  if (room !== null && tokens > room) return;
  const part = leftOut.turn === 0 ? "the seed" : `turn ${leftOut.turn}`;
  throw broken(`${part} is not shown whole, and would fit${room === null ? "" : `: ${tokens} tokens of ${room}`}`);
};

/** Returns whether the cut leaves a unit out, or its turn is omitted because it was interrupted. */
const isBeyondDecision = ({ id, turn, position }: Unit, { said, prompt: { cut } }: Look): boolean => {
  const { from, dropped = [] } = cut;
  const isOlder = from !== null && (turn < from.turn || (turn === from.turn && position < from.unit));
  return isOlder || dropped.includes(id) || (turn > 0 && !said.turns.has(turn));
};

/** Describes the declared limit that the shown units of closed turns exceed; null if they exceed none. */
const beyondLimits = (
  { said, prompt }: Look,
  shown: readonly Unit[],
  { turns, messages, tokens }: NewestFirst,
): string | null => {
  if (shown.length === 0) return null;
  // A prompt without a budget is not calibrated.
  const { calibration = 1 } = prompt.cut;
  const counts = [
    [new Set(shown.map(({ turn }) => turn)).size, mostOf(turns), "turns"],
    [messagesIn([...shown, ...said.open]).length, mostOf(messages), "messages"],
    [prompt.tokens ?? 0, Math.floor((tokens ?? Number.POSITIVE_INFINITY) / calibration), "tokens"],
  ] as const;
  const beyond = counts.find(([count, most]) => count > most);
  return beyond === undefined ? null : `${beyond[0]} ${beyond[2]} are shown, and at most ${beyond[1]} are declared`;
};

const mostOf = (window: Window = Number.POSITIVE_INFINITY): number => boundsOf(window)[1];

const leastOf = (window: Window = Number.POSITIVE_INFINITY): number => boundsOf(window)[0];

/** Returns whether these newest units and the open turn stay within the smallest declared counts. */
const isWithinCounts = (look: Look, { turns, messages }: NewestFirst, units: readonly Unit[]): boolean => {
  const { said } = look;
  const first = units[0]?.turn ?? 0;
  // An empty turn counts too.
  const newer = [...said.turns.keys()].filter((number) => number >= first).length;
  const count = first === 0 ? newer + 1 : newer;
  const led = [...withQuestions(said, { units: new Set(units), from: first }, hasWordsIn(look))];
  return count <= leastOf(turns) && messagesIn([...led, ...said.open]).length <= leastOf(messages);
};

/** Counts a prompt that shows all closed units from `from` on, unshortened; null if the counter cannot. */
const tokensWith = ({ counter }: PolicyRun, look: Look, from: number): number | null => {
  const isShown = ({ pinned }: Unit, index: number): boolean => index >= from || pinned === true;
  const turn = look.said.closed[from]?.turn ?? Number.POSITIVE_INFINITY;
  return tokensOf(counter, wholeWith(look.said, { isShown, from: turn }, hasWordsIn(look)));
};

/** Returns the tokens that a prompt may always fill, beside the mandatory part; null if unlimited. */
const roomWithin = (
  { counter }: PolicyRun,
  look: Look,
  { tokens, reserve = 0, share = 1 }: NewestFirst,
  calibration: number,
): number | null => {
  const { budget, state } = look;
  const reserved = budget && { ...budget, reserve: Math.max(budget.reserve, reserve) };
  const room = roomIn({ budget: reserved, state }, calibration);
  const own = tokens === undefined ? null : Math.floor(tokens / calibration);
  const smaller = room === null || own === null ? (room ?? own) : Math.min(room, own);
  if (smaller === null || share === 1) return smaller;
  const fixed = tokensOf(counter, fixedIn(look.said, hasWordsIn(look))) ?? 0;
  return fixed + (smaller - fixed) * share;
};
