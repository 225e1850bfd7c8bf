import { execFileSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { pageOfMarkdown } from "../scripts/site-page.ts";
import { buildSite } from "../scripts/site.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-site-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Makes a repository with these files. */
const repository = (name: string, files: Readonly<Record<string, string>>): string => {
  const root = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  execFileSync("git", ["init", "--quiet"], { cwd: root });
  execFileSync("git", ["add", "--all"], { cwd: root });
  return root;
};

test("a link or an anchor that leads nowhere is named with its page", () => {
  const root = repository("dead", {
    "README.md":
      "# Start\n\n[gone](docs/gone.md) [up](../elsewhere.md) [there](docs/there.md#nothing) [here](#start)\n",
    "docs/there.md": "# There\n",
  });
  expect(buildSite(root, join(folder, "of-dead"))).toEqual({
    pages: 2,
    problems: [
      "README.md links to docs/gone.md, which is not there, or not added to git",
      "README.md links to ../elsewhere.md, which is not there, or not added to git",
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

test("what git does not track, and what a symbolic link leads to, is not published", () => {
  const root = repository("untracked", {
    "README.md": "# Start\n\n[a](.git/config) [b](.env) [c](docs/link.md) [d](src) [e](elsewhere/)\n",
    "src/a.ts": "",
  });
  writeFileSync(join(root, ".env"), "KEY=secret");
  writeFileSync(join(root, "src/b.ts"), "secret");
  mkdirSync(join(root, "docs"));
  symlinkSync(join(root, ".env"), join(root, "docs/link.md"));
  symlinkSync(folder, join(root, "elsewhere"));
  execFileSync("git", ["add", "docs", "elsewhere"], { cwd: root });
  const site = join(folder, "of-untracked");
  expect(buildSite(root, site).problems).toEqual(
    [".git/config", ".env", "docs/link.md", "elsewhere/"].map(
      (target) => `README.md links to ${target}, which is not there, or not added to git`,
    ),
  );
  const made = globSync("**/*.html", { cwd: site }).toSorted();
  expect(made).toEqual(["index.html", "src/a.ts.html", "src/index.html"]);
  expect(made.map((page) => readFileSync(join(site, page), "utf8")).join("\n")).not.toMatch(/secret|b\.ts/);
});

test.each([
  "<svg><script>alert(1)</script></svg>",
  '<svg xmlns:s="http://www.w3.org/2000/svg"><s:script/></svg>',
  '<svg onload="alert(1)"/>',
  '<svg><a href="javascript:alert(1)"/></svg>',
  '<svg><a href="java&#115;cript:alert(1)"/></svg>',
])("a picture runs nothing: %s", (svg) => {
  const root = repository("script", { "README.md": "# Start\n\n[x](docs/evil.svg)\n", "docs/evil.svg": svg });
  const site = join(folder, "of-script");
  expect(buildSite(root, site).problems).toEqual(["docs/evil.svg has script: a picture shows, and runs nothing"]);
  expect(existsSync(join(site, "docs/evil.svg"))).toBe(false);
});

test("two pages of one place are named", () => {
  const root = repository("places", {
    "README.md": "# Start\n",
    "docs/OLD-README.md": "# Old\n",
    "docs/README.md": "# Docs\n",
    "docs/index.md": "# Index\n",
  });
  const site = join(folder, "of-places");
  expect(buildSite(root, site).problems).toEqual([
    "docs/index.md is docs/index.html in the site, as docs/README.md is: rename one of them",
  ]);
  expect(existsSync(join(site, "docs/OLD-README.html"))).toBe(true);
});

test("a page may have any number of equal headings, and what cannot be read is named", () => {
  const { anchors } = pageOfMarkdown("# A\n\n".repeat(12_000), (target) => target);
  expect(anchors.has("a-11999")).toBe(true);
  const root = repository("nested", { "README.md": "# Start\n", "docs/deep.md": `${"> ".repeat(20_000)}deep\n` });
  expect(() => buildSite(root, join(folder, "of-nested"))).toThrow(/^docs\/deep\.md cannot be made a page: /);
});

test("HTML in a page is a problem and is shown as text; comments and code are neither", () => {
  const root = repository("html", {
    "README.md": [
      "# Start <!-- here -->",
      "<!-- examples/a.ts -->",
      '<script src="https://example.com/a.js"></script>',
      'Press <b onclick="alert(1)">here</b>, or write `<b>` or 1 < 2.',
      "<!-- over\nlines --><style>p { color: red }</style>",
      "```html\n<script>alert(1)</script>\n```",
    ].join("\n\n"),
  });
  const site = join(folder, "of-html");
  const { problems } = buildSite(root, site);
  expect(problems).toEqual(
    [
      '<script src="https://example.com/a.js"></script>',
      '<b onclick="alert(1)">',
      "</b>",
      "<style>p { color: red }</style>",
    ].map((html) => `README.md has the HTML ${html}: write Markdown, or put it between backticks`),
  );
  const page = readFileSync(join(site, "index.html"), "utf8");
  const [, main = ""] = page.split(/<\/?main>/);
  expect(page).toContain("<title>Start - Colloquy</title>");
  expect(main).not.toMatch(/<(?:script|b|style)\b/);
  expect(main).not.toMatch(/<!--|here --/);
  expect(main).toContain("1 &lt; 2");
});

test("a link leads to a page or to the web, and runs nothing", () => {
  const targets = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,hello",
    "vbscript:a",
    "file:///etc/passwd",
  ];
  const root = repository("schemes", {
    "README.md": `# Start\n\n${targets.map((target) => `[a](${target}) ![b](${target})`).join("\n")}\n\n<javascript:alert(1)>\n\n[c](https://example.com) [d](HTTP://example.com) [e](mailto:a@example.com)\n\n[f](java&#115;cript:alert%281%29)\n`,
  });
  const site = join(folder, "of-schemes");
  const { problems } = buildSite(root, site);
  const named = [...targets.flatMap((target) => [target, target]), "javascript:alert(1)"];
  expect(problems).toEqual([
    ...named.map((target) => `README.md links to ${target}: a link leads to a page, or to the web by https:`),
    expect.stringContaining("which is not there, or not added to git"),
  ]);
  expect(readFileSync(join(site, "index.html"), "utf8")).not.toMatch(
    /(?:href|src)="(?:javascript|data|vbscript|file):/i,
  );
});

test("a link may name a file and an anchor as the web does", () => {
  const root = repository("encoded", {
    "README.md":
      "# Start\n\n[a](docs/a%20b.md) [b](<docs/a b.md#caf%C3%A9>) [c](docs/100%25.md) [d](<docs/a b.md#café>)\n",
    "docs/a b.md": "# A\n\n## Café\n",
    "docs/100%.md": "# All\n",
  });
  const site = join(folder, "of-encoded");
  expect(buildSite(root, site).problems).toEqual([]);
  const page = readFileSync(join(site, "index.html"), "utf8");
  for (const place of ["docs/a%20b.html", "docs/a%20b.html#caf%C3%A9", "docs/100%25.html"])
    expect(page).toContain(`href="${place}"`);
});

test.each([
  ["What is __kept__", "what-is-kept"],
  ["What is **not** _kept_ ~~here~~", "what-is-not-kept-here"],
  ["`snake_case` and `__init__`", "snake_case-and-__init__"],
  ["A [link](https://example.com/a) away", "a-link-away"],
  ["C++, `a.b()` & more: 1/2?", "c-ab--more-12"],
  ["Fish &amp; chips", "fish--chips"],
  ["Über *é*", "über-é"],
  ["Two  spaces - and a dash", "two--spaces---and-a-dash"],
  ["![A picture](a.svg) of it", "-of-it"],
  ["A \\*star\\*", "a-star"],
])("the anchor of the heading %j is GitHub's", (heading, anchor) => {
  const { anchors } = pageOfMarkdown(`# ${heading}\n\n# ${heading}\n\n# ${heading}\n`, (target) => target);
  expect([...anchors]).toEqual([anchor, `${anchor}-1`, `${anchor}-2`]);
});
