import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { buildSite } from "../scripts/site.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-site-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A repository with these files. */
const repository = (name: string, files: Readonly<Record<string, string>>): string => {
  const root = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
};

test("the site of this repository has no dead link, and loads nothing from elsewhere", () => {
  const site = join(folder, "site");
  const { pages, problems } = buildSite(dirname(import.meta.dirname), site);
  expect(problems).toEqual([]);
  expect(pages).toBeGreaterThan(100);
  // Looked at once more from outside, as a browser would.
  const dead = globSync("**/*.html", { cwd: site }).flatMap((page) => {
    const html = readFileSync(join(site, page), "utf8");
    const named = [...html.matchAll(/ (?:href|src)="(?![a-z]+:)([^"#]+)/g)].map(([, target = ""]) => target);
    const missing = named.filter((target) => !existsSync(join(site, dirname(page), target)));
    return [...missing, ...(html.match(/<(?:script|link)|src="https?:/g) ?? [])].map((each) => `${page}: ${each}`);
  });
  expect(dead).toEqual([]);
});

test("a link or an anchor that leads nowhere is named with its page", () => {
  const root = repository("dead", {
    "README.md":
      "# Start\n\n[gone](docs/gone.md) [up](../elsewhere.md) [there](docs/there.md#nothing) [here](#start)\n",
    "docs/there.md": "# There\n",
  });
  expect(buildSite(root, join(folder, "of-dead"))).toEqual({
    pages: 2,
    problems: [
      "README.md links to docs/gone.md, which is not there",
      "README.md links to ../elsewhere.md, which is not there",
      "README.md links to docs/there.md#nothing, and docs/there.md has no such heading",
    ],
  });
});

test("links lead to the pages of pages, sources, folders and pictures; what is no HTML is shown as it is", () => {
  const root = repository("links", {
    "README.md":
      "# Start\n\n[a](docs/a.md#two--three) [b](src/b.ts) [c](src/) ![d](docs/d.svg) [e](https://example.com)\n",
    "docs/a.md": "# A `<b>`\n\n## Two & three\n\n## Two & three\n\n[again](#two--three-1)\n",
    "docs/d.svg": "<svg/>",
    "src/b.ts": 'const less = 1 < 2 && "é";\n',
  });
  const site = join(folder, "of-links");
  expect(buildSite(root, site).problems).toEqual([]);
  const start = readFileSync(join(site, "index.html"), "utf8");
  for (const place of [
    "docs/a.html#two--three",
    "src/b.ts.html",
    "src/index.html",
    "docs/d.svg",
    "https://example.com",
  ])
    expect(start).toContain(`"${place}"`);
  expect(readFileSync(join(site, "docs/a.html"), "utf8")).toContain("<title>A &lt;b&gt; - Colloquy</title>");
  expect(readFileSync(join(site, "src/b.ts.html"), "utf8")).toContain("&lt;");
  expect(readFileSync(join(site, "src/index.html"), "utf8")).toContain('href="b.ts.html"');
  expect(existsSync(join(site, "docs/d.svg"))).toBe(true);
});
