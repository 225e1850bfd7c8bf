import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { factsOf, git } from "./release-facts.ts";
import {
  datedChangelog,
  hasPassedGate,
  messageOfRelease,
  notesOfRelease,
  problemsOfRelease,
  problemsSince,
  type ReleaseFacts,
  stageOf,
  uploadOrder,
} from "./release-plan.ts";

/**
 * The steps of a release besides its work with git. Each throws if it fails, and then nothing is released.
 */
export interface ReleaseSteps {
  /** Runs the gate; null to leave it out. */
  readonly gate: (() => void) | null;
  /** Builds and packs all packages. Returns a line about each tarball. */
  readonly pack: () => readonly string[];
  /** Returns the date, such as 2026-11-24. */
  readonly today: () => string;
  readonly print: (line: string) => void;
}

/**
 * Releases a version of the repository: everything but the upload.
 *
 * An interrupted release continues at the next call: it recognises its dated changelog, commit and tag by their texts.
 * The gate does not run again if it passed at the release's parent commit and only the changelog differs.
 *
 * @returns the problems that prevent the release; if there are any, nothing was done
 */
export const release = (
  root: string,
  version: string,
  { gate, pack, today, print }: ReleaseSteps,
): readonly string[] => {
  const facts = factsOf(root, version);
  const problems = problemsOfRelease(version, facts);
  if (problems.length > 0) return problems;
  const notes = notesOfRelease(facts);
  for (const note of notes) print(note);
  const stage = stageOf(version, facts);
  if (stage !== "begun") print(`The commit "Version ${version}" is there: the release goes on behind it.`);
  const isGated = stage !== "begun" && hasPassedGate(facts);
  if (gate !== null && !isGated) {
    gate();
    refuseOther(root, version, facts, "the gate ran");
  }
  const packed = pack();
  refuseOther(root, version, facts, "the packages were packed");
  for (const line of packed) print(line);
  if (stage === "begun") {
    writeFileSync(join(root, "CHANGELOG.md"), datedChangelog(facts.changelog, version, today()));
    const message = messageOfRelease(version, gate === null ? null : facts.head.commit);
    git(root, "commit", "--quiet", "--message", message, "CHANGELOG.md");
  }
  if (stage !== "tagged") git(root, "tag", "--annotate", `v${version}`, "--message", `Version ${version}`);
  for (const line of [...notes, ...uploadOf(version, facts)]) print(line);
  return [];
};

/** Throws if somebody, or the step itself, has changed the sources of the release since they were checked. */
const refuseOther = (root: string, version: string, before: ReleaseFacts, step: string): void => {
  const problems = problemsSince(version, before, factsOf(root, version));
  if (problems.length > 0) throw new Error(`while ${step}, what is released changed:\n${problems.join("\n")}`);
};

const uploadOf = (version: string, { packages }: ReleaseFacts): readonly string[] => [
  `\nThe tag v${version} is made. To upload, each after those that it needs:\n`,
  `git push origin main v${version}`,
  ...uploadOrder(packages).map(
    (name) => `npm publish release/${name.slice(1).replace("/", "-")}-${version}.tgz --access public`,
  ),
];
