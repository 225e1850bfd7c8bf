import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The first example in the README of a package. */
export interface FirstExample {
  /** Of the package, without its scope. */
  readonly name: string;
  /** A program, or the arguments of `colloquy`. */
  readonly shows: { readonly program: string } | { readonly command: readonly string[] };
  /** The packages that its README says to install, without tarballs of this repository. */
  readonly installs: readonly string[];
}

/** The first examples of all READMEs of packages. Throws where a README has none, which a test keeps from happening. */
export const readFirstExamples = (root: string): readonly FirstExample[] =>
  globSync("packages/*/README.md", { cwd: root })
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(root, path), "utf8");
      return { name: basename(dirname(path)), shows: shownIn(path, text), installs: installsOf(text) };
    });

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
