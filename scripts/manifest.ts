import { readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

/** Reads the package.json in a folder. Members of foreign packages in other forms count as missing. */
export const manifestIn = (folder: string): z.infer<typeof manifest> =>
  manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));

const texts = z.record(z.string(), z.string()).catch({});

const manifest = z.object({
  name: z.string().default(""),
  version: z.string().default(""),
  description: z.string().default(""),
  exports: texts,
  bin: texts,
  dependencies: texts,
  peerDependencies: texts,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().default(false) })).catch({}),
  repository: z.unknown().optional(),
});
