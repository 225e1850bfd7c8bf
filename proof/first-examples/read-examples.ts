import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The first example of a package, or of an entry point that has a section in its README. */
export interface FirstExample {
  /** The name of the package or the entry point: `sessions`, `sessions-agents`. */
  readonly name: string;
  /** A program, or the arguments of `colloquy`. */
  readonly shows: { readonly program: string } | { readonly command: readonly string[] };
  /** The packages that its README says to install, without tarballs of this repository. */
  readonly installs: readonly string[];
}

/**
 * Returns the first examples of all READMEs of packages, and of their sections for entry points. Throws if one has
 * none, which a test prevents. A package that has only entry points has none itself.
 */
export const readFirstExamples = (root: string): readonly FirstExample[] =>
  globSync("packages/*/README.md", { cwd: root })
    .toSorted()
    .flatMap((path) => {
      const [own = "", ...sections] = readFileSync(join(root, path), "utf8").split(/^(?=## @colloquy\/)/m);
      const parts = sections.length > 0 && !own.includes("```") ? sections : [own, ...sections];
      return parts.map((text) => ({
        name: nameOf(path, text),
        shows: shownIn(path, text),
        installs: installsOf(text),
      }));
    });

const nameOf = (path: string, text: string): string =>
  /^## @colloquy\/(\S+)/.exec(text)?.[1]?.replaceAll("/", "-") ?? basename(dirname(path));

const shownIn = (path: string, text: string): FirstExample["shows"] => {
  const [, program] = /```ts\n([\s\S]*?)```/.exec(text) ?? [];
  if (program !== undefined) return { program };
  const [, line] = /^colloquy (chat "[^\n#]*)/m.exec(text) ?? [];
  if (line === undefined) throw new Error(`${path} shows no program, and no question to ask by colloquy chat`);
  const words = line.trim().match(/"[^"]*"|\S+/g) ?? [];
  return { command: words.map((word) => word.replaceAll('"', "")) };
};

const installsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^npm install ([^#\n]*)/gm)]
    .flatMap(([, names = ""]) => names.trim().split(/\s+/))
    .filter((name) => !name.startsWith("-") && !name.startsWith("@colloquy/"));
