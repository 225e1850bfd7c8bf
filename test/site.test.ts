import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { buildSite } from "../scripts/site.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-site-"));
afterAll(() => rmSync(folder, { recursive: true }));

// Not in the long mode, which packs packages: during packing a README links to the package's own copies of pages.
test("the site of this repository has no dead link, and loads nothing from elsewhere", () => {
  const site = join(folder, "site");
  const { pages, problems } = buildSite(dirname(import.meta.dirname), site);
  expect(problems).toEqual([]);
  expect(pages).toBeGreaterThan(100);
  // Checks again from outside, as a browser would.
  const dead = globSync("**/*.html", { cwd: site }).flatMap((page) => {
    const html = readFileSync(join(site, page), "utf8");
    const named = [...html.matchAll(/ (?:href|src)="(?![a-z]+:)([^"#]+)/g)].map(([, target = ""]) => target);
    const missing = named.filter((target) => !existsSync(join(site, dirname(page), decodeURIComponent(target))));
    return [...missing, ...(html.match(/<(?:script|link)|src="https?:/g) ?? [])].map((each) => `${page}: ${each}`);
  });
  expect(dead).toEqual([]);
});
