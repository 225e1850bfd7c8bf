import { realpath } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, relative, resolve, sep } from "node:path";

/**
 * Matches a path that an agent's file may not name: absolute, with a scheme or a drive, or with an encoded slash or a
 * backslash.
 */
const isForeign = /^(?:\/|[a-z][a-z\d+.-]*:|$)|[\\\0]|%2f|%5c/i;

/**
 * Returns the real path of a reference in an agent's file: relative to that file, and inside a folder after following
 * links.
 *
 * @param extensions with the dot.
 * @throws Error with a description for any other path.
 */
export const referredFile = async (
  reference: string,
  from: string,
  { root, extensions }: { readonly root: string; readonly extensions: readonly string[] },
): Promise<string> => {
  const example = `./${basename(reference).replace(/\W.*/, "") || "file"}${extensions[0] ?? ""}`;
  if (isForeign.test(reference))
    throw new Error(`it must be a path relative to the agent's file, with plain slashes, such as ${example}`);
  const real = await realpath(resolve(dirname(from), reference)).catch(() => null);
  if (real === null) throw new Error("there is no such file");
  const inside = relative(root, real);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new Error(`it lies outside of ${root}; move it there, or give a folder around both as the option root`);
  if (!extensions.includes(extname(real)))
    throw new Error(`it ends in "${extname(real)}"; it must be one of ${extensions.join(", ")}`);
  return real;
};
