import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

import { shipped } from "../scripts/ship-docs.ts";

const root = dirname(import.meta.dirname);
const readmes = globSync("packages/*/README.md", { cwd: root }).toSorted();
const pages = ["README.md", ...readmes, ...globSync("docs/*.md", { cwd: root })];

/** READMEs whose first example is a command. */
const withoutProgram: ReadonlySet<string> = new Set(["packages/cli/README.md"]);

interface Snippet {
  /** The source file that the comment before it names; null without a comment. */
  readonly source: string | null;
  readonly code: string;
}

/** Returns the TypeScript and YAML of a page with their source files. */
const snippetsOf = (text: string): readonly Snippet[] =>
  [...text.matchAll(/(?:<!-- (\S+) -->\s*)?```(?:ts|yaml)\n([\s\S]*?)```/g)].map(([, source, code]) => ({
    source: source ?? null,
    code: code ?? "",
  }));

/** Removes indentation, since a page may show code that is nested in its file. */
const linesOf = (code: string): string =>
  code
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");

describe.each(pages)("the code of %s is code that is run", (page) => {
  const snippets = snippetsOf(readFileSync(join(root, page), "utf8"));

  it.each(snippets.map((snippet, index) => ({ ...snippet, index })))(
    "snippet $index, from $source",
    ({ source, code }) => {
      // A comment before the code names the file that it is taken from.
      expect(source).not.toBeNull();
      expect(linesOf(code)).not.toBe("");
      expect(linesOf(readFileSync(join(root, source ?? ""), "utf8"))).toContain(linesOf(code));
    },
  );

  it("names only files that are there", () => {
    const links = [...readFileSync(join(root, page), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
      ([, link]) => link ?? "",
    );
    expect(links.filter((link) => globSync(link, { cwd: dirname(join(root, page)) }).length === 0)).toEqual([]);
  });
});

it.each(["README.md", ...readmes.filter((path) => !withoutProgram.has(path))])(
  "what the code of %s imports is in the line that installs it",
  (page) => {
    const text = readFileSync(join(root, page), "utf8");
    const installed = [...text.matchAll(/^npm install ([^#\n]*)/gm)].flatMap(([, names]) => (names ?? "").split(/\s+/));
    const imported = [...text.matchAll(/^import .* from "([^"./][^"]*)";$/gm)].flatMap(([, name]) => name ?? []);
    // Our own packages are tarballs, or depend on each other.
    const foreign = imported
      .filter((name) => !name.startsWith("@colloquy/") && !name.startsWith("node:"))
      .map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
    expect(installed).not.toEqual([]);
    expect(installed).toEqual(expect.arrayContaining(foreign));
  },
);

it.each([...readmes, ...pages.filter((page) => page.startsWith("docs/"))])(
  "%s, as a package ships it, says nothing of packages that are not published",
  (page) => {
    const text = shipped(readFileSync(join(root, page), "utf8"), dirname(page), new Set());
    expect(text).not.toMatch(/not published|all at once|pnpm@\S+ pack/i);
    expect(text).toContain(page.startsWith("docs/") ? "# " : "Node 22.18");
  },
);

it("the tarballs that README.md installs are all that its example needs", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const [, names = ""] = /^npm install \S*colloquy-\{(.*?)\}/m.exec(text) ?? [];
  const [first] = snippetsOf(text);
  const [, imported = ""] = /"@colloquy\/([^"/]+)/.exec(first?.code ?? "") ?? [];
  expect(names.split(",").toSorted()).toEqual([...withNeeded(imported)].toSorted());
});

it.each(readmes)("%s names first the tarballs of all that it installs", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const [line = "", tarballs = ""] = /Not published yet: .*colloquy-\{?([a-z,-]+)\}?-\*\.tgz/.exec(text) ?? [];
  const installing = [...text.matchAll(/^npm install (?:--\S+ )?@colloquy\/.*$/gm)].flatMap(([found]) => found);
  const names = [...installing.join("\n").matchAll(/@colloquy\/(\S+)/g)].flatMap(([, name]) => name ?? []);
  const needed = new Set(names.flatMap((name) => [...withNeeded(name)]));
  expect(tarballs.split(",").toSorted()).toEqual([...needed].toSorted());
  expect(text.indexOf(line)).toBeLessThan(text.indexOf(installing[0] ?? ""));
});

/** Returns a package of ours and all that it needs at run time. */
const withNeeded = (name: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(name)) return found;
  found.add(name);
  // The part of package.json that this test reads.
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  for (const needed of Object.keys(dependencies))
    if (needed.startsWith("@colloquy/")) withNeeded(needed.slice("@colloquy/".length), found);
  return found;
};

// A newcomer copies it whole, and `pnpm first-examples` runs it in an empty project.
it.each(readmes.filter((path) => !withoutProgram.has(path)))("the first example of %s is a whole program", (page) => {
  const [first] = snippetsOf(readFileSync(join(root, page), "utf8"));
  // A comment in the first line says what the file is for.
  const program = readFileSync(join(root, first?.source ?? "no example"), "utf8").replace(/^\/\/ .*\n/, "");
  expect(first?.code).toBe(program);
});

// The README says so. Tests that run an example do not count.
it("an example of one file has fewer than 80 lines", () => {
  const files = globSync("examples/[0-9]*.ts", { cwd: root });
  const examples = files.filter(
    (file) => !files.some((other) => /^\.(long\.)?test\.ts$/.test(file.replace(other.replace(/\.ts$/, ""), ""))),
  );
  expect(examples.length).toBeGreaterThan(10);
  const lengthOf = (file: string): number => readFileSync(join(root, file), "utf8").trimEnd().split("\n").length;
  expect(examples.filter((file) => lengthOf(file) >= 80)).toEqual([]);
});

it("a snippet that is not run is found out", () => {
  expect(snippetsOf("```ts\nnever();\n```")).toEqual([{ source: null, code: "never();\n" }]);
});
