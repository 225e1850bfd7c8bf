import { chosen } from "./choose.ts";
import { drawnPlays } from "./draw.ts";
import { vectorFiles } from "./files.ts";
import type { JournalScript } from "./journal-vector.ts";
import { scriptOf } from "./record.ts";
import type { Script } from "./vector.ts";

/** Returns the scripts of the existing files, which are their only place. */
export const presentScripts = (): readonly Script[] =>
  vectorFiles().flatMap(({ vector }) => (vector.profile === "journals" ? [] : [scriptOf(vector)]));

/** Returns the handwritten scripts, and drawn ones for the features that those lack. */
export const drawnSet = (): readonly Script[] => {
  const present = presentScripts();
  const written = present.filter(({ name }) => !isDrawn(name));
  const earlier = (profile: Script["profile"]): readonly Script[] =>
    present.filter((script) => isDrawn(script.name) && script.profile === profile);
  const core = chosen(written, drawnPlays("core", drawnOfCore, seed), earlier("core"));
  const policies = drawnPlays("policies", drawnOfPolicies, seed);
  return [...written, ...core, ...chosen([...written, ...core], policies, earlier("policies"))];
};

const isDrawn = (name: string): boolean => /^drawn-\d+$/.test(name);

const seed = 1;
const drawnOfCore = 2_000;
const drawnOfPolicies = 4_000;

export const journalScripts = (): readonly JournalScript[] =>
  vectorFiles().flatMap(({ vector }) => (vector.profile === "journals" ? [vector] : []));
