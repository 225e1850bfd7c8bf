import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { rolldown } from "rolldown";

/**
 * Makes one file of a child's program for as long as it is used: it starts seven times as fast as from its sources,
 * which matters where it is started several times for each conversation. `source` is where the program is.
 */
export const withProgram = async <A>(source: string, use: (program: string) => Promise<A>): Promise<A> => {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-crash-program-"));
  try {
    const bundle = await rolldown({ input: source, platform: "node" });
    const file = join(folder, "child.mjs");
    await bundle.write({ file, format: "esm" });
    await bundle.close();
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
