import { type Play, scriptOfPlay } from "./draw.ts";
import { featuresOf } from "./features.ts";
import { played } from "./observe.ts";
import { smaller } from "./smaller.ts";
import type { Script } from "./vector.ts";

/**
 * Scripts of some of the drawn plays, which together with those given show all that any of them shows: again and again the one that shows
 * most of what is missing for its length, made as small as it can be for that.
 */
export const chosen = (given: readonly Script[], drawn: readonly Play[]): readonly Script[] => {
  const covered = new Set(given.flatMap((script) => [...featuresOf(played(script))]));
  let candidates = drawn.map((play): Candidate => ({ play, missing: [...featuresOf(played(scriptOfPlay(play)))] }));
  const taken: Script[] = [];
  for (;;) {
    candidates = candidates
      .map(({ play, missing }) => ({ play, missing: missing.filter((feature) => !covered.has(feature)) }))
      .filter(({ missing }) => missing.length > 0);
    const best = candidates.reduce<Candidate | null>(
      (most, each) => (most === null || worthOf(each) > worthOf(most) ? each : most),
      null,
    );
    if (best === null) return taken;
    const script = smaller(best.play, new Set(best.missing));
    for (const feature of featuresOf(played(script))) covered.add(feature);
    taken.push({ ...script, name: nameOf(taken.length + 1), says: sentenceOf(best.missing) });
  }
};

interface Candidate {
  readonly play: Play;
  /** The features that it shows and no other shows so far. */
  readonly missing: readonly string[];
}

/** A script of few steps is read more easily than one of many; one that shows much saves others. */
const worthOf = ({ play, missing }: Candidate): number => missing.length / (play.schedule.moves.length + 10);

const nameOf = (number: number): string => `drawn-${String(number).padStart(3, "0")}`;

const sentenceOf = (features: readonly string[]): string => {
  const shown = features.slice(0, featuresNamed).join("; ");
  const more = features.length - featuresNamed;
  return `Drawn. It shows: ${shown}${more > 0 ? `; and ${more} more` : ""}.`;
};

const featuresNamed = 6;
