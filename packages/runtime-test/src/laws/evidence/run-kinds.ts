import { kinds, type OptionKinds } from "@colloquy/host/store";

/** The number of runs of a law, the seed, and the path to one conversation. */
interface LawRun {
  readonly runs?: number;
  readonly seed?: number;
  readonly path?: string;
}

/** The kinds of the options that all checks share. Seeds of fast-check may be negative. */
export const runKinds: OptionKinds<LawRun> = {
  runs: kinds.whole(1),
  seed: kinds.word("a whole number", (value) => Number.isSafeInteger(value)),
  path: kinds.text,
};
