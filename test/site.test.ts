import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { afterAll, describe, expect, test } from "vitest";

import { startBrowser } from "../proof/kit/browser.ts";
import { findSections, type Section } from "../scripts/site-search.ts";
import { buildSite } from "../scripts/site.ts";

// Not in the long mode, which packs packages: during packing a README links to the package's own copies of pages.
const folder = mkdtempSync(join(tmpdir(), "colloquy-site-"));
const site = join(folder, "site");
const { pages, problems } = buildSite(dirname(import.meta.dirname), site);
afterAll(() => rmSync(folder, { recursive: true }));

test("the site of this repository has no dead link, and loads nothing from elsewhere", () => {
  expect(problems).toEqual([]);
  expect(pages).toBeGreaterThan(100);
  // Checks again from outside, as a browser would.
  const dead = globSync("**/*.html", { cwd: site }).flatMap((page) => {
    const html = readFileSync(join(site, page), "utf8");
    const named = [...html.matchAll(/ (?:href|src)="(?![a-z]+:)([^"#]+)/g)].map(([, target = ""]) => target);
    const missing = named.filter((target) => !existsSync(join(site, dirname(page), decodeURIComponent(target))));
    const scripts = html.match(/<script[^>]*>/g) ?? [];
    const foreign = scripts.filter(
      (script) => !/^<script src="(?:\.\.\/)*search\.js" data-root="[./]*">$/.test(script),
    );
    const loads = html.match(/<link|src="https?:/g) ?? [];
    return [...missing, ...foreign, ...loads].map((each) => `${page}: ${each}`);
  });
  expect(dead).toEqual([]);
});

describe("the search of the site", () => {
  const [, json = "[]"] = /= (.*);/s.exec(readFileSync(join(site, "search-sections.js"), "utf8")) ?? [];
  // The build wrote them.
  const sections = JSON.parse(json) as readonly Section[];
  const foundFor = (question: string): readonly string[] => findSections(sections, question).map(({ place }) => place);

  test.each([
    ["how do I cancel an answer", "docs/how-do-i-ask.html#how-do-i-stop-or-cancel-an-answer"],
    ["switch models", "docs/how-do-i-ask.html#how-do-i-switch-models"],
    ["send an image", "docs/how-do-i-ask.html#how-do-i-send-an-image"],
    ["delete a user's data", "docs/how-do-i-data.html#how-do-i-delete-a-users-data"],
    ["vercel", "docs/how-do-i-run.html#how-do-i-deploy-to-vercel"],
    ["count tokens", "docs/how-do-i-prompt.html#how-do-i-count-tokens"],
    ["rate limit", "docs/how-do-i-run.html#how-do-i-stay-below-a-rate-limit"],
    ["property test", "docs/how-do-i-run.html#how-do-i-write-a-property-test"],
  ])("%s is among the first three", (question, place) => {
    expect(foundFor(question).slice(0, 3)).toContain(place);
  });

  test("finds what is half typed, in any letter case, and nothing for a word that is nowhere", () => {
    expect(foundFor("SUBAG").slice(0, 4)).toContain("docs/how-do-i-tools.html#how-do-i-write-a-subagent");
    expect(foundFor("subagent xyzzyx")).toEqual([]);
    expect(foundFor("  ")).toEqual([]);
  });

  test("leads only to pages and anchors that are there", () => {
    expect(sections.length).toBeGreaterThan(300);
    const gone = sections.filter(({ place }) => {
      const [path = "", anchor = ""] = place.split("#").map(decodeURIComponent);
      return !readFileSync(join(site, path), "utf8").includes(`id="${anchor}"`);
    });
    expect(gone).toEqual([]);
  });

  const path = process.env["COLLOQUY_CHROMIUM"] ?? "";
  const leftOut =
    path === "" ? " (left out: COLLOQUY_CHROMIUM names no browser; `pnpm servers pnpm test` has one)" : "";
  test.skipIf(path === "")(`shows results in a browser that opened a file${leftOut}`, async () => {
    await using browser = await startBrowser(path);
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(site, "docs/host.html")).href);
    await page.locator("#search").fill("switch models");
    await page.locator("#found a").first().click();
    await page.waitForURL(/how-do-i-ask\.html#how-do-i-switch-models$/);
  });
});
