import { countPrompt, estimateCounter } from "@colloquy/machine/policies";
import type { Random } from "../kit/random.ts";
import { fixedOf, type Seen } from "./seen.ts";

/**
 * So many budgets for a conversation, in tokens and rising, fewer where there are not so many: from none to more than
 * the whole thread takes, two alone aside. Half of them are spread evenly, the others lie where something just fits or
 * just does not.
 */
export const budgetsOf = (steps: readonly Seen[], many: number, random: Random): readonly number[] => {
  const last = steps.at(-1);
  if (last === undefined) return [];
  const most = Math.ceil(countPrompt(estimateCounter, last.whole) * 1.1) + 10;
  const budgets = new Set(many > 2 ? [0, most] : []);
  const spread = Math.ceil(many / 2);
  for (let index = 1; index < spread; index++) budgets.add(Math.floor((most * (index + random.next())) / (spread + 1)));
  for (let tries = 0; budgets.size < Math.min(many, most + 1) && tries < many * 4; tries++) {
    const edge = edgeOf(random.pick(steps) ?? last, random) + Math.floor(random.next() * 3) - 1;
    if (edge >= 0) budgets.add(edge);
  }
  return [...budgets].sort((left, right) => left - right);
};

/**
 * Returns the size of the messages that a prompt must show at a step, and of some of the newest ended units: half of
 * the time of all of them.
 */
const edgeOf = (seen: Seen, random: Random): number => {
  const from = random.next() < 0.5 ? 0 : Math.floor(random.next() * (seen.closed.length + 1));
  const shown = seen.closed.slice(from).flatMap(({ pinned, messages }) => (pinned ? [] : messages));
  return countPrompt(estimateCounter, [...fixedOf(seen, "keep"), ...shown]);
};
