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
 * The steps of a release besides its own work with git. Each of them throws when it fails, and nothing is released
 * then.
 */
export interface ReleaseSteps {
  /** The gate; null where it is left out. */
  readonly gate: (() => void) | null;
  /** Builds and packs all packages, and gives a line of each tarball. */
  readonly pack: () => readonly string[];
  /** As 2026-11-24. */
  readonly today: () => string;
  readonly print: (line: string) => void;
}

/**
 * Releases a version of the repository: everything but the upload.
 *
 * A release that was cut short continues when it is called again: it recognises its dated changelog, its commit and its
 * tag by their texts. The gate is not run again where it passed at the commit before that of the release, and the
 * changelog is all that differs.
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

/** Somebody, or the step itself, may have changed what is released since it was looked at. */
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
