import { expect, test } from "vitest";

import { datedChangelog, problemsOfRelease, type Released, uploadOrder } from "../scripts/release-plan.ts";

const machine: Released = { name: "@colloquy/machine", version: "0.2.0", dependencies: ["xstate"] };
const host: Released = { name: "@colloquy/host", version: "0.2.0", dependencies: ["@colloquy/machine"] };
const agents: Released = { name: "@colloquy/agents", version: "0.2.0", dependencies: ["@colloquy/host"] };
const changelog = "# Changelog\n\n## 0.2.0 (unreleased)\n\nNew.\n\n## 0.1.0 (2026-09-01)\n";

test("a version is released when all packages have it, the changelog tells of it, and nothing is changed", () => {
  expect(problemsOfRelease("0.2.0", [machine, host], changelog, [])).toEqual([]);
});

test("what keeps it from being released is said with the way out, all of it at once", () => {
  expect(problemsOfRelease("0.3", [machine], changelog, [" M README.md"])).toEqual([
    '"0.3" is no version: give one as 0.2.0',
    "@colloquy/machine has version 0.2.0: write 0.3 into its manifest",
    'CHANGELOG.md has no section "## 0.3 (unreleased)": write it',
    " M README.md is changed: commit it, or take it back",
  ]);
  // It was released before.
  expect(problemsOfRelease("0.1.0", [], changelog, [])).toEqual([
    'CHANGELOG.md has no section "## 0.1.0 (unreleased)": write it',
  ]);
});

test("the changelog gets the day, in its own section alone", () => {
  expect(datedChangelog(changelog, "0.2.0", "2026-11-24")).toBe(
    "# Changelog\n\n## 0.2.0 (2026-11-24)\n\nNew.\n\n## 0.1.0 (2026-09-01)\n",
  );
});

test("a package is uploaded after those that it needs, once", () => {
  expect(uploadOrder([agents, host, machine])).toEqual(["@colloquy/machine", "@colloquy/host", "@colloquy/agents"]);
});
