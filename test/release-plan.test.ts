import { expect, test } from "vitest";

import { datedChangelog, type Released, uploadOrder } from "../scripts/release-plan.ts";

const changelog = "# Changelog\n\n## 0.2.0 (unreleased)\n\nNew.\n\n## 0.1.0 (2026-09-01)\n\nOld.\n";

test("the changelog gets the day, in its own section alone", () => {
  expect(datedChangelog(`${changelog}## 0.0.1 (unreleased)\n`, "0.2.0", "2026-11-24")).toBe(
    "# Changelog\n\n## 0.2.0 (2026-11-24)\n\nNew.\n\n## 0.1.0 (2026-09-01)\n\nOld.\n## 0.0.1 (unreleased)\n",
  );
});

test("a package is uploaded after those that it needs, once", () => {
  const of = (name: string, dependencies: readonly string[]): Released => ({
    name,
    version: "0.2.0",
    dependencies,
    namesRepository: false,
  });
  const all = [of("agents", ["host"]), of("host", ["machine"]), of("machine", ["xstate"])];
  expect(uploadOrder(all)).toEqual(["machine", "host", "agents"]);
});
