import { type ConversationMachine, promptOf } from "@colloquy/machine";
import type { Cut } from "@colloquy/machine/policies";
import type { Conversation } from "./conversations.ts";
import {
  cutText,
  fitsOrSaysSo,
  isOverruled,
  keepsMore,
  type Made,
  openTurnWhole,
  prefixKept,
  type Problem,
  roomFilled,
  settledAtOnce,
  subsequence,
  usable,
  wellFormed,
} from "./laws.ts";
import type { Machines } from "./machines.ts";
import type { Seen } from "./seen.ts";
import type { Subject } from "./subjects.ts";
import { mostShown, type Tally, type Violations } from "./tally.ts";

/** A conversation to be checked. */
export interface Work {
  readonly conversation: Conversation;
  readonly steps: readonly Seen[];
  /** In tokens, rising. */
  readonly budgets: readonly number[];
}

/** Checks the laws for a policy at each step of a conversation, with each budget. */
export const checkConversation = (
  { conversation, steps, budgets }: Work,
  subject: Subject,
  machines: Machines,
): Tally => {
  const counting = new Counting(conversation);
  let smaller: readonly Made[] = [];
  for (const room of budgets) {
    const machine = machines(room, conversation.interrupted);
    const made = steps.map((seen): Made => ({ subject, seen, room, prompt: promptBehind(machine, seen, null) }));
    for (const [step, each] of made.entries()) {
      counting.look(each, step);
      const before = smaller[step];
      if (before !== undefined && !isOverruled(before))
        counting.note("a larger budget keeps more", each, step, keepsMore(before, each));
    }
    followCuts(counting, machine, made, conversation.isOneHistory);
    smaller = made;
  }
  return counting.tally();
};

/** Goes through the steps with the cut of each call in force at the next, as a conversation does. */
const followCuts = (
  counting: Counting,
  machine: ConversationMachine,
  steps: readonly Made[],
  isOneHistory: boolean,
): void => {
  let sent: Made | null = null;
  for (const [step, fresh] of steps.entries()) {
    const behind = sent?.prompt.cut ?? null;
    const made: Made = behind === null ? fresh : { ...fresh, prompt: promptBehind(machine, fresh.seen, behind) };
    if (made !== fresh && cutText(made.prompt.cut) !== cutText(fresh.prompt.cut)) counting.look(made, step);
    const again: Made = { ...made, prompt: promptBehind(machine, made.seen, made.prompt.cut) };
    counting.note("decided again it is the same", made, step, settledAtOnce(made, again));
    if (!made.seen.calling || !made.prompt.fits) continue;
    if (sent !== null && isOneHistory) counting.note("prompts begin alike", made, step, prefixKept(sent, made));
    sent = made;
  }
};

const promptBehind = (machine: ConversationMachine, { state }: Seen, cut: Cut | null): Made["prompt"] =>
  promptOf(machine, { ...state, context: { ...state.context, cut } });

interface Laws {
  readonly [law: string]: (made: Made) => Problem;
}

/** Of one prompt alone, also where the machine overruled the policy. */
const lawsOfAny: Laws = {
  "well-formed": wellFormed,
  "what is shown was said": subsequence,
  "open turn, pinned and system message whole": openTurnWhole,
};

const lawsOfPolicies: Laws = {
  "the policy is usable": usable,
  "fits or says so": fitsOrSaysSo,
  "the room is filled": roomFilled,
};

class Counting {
  readonly #conversation: Conversation;
  readonly #violations = new Map<string, { count: number; readonly first: Violations["first"][number][] }>();
  #prompts = 0;
  #unfit = 0;
  #cut = 0;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  look(made: Made, step: number): void {
    this.#prompts++;
    if (!made.prompt.fits) this.#unfit++;
    if (made.prompt.messages.length < made.seen.whole.length) this.#cut++;
    const laws = isOverruled(made) ? lawsOfAny : { ...lawsOfAny, ...lawsOfPolicies };
    for (const [law, problemOf] of Object.entries(laws)) this.note(law, made, step, problemOf(made));
  }

  note(law: string, { room }: Made, step: number, words: Problem): void {
    if (words === null) return;
    const { id, variant } = this.#conversation;
    const found = this.#violations.get(law) ?? { count: 0, first: [] };
    this.#violations.set(law, found);
    found.count++;
    if (found.first.length < mostShown) found.first.push({ conversation: id, variant, step, tokens: room, words });
  }

  tally(): Tally {
    const violations = Object.fromEntries(this.#violations);
    return { prompts: this.#prompts, unfit: this.#unfit, cut: this.#cut, violations };
  }
}
