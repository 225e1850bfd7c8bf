import { type Play, scriptOfPlay } from "./draw.ts";
import { featuresOf } from "./features.ts";
import { played } from "./record.ts";
import { smaller } from "./smaller.ts";
import type { Script } from "./vector.ts";

/**
 * Chooses scripts that show, with the given ones, every feature of the drawn plays and of the earlier scripts. Takes
 * repeatedly the play that shows the most missing features for its length, reduced. Then keeps the earlier scripts that
 * show a feature that is still missing.
 */
export const chosen = (
  given: readonly Script[],
  drawn: readonly Play[],
  earlier: readonly Script[],
): readonly Script[] => {
  const covered = new Set(given.flatMap((script) => [...featuresOf(played(script))]));
  let candidates = drawn.map((play): Candidate => ({ play, missing: [...featuresOf(played(scriptOfPlay(play)))] }));
  const taken: Script[] = [];
  const take = (script: Script, missing: readonly string[]): void => {
    for (const feature of featuresOf(played(script))) covered.add(feature);
    taken.push({ ...script, name: nameOf(taken.length + 1), says: sentenceOf(missing) });
  };
  for (;;) {
    candidates = candidates
      .map(({ play, missing }) => ({ play, missing: missing.filter((feature) => !covered.has(feature)) }))
      .filter(({ missing }) => missing.length > 0);
    const best = candidates.reduce<Candidate | null>(
      (most, each) => (most === null || worthOf(each) > worthOf(most) ? each : most),
      null,
    );
    if (best === null) break;
    take(smaller(best.play, new Set(best.missing)), best.missing);
  }
  for (const script of earlier) {
    const missing = [...featuresOf(played(script))].filter((feature) => !covered.has(feature));
    if (missing.length > 0) take(script, missing);
  }
  return taken;
};

interface Candidate {
  readonly play: Play;
  /** The features that only this play shows so far. */
  readonly missing: readonly string[];
}

/** Weighs features against length: short scripts are easier to read, but one with many features saves others. */
const worthOf = ({ play, missing }: Candidate): number => missing.length / (play.schedule.moves.length + 10);

const nameOf = (number: number): string => `drawn-${String(number).padStart(3, "0")}`;

const sentenceOf = (features: readonly string[]): string => {
  const shown = features.slice(0, featuresNamed).join("; ");
  const more = features.length - featuresNamed;
  return `Drawn. It shows: ${shown}${more > 0 ? `; and ${more} more` : ""}.`;
};

const featuresNamed = 6;
