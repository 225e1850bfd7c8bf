import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { factsOf, git } from "./release-facts.ts";
import {
  datedChangelog,
  notesOfRelease,
  problemsOfRelease,
  type ReleaseFacts,
  stageOf,
  uploadOrder,
} from "./release-plan.ts";

/** What a release does besides its own work with git. Each of them throws when it fails, and nothing is released then. */
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
 * A release that was cut short goes on when it is called again: a changelog that it dated, a commit and a tag that it made
 * are known by what they say. The gate is not run again behind a commit that says that it passed.
 *
 * @returns what keeps the version from being released; nothing was done where there is anything
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
  const hasPassed = stage !== "begun" && facts.head.message.includes(passed);
  if (!hasPassed) gate?.();
  for (const line of pack()) print(line);
  if (stage === "begun") {
    writeFileSync(join(root, "CHANGELOG.md"), datedChangelog(facts.changelog, version, today()));
    const about = gate === null ? leftOut : passed;
    git(root, "commit", "--quiet", "--message", `Version ${version}`, "--message", about, "CHANGELOG.md");
  }
  if (stage !== "tagged") git(root, "tag", "--annotate", `v${version}`, "--message", `Version ${version}`);
  for (const line of [...notes, ...uploadOf(version, facts)]) print(line);
  return [];
};

const passed = "The gate passed.";
const leftOut = "The gate was left out.";

const uploadOf = (version: string, { packages }: ReleaseFacts): readonly string[] => [
  `\nThe tag v${version} is made. To upload, each after those that it needs:\n`,
  "git push --follow-tags",
  ...uploadOrder(packages).map(
    (name) => `npm publish release/${name.slice(1).replace("/", "-")}-${version}.tgz --access public`,
  ),
];
