import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { rolldown } from "rolldown";

/** Makes one file of the child's program for as long as it is used: it starts much faster than from its sources. */
export const withProgram = async <A>(use: (program: string) => Promise<A>): Promise<A> => {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-crash-store-program-"));
  try {
    const bundle = await rolldown({
      input: fileURLToPath(new URL("child.ts", import.meta.url)),
      platform: "node",
      shimMissingExports: true,
    });
    const file = join(folder, "child.mjs");
    await bundle.write({ file, format: "esm" });
    await bundle.close();
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
