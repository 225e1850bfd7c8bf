import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { factsOf } from "../scripts/release-facts.ts";
import { notesOfRelease } from "../scripts/release-plan.ts";
import { release, type ReleaseSteps } from "../scripts/release-run.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-release-"));
afterAll(() => rmSync(folder, { recursive: true }));

const changelog = "# Changelog\n\n## 0.2.0 (unreleased)\n\nNew.\n\n## 0.1.0 (2026-09-01)\n\nOld.\n";

let clones = 0;
let root = "";

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" });

const commitAll = (message: string): void => {
  git("add", "--all");
  git("commit", "--quiet", "--message", message);
};

/** Runs a release. Returns the steps that were done and the problems that stopped it. */
const releasing = (version: string, steps: Partial<ReleaseSteps> = {}) => {
  const done: string[] = [];
  const problems = release(root, version, {
    gate: () => done.push("gate"),
    pack: () => {
      done.push("pack");
      return ["a tarball"];
    },
    today: () => "2026-11-24",
    print: () => {},
    ...steps,
  });
  return { done, problems };
};

const refused = (...problems: readonly string[]) => ({ done: [], problems });

const written = (): string => readFileSync(join(root, "CHANGELOG.md"), "utf8");

const isReleased = (): void => {
  expect(written()).toBe(changelog.replace("unreleased", "2026-11-24"));
  expect(git("status", "--porcelain")).toBe("");
  expect(git("rev-list", "--count", "HEAD").trim()).toBe("2");
  expect(git("log", "-1", "--format=%B", "v0.2.0^{commit}").trim()).toBe(
    `Version 0.2.0\n\nRelease: 0.2.0\nGate: passed at ${git("rev-parse", "HEAD^").trim()}`,
  );
  expect(git("rev-parse", "v0.2.0^{commit}")).toBe(git("rev-parse", "HEAD"));
};

// The git settings of the person who runs the tests are ignored.
beforeAll(() => {
  vi.stubEnv("GIT_CONFIG_GLOBAL", "/dev/null");
  vi.stubEnv("GIT_CONFIG_SYSTEM", "/dev/null");
  for (const who of ["AUTHOR", "COMMITTER"]) {
    vi.stubEnv(`GIT_${who}_NAME`, undefined);
    vi.stubEnv(`GIT_${who}_EMAIL`, undefined);
  }
  vi.stubEnv("EMAIL", undefined);
  return () => vi.unstubAllEnvs();
});

beforeEach(() => {
  root = join(folder, String(++clones));
  write("package.json", JSON.stringify({ name: "workspace", version: "0.2.0" }));
  write("packages/machine/package.json", JSON.stringify({ name: "@colloquy/machine", version: "0.2.0" }));
  write("CHANGELOG.md", changelog);
  git("init", "--quiet", "--initial-branch", "main");
  git("config", "user.useConfigOnly", "true");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.com");
  commitAll("First");
});

describe("a release", () => {
  test("runs the gate, packs, dates the changelog, commits and tags, and says how to upload", () => {
    const printed: string[] = [];
    expect(releasing("0.2.0", { print: (line) => printed.push(line) })).toEqual({
      done: ["gate", "pack"],
      problems: [],
    });
    isReleased();
    expect(printed.slice(-2)).toEqual([
      "git push origin main v0.2.0",
      "npm publish release/colloquy-machine-0.2.0.tgz --access public",
    ]);
  });

  test("without a gate says so in its commit", () => {
    releasing("0.2.0", { gate: null });
    expect(git("log", "-1", "--format=%b").trim()).toBe("Release: 0.2.0\nGate: left out");
  });

  test("ends at a gate that fails, and leaves all as it was", () => {
    const failing = () => {
      throw new Error("3 failed");
    };
    expect(() => releasing("0.2.0", { gate: failing })).toThrow("3 failed");
    expect(git("status", "--porcelain") + git("tag")).toBe("");
    expect(written()).toBe(changelog);
  });

  const changes: readonly (readonly [about: string, change: () => void, problem: string])[] = [
    ["a file", () => write("package.json", '{ "name": "workspace", "version": "0.2.0" }'), "package.json is changed"],
    ["the changelog", () => write("CHANGELOG.md", `${changelog}More.\n`), "CHANGELOG.md is changed"],
    ["the last commit", () => git("commit", "--quiet", "--allow-empty", "--message", "Later"), "the last commit is "],
    ["the branch", () => git("switch", "--quiet", "--force-create", "trial"), "trial is checked out"],
  ];
  test.each(changes)("ends where the gate or the packing changes %s", (_, change, problem) => {
    const head = git("rev-parse", "HEAD").trim();
    for (const step of ["gate", "pack"] as const) {
      const acting = () => {
        change();
        return [];
      };
      expect(() => releasing("0.2.0", { [step]: acting })).toThrow(
        new RegExp(`^while .* ${step === "gate" ? "ran" : "packed"}, what is released changed:\n${problem}[^\n]*$`),
      );
      expect(git("tag") + git("log", "--format=%s")).not.toContain("0.2.0");
      git("switch", "--quiet", "--force", "--force-create", "main", head);
    }
  });
});

