import type { Budget, MachineOptions } from "@colloquy/machine";
import {
  clearResults,
  compactTurns,
  compose,
  fitOversized,
  lastMessages,
  limitResults,
  type Policy,
  summariseTurns,
  type SummaryOptions,
  tokenWindow,
} from "@colloquy/machine/policies";
import { Random } from "../world/random.ts";

/** The limits of the prompts in a generated conversation, and the policy that keeps them. */
export interface MadeUpContext {
  /** The number of the context. The same number means the same options. */
  readonly index: number;
  readonly options: Pick<MachineOptions, "budget" | "policy" | "warnAt">;
  /** Whether the policy makes room by leaving out everything that can be left out. */
  readonly findsRoom: boolean;
}

/** Returns the context of a seed; null for a conversation without a budget whose policy needs none. */
export const madeUpContext = (seed: number): MadeUpContext | null => {
  const random = new Random(seed, "context");
  return random.chance(0.4) ? null : contextNumbered(random.whole(1, contexts));
};

/** Few enough that their machines can be cached, and enough that each kind occurs in most sizes. */
const contexts = 60;

const contextNumbered = (index: number): MadeUpContext => {
  const random = new Random(index, "context");
  const { policy, findsRoom } = random.pick(kinds)(random);
  const budget: Budget | null = random.chance(0.8)
    ? { tokens: random.pick([60, 100, 150, 250, 400, 1_000]), reserve: random.pick([0, 10, 20]) }
    : null;
  const options = { budget, ...(policy === null ? {} : { policy }), ...(random.chance(0.3) ? { warnAt: 0.5 } : {}) };
  return { index, options, findsRoom };
};

interface Kind {
  /** Null for the machine's default. */
  readonly policy: Policy | null;
  readonly findsRoom: boolean;
}

const kinds: readonly [(random: Random) => Kind, ...((random: Random) => Kind)[]] = [
  () => ({ policy: null, findsRoom: false }),
  () => ({ policy: lastMessages({ max: 8, keepRecent: 4, keepSystem: false }), findsRoom: false }),
  (random) => room(tokenWindow(random.chance(0.5) ? {} : { cutTo: 0.5 })),
  (random) => room(compacting(random)),
  (random) => room(compacting(random)),
  (random) => room(summarising(random)),
  (random) => room(summarising(random)),
  () => room(compose(fitOversized(), tokenWindow())),
  (random) => room(compose(clearResults({ keep: random.whole(0, 1) }), tokenWindow())),
  (random) => room(compose(limitResults({ characters: 200 }), compacting(random))),
  (random) => room(compose(clearResults({ keep: 0, when: "always" }), summarising(random), fitOversized())),
];

const room = (policy: Policy): Kind => ({ policy, findsRoom: true });

const compacting = (random: Random): Policy =>
  compactTurns({ keepTurns: random.whole(0, 2), at: random.pick([0, 0.5, 0.8]), ...written(random) });

const summarising = (random: Random): Policy =>
  summariseTurns({
    level: random.pick(["concise", "verbose"]),
    maxTurns: random.pick([0, 2, 20]),
    keepTurns: random.whole(0, 1),
    ...written(random),
  });

/** A simulated summary has about ten tokens, one that is too long more than a hundred. */
const written = (random: Random): SummaryOptions => ({
  maxTokens: random.pick([30, 60]),
  requestTokens: summaryRequestTokens,
  waitMs: random.pick([0, 30, 100, 300]),
  ...(random.chance(0.5) ? { instruction: "Sum it up." } : {}),
  ...(random.chance(0.3) ? { model: { temperature: 1 } } : {}),
});

/** The budgets of a simulation are smaller than any instruction. Unit: tokens. */
export const summaryRequestTokens = 4_000;
