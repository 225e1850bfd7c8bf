import { canonicalText, digestOfPrompt } from "@colloquy/machine";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { checkExamples, type Example, type Pair } from "./example.ts";

export interface PairOptions {
  /**
   * `score`: prefers the reply with the higher score. `kept`: prefers the reply on the path, because the others were
   * undone. Default `score`.
   */
  readonly prefer?: "score" | "kept";
  /**
   * The pairs of the replies to one prompt. `bestAndWorst`: one pair. `all`: a pair for each two replies that are not
   * equally good. Default `bestAndWorst`.
   */
  readonly which?: "bestAndWorst" | "all";
}

/** The pairs of some examples, and the number of prompts without a pair. */
export interface Paired {
  readonly pairs: readonly Pair[];
  readonly leftOut: PromptsWithoutPairs;
}

export interface PromptsWithoutPairs {
  /** Prompts with only one scored reply. */
  readonly alone: number;
  /** Prompts whose replies are all equally good. */
  readonly ties: number;
  /** Pairs of replies with different scores and the same content. */
  readonly same: number;
  /** Examples without a score. */
  readonly unscored: number;
}

/**
 * Pairs the replies to the same prompt: those of two branches of one turn, of forks of one thread, or of threads with
 * the same beginning. Prompts are the same if their messages and tools are the same for a model. Pass the examples of
 * `linearise(journals, { turns: "all" })`. Pure.
 *
 * @throws ConfigurationError for a value that is not a list of examples, and for an unknown or invalid option.
 */
export const pairsOf = (examples: readonly Example[], options: PairOptions = {}): Paired => {
  checkOptions("pairsOf", options, optionKinds);
  checkExamples("pairsOf", examples, "examples");
  const { prefer = "score", which } = options;
  const goodness = ({ kept, score }: Example): number | null => (prefer === "kept" ? Number(kept) : score);
  const scored = examples.flatMap((example) => {
    const good = goodness(example);
    return good === null ? [] : [{ example, good }];
  });
  const prompts = new Map<string, Scored[]>();
  for (const each of scored) {
    const { prompt, tools } = each.example;
    const key = `${digestOfPrompt(prompt)} ${canonicalText(tools)}`;
    prompts.set(key, [...(prompts.get(key) ?? []), each]);
  }
  const pairs: Pair[] = [];
  let alone = 0;
  let ties = 0;
  let same = 0;
  for (const replies of prompts.values()) {
    // Stable: of equally good replies, the first stays first.
    const best = replies.toSorted((left, right) => right.good - left.good);
    const found = which === "all" ? allPairs(best) : endsOf(best);
    const unlike = found.filter(({ chosen, rejected }) => saidIn(chosen) !== saidIn(rejected));
    if (replies.length === 1) alone++;
    else if (found.length === 0) ties++;
    same += found.length - unlike.length;
    pairs.push(...unlike);
  }
  return { pairs, leftOut: { alone, ties, same, unscored: examples.length - scored.length } };
};

const optionKinds: OptionKinds<PairOptions> = {
  prefer: kinds.oneOf("score", "kept"),
  which: kinds.oneOf("bestAndWorst", "all"),
};

/**
 * Returns the content of a reply, without reasoning, which no row contains, and without the ids of calls, which are
 * never equal.
 */
const saidIn = ({ reply: { name, parts } }: Example): string =>
  JSON.stringify([
    name,
    ...parts.flatMap((part): readonly unknown[] => {
      if (part.type === "reasoning") return [];
      return part.type === "toolCall" ? [{ name: part.name, arguments: part.arguments }] : [part];
    }),
  ]);

interface Scored {
  readonly example: Example;
  readonly good: number;
}

const allPairs = (best: readonly Scored[]): readonly Pair[] =>
  best.flatMap((chosen, place) => best.slice(place + 1).flatMap((rejected) => pairOf(chosen, rejected)));

const endsOf = (best: readonly Scored[]): readonly Pair[] => {
  const [first] = best;
  const last = best.at(-1);
  return first === undefined || last === undefined ? [] : pairOf(first, last);
};

const pairOf = (chosen: Scored, rejected: Scored): readonly Pair[] =>
  chosen.good > rejected.good ? [{ chosen: chosen.example, rejected: rejected.example }] : [];