describe("before anything is done a release says", () => {
  test("that the version is none, or not that of the manifests", () => {
    expect(releasing("0.2")).toEqual(refused('"0.2" is no version: give one as 0.2.0'));
    write("packages/host/package.json", JSON.stringify({ name: "@colloquy/host", version: "0.1.0" }));
    commitAll("Host");
    expect(releasing("0.2.0")).toEqual(refused("@colloquy/host: version 0.1.0; write 0.2.0 into package.json"));
  });

  test("that the tag is there, or a higher one", () => {
    git("tag", "v0.2.0");
    const [commit] = /^.{8}/.exec(git("rev-parse", "HEAD")) ?? [];
    expect(releasing("0.2.0")).toEqual(
      refused(
        `the tag v0.2.0 is there, at ${commit}: give the next version; or, if it was never pushed, \`git tag --delete v0.2.0\``,
      ),
    );
    git("tag", "--delete", "v0.2.0");
    git("tag", "v0.10.0");
    expect(releasing("0.2.0")).toEqual(refused("v0.10.0 was released, which is higher: give a version above it"));
  });

  test("that git does not know who commits", () => {
    git("config", "--unset", "user.email");
    expect(releasing("0.2.0")).toEqual(
      refused(expect.stringMatching(/^git does not know who commits \(.*email.*\): `git config user\.name NAME`/)),
    );
  });

  test("that files are changed or new, and that another branch or none is checked out", () => {
    write("new.ts", "");
    write("CHANGELOG.md", `${changelog}\nMore.\n`);
    git("switch", "--quiet", "--create", "trial");
    expect(releasing("0.2.0")).toEqual(
      refused(
        "trial is checked out: releases are made of main; `git switch main`",
        "CHANGELOG.md is changed: commit it, or take it back",
        "new.ts is changed: commit it, or take it back",
      ),
    );
    git("config", "status.showUntrackedFiles", "no");
    expect(releasing("0.2.0").problems).toContain("new.ts is changed: commit it, or take it back");
    commitAll("More");
    git("switch", "--quiet", "--detach");
    expect(releasing("0.2.0").problems).toEqual([
      "no branch is checked out: releases are made of main; `git switch main`",
    ]);
  });

  test("that the remote has more", () => {
    git("branch", "theirs");
    git("branch", "--quiet", "--set-upstream-to", "theirs");
    git("switch", "--quiet", "theirs");
    git("commit", "--quiet", "--allow-empty", "--message", "Theirs");
    git("switch", "--quiet", "main");
    expect(releasing("0.2.0")).toEqual(refused("main is behind its remote by 1: `git pull`"));
  });

  test.each([
    ["# Changelog\n", 'CHANGELOG.md has no section "## 0.2.0 (unreleased)": write it'],
    [
      "## 0.2.0 (unreleased)\n\n## 0.1.0 (2026-09-01)\n",
      "CHANGELOG.md says nothing of 0.2.0: write what a user notices",
    ],
    [
      "## 0.3.0 (unreleased)\n\nLater.\n\n## 0.2.0 (unreleased)\n\nNew.\n",
      "CHANGELOG.md has a section above that of 0.2.0: move it below, or release that",
    ],
    [
      "## 0.2.0 (2026-10-01)\n\nNew.\n",
      'CHANGELOG.md says that 0.2.0 was released on 2026-10-01, and the last commit is none that a release made: give the next version; or, if it never was, write "## 0.2.0 (unreleased)", and commit',
    ],
  ])("what the changelog lacks: %j", (text, problem) => {
    write("CHANGELOG.md", text);
    commitAll("Changelog");
    expect(releasing("0.2.0")).toEqual(refused(problem));
  });
});

