import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/**
 * Copies the declarations that the entry points of a package reach from tsc's output to `dist`. They refer to the types
 * of fp-ts in a file beside them, since its functions are inside the bundles.
 */
export const shipDeclarations = (folder: string, entries: readonly string[]): void => {
  const written = join(folder, ".types");
  const shipped = join(folder, "dist");
  for (const file of globSync("**/*.d.ts", { cwd: shipped })) rmSync(join(shipped, file));
  const reached = new Set(entries.map((source) => declarationOf(posix.relative("src", source))));
  for (const file of reached) {
    const path = join(written, file);
    if (!existsSync(path)) throw new Error(`${path} is not there: tsc writes it`);
    const text = readFileSync(path, "utf8");
    const named = [...text.matchAll(/(?:\bfrom |\bimport\(|^import )"(\.[^"]+)"/gm)].map(([, other = ""]) => other);
    for (const other of named) reached.add(declarationOf(posix.join(posix.dirname(file), other)));
    mkdirSync(dirname(join(shipped, file)), { recursive: true });
    const own = posix.relative(posix.dirname(file), fpTs);
    const above = own.startsWith(".") ? own : `./${own}`;
    writeFileSync(join(shipped, file), text.replaceAll(/"fp-ts\/lib\/\w+\.js"/g, `"${above}.js"`));
    if (text.includes('"fp-ts/')) copyFileSync(types, join(shipped, `${fpTs}.d.ts`));
  }
};

/** The name of the types' file, which is that of the functions' bundle beside it. */
const fpTs = "fp-ts";

const types = join(import.meta.dirname, "shipped-fp-ts.ts");

const declarationOf = (source: string): string => source.replace(/\.(tsx?|js)$/, ".d.ts");
