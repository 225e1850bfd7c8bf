import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { manifestIn } from "./manifest.ts";
import { datedChangelog, type ReleaseFacts, type Released } from "./release-plan.ts";

/** Reads the facts that a release of this version checks. It changes nothing and contacts no server. */
export const factsOf = (root: string, version: string): ReleaseFacts => {
  const changelog = git(root, "show", "HEAD:CHANGELOG.md");
  const upstream = attempt(root, "rev-list", "--count", "HEAD..@{upstream}");
  const branch = git(root, "branch", "--show-current").trim();
  const author = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"]
    .map((who) => attempt(root, "var", who))
    .find(({ isDone }) => !isDone);
  return {
    packages: releasedPackages(root),
    workspaceVersion: manifestIn(root).version,
    changelog,
    changed: changedFiles(root, changelog, version),
    branch: branch === "" ? null : branch,
    commitsBehind: upstream.isDone ? Number(upstream.output) : 0,
    hasRemote: git(root, "remote").trim() !== "",
    authorProblem: author === undefined ? null : problemIn(author.errors),
    tags: tagsOf(root),
    head: {
      commit: git(root, "rev-parse", "HEAD").trim(),
      parents: git(root, "log", "-1", "--format=%P").trim(),
      message: git(root, "log", "-1", "--format=%B"),
      files: git(root, "diff-tree", "-r", "--no-commit-id", "--name-only", "HEAD").split("\n").filter(Boolean),
    },
  };
};

/** Runs git and returns its output. @throws with git's error */
export const git = (root: string, ...args: readonly string[]): string => {
  const { isDone, output, errors } = attempt(root, ...args);
  if (isDone) return output;
  throw new Error(`git ${args.join(" ")} failed: ${errors.trim()}`);
};

const attempt = (root: string, ...args: readonly string[]) => {
  const { status, stdout, stderr, error } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return { isDone: status === 0, output: stdout ?? "", errors: error?.message ?? stderr };
};

/** Returns the error line of git's output, without the paragraphs of help. */
const problemIn = (errors: string): string => /^fatal: (.*)$/m.exec(errors)?.[1] ?? errors.trim();

const releasedPackages = (root: string): readonly Released[] =>
  globSync("packages/*", { cwd: root })
    .toSorted()
    .map((path) => {
      const { name, version, dependencies, repository } = manifestIn(join(root, path));
      return { name, version, dependencies: Object.keys(dependencies), namesRepository: repository !== undefined };
    });

/** Returns the changed files, without a changelog that an interrupted release only dated. */
const changedFiles = (root: string, changelog: string, version: string): readonly string[] => {
  const written = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const [, day = ""] = /^## \S+ \((\d{4}-\d\d-\d\d)\)$/m.exec(written) ?? [];
  const isOurs = written === datedChangelog(changelog, version, day);
  return git(root, "status", "--porcelain", "--untracked-files=all")
    .split("\n")
    .filter((line) => line !== "" && !(isOurs && line.endsWith(" CHANGELOG.md")))
    .map((line) => line.slice(3));
};

const tagsOf = (root: string): ReadonlyMap<string, string> =>
  new Map(
    git(root, "for-each-ref", "--format=%(refname:strip=2) %(*objectname) %(objectname)", "refs/tags")
      .split("\n")
      .filter(Boolean)
      .map((line) => {
        // A tag with a message has its commit first; one without has only its own.
        const [name = "", commit = ""] = line.split(/ +/);
        return [name, commit];
      }),
  );
