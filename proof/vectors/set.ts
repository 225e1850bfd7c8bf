import { chosen } from "./choose.ts";
import { drawnPlays } from "./draw.ts";
import { vectorFiles } from "./files.ts";
import { handMadeScripts } from "./hand-made.ts";
import { probingScripts } from "./probes.ts";
import { scriptOf } from "./record.ts";
import { stories } from "./stories/all.ts";
import { scriptOfStory } from "./script-of-story.ts";
import { summaryScripts } from "./summaries.ts";
import type { Script } from "./vector.ts";

/** Scripts that are written by hand: by functions here, or as steps in their own files. */
export const writtenScripts = (): readonly Script[] => {
  const made = [...handMadeScripts(), ...probingScripts(), ...summaryScripts(), ...stories.map(scriptOfStory)];
  const names = new Set(made.map(({ name }) => name));
  return [...presentScripts().filter(({ name }) => !names.has(name) && !/^drawn-\d+$/.test(name)), ...made];
};

/** The scripts of the files that there are. */
export const presentScripts = (): readonly Script[] =>
  vectorFiles().flatMap(({ vector }) => (vector.profile === "journals" ? [] : [scriptOf(vector)]));

/** All scripts: those written by hand, and of those drawn what they leave out. The same each time. */
export const drawnSet = (): readonly Script[] => {
  const written = writtenScripts();
  const core = chosen(written, drawnPlays("core", drawnOfCore, seed));
  return [...written, ...core, ...chosen([...written, ...core], drawnPlays("policies", drawnOfPolicies, seed))];
};

const seed = 1;
const drawnOfCore = 2_000;
const drawnOfPolicies = 4_000;