describe("a release that was cut short goes on when it is called again", () => {
  const dies = () => {
    throw new Error("killed");
  };

  test("in the gate, or while it packs", () => {
    expect(() => releasing("0.2.0", { gate: dies })).toThrow("killed");
    expect(() => releasing("0.2.0", { pack: dies })).toThrow("killed");
    releasing("0.2.0");
    isReleased();
  });

  test("before its commit, the changelog being dated, of another day even", () => {
    write("CHANGELOG.md", changelog.replace("unreleased", "2026-11-23"));
    git("add", "CHANGELOG.md");
    expect(releasing("0.2.0")).toEqual({ done: ["gate", "pack"], problems: [] });
    isReleased();
  });

  test("between commit and tag, without another commit or gate", () => {
    releasing("0.2.0");
    git("tag", "--delete", "v0.2.0");
    expect(releasing("0.2.0")).toEqual({ done: ["pack"], problems: [] });
    isReleased();
  });

  test("behind the tag, where it packs again and says how to upload", () => {
    releasing("0.2.0");
    expect(releasing("0.2.0")).toEqual({ done: ["pack"], problems: [] });
    isReleased();
  });

  test("with the gate, where that was left out before", () => {
    releasing("0.2.0", { gate: null });
    git("tag", "--delete", "v0.2.0");
    expect(releasing("0.2.0")).toEqual({ done: ["gate", "pack"], problems: [] });
  });

  test("with the gate, where sources came into its commit, or below it", () => {
    releasing("0.2.0");
    git("tag", "--delete", "v0.2.0");
    write("source.ts", "");
    git("add", "source.ts");
    git("commit", "--quiet", "--amend", "--no-edit");
    expect(releasing("0.2.0")).toEqual({ done: ["gate", "pack"], problems: [] });
    git("reset", "--quiet", "--hard", "HEAD^");
    git("tag", "--delete", "v0.2.0");
    releasing("0.2.0");
    git("tag", "--delete", "v0.2.0");
    git("switch", "--quiet", "--create", "other", "HEAD^");
    write("source.ts", "");
    commitAll("A source");
    git("cherry-pick", "main");
    git("branch", "--force", "main");
    git("switch", "--quiet", "main");
    expect(releasing("0.2.0")).toEqual({ done: ["gate", "pack"], problems: [] });
  });

  test("also where a hook writes into the message of its commit", () => {
    write(".git/hooks/commit-msg", '#!/bin/sh\nsed -i "1s/^/[C-17] /" "$1"\n');
    chmodSync(join(root, ".git/hooks/commit-msg"), 0o755);
    releasing("0.2.0");
    expect(git("log", "-1", "--format=%s").trim()).toBe("[C-17] Version 0.2.0");
    git("tag", "--delete", "v0.2.0");
    expect(releasing("0.2.0")).toEqual({ done: ["pack"], problems: [] });
  });

  test("but not behind another commit", () => {
    releasing("0.2.0");
    git("commit", "--quiet", "--allow-empty", "--message", "Later");
    expect(releasing("0.2.0").problems).toEqual([
      expect.stringContaining("the tag v0.2.0 is there"),
      expect.stringContaining("the last commit is none that a release made"),
    ]);
  });
});

test("what a manifest or a clone lacks for the upload is noted", () => {
  expect(notesOfRelease(factsOf(root, "0.2.0"))).toEqual([
    expect.stringContaining("No `repository` in the manifests"),
    expect.stringContaining("git remote add origin"),
  ]);
  git("remote", "add", "origin", "https://example.com/colloquy.git");
  const manifest = { name: "@colloquy/machine", version: "0.2.0", repository: "https://example.com/colloquy" };
  write("packages/machine/package.json", JSON.stringify(manifest));
  expect(notesOfRelease(factsOf(root, "0.2.0"))).toEqual([]);
});
