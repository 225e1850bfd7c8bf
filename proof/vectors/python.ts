import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { root } from "./files.ts";

/**
 * Returns the problems that the machine in Python finds in each vector; null if there is no Python, or no machine in it.
 * @throws Error if its output is incomplete or it fails
 */
export const pythonProblems = (vectors: readonly string[]): ReadonlyMap<string, string | null> | null => {
  if (!existsSync(join(root, program)) || spawnSync("python3", ["--version"]).status !== 0) return null;
  const { stdout, stderr, status } = spawnSync(
    "python3",
    [program, ...new Set(vectors.map((vector) => vector.replace(/#.*/, "")))],
    {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      timeout: 120_000,
    },
  );
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  if (lines.length !== vectors.length)
    throw new Error(
      `${program} prints ${lines.length} lines for ${vectors.length} vectors, and ends with ${status}: ${stderr}`,
    );
  const said = lines.map((line) => answer.parse(JSON.parse(line)));
  return new Map(said.map(({ file, ok, problem }) => [file, ok ? null : (problem ?? "it does not say why")]));
};

const program = "vectors/python/run.py";

const answer = z.object({ file: z.string(), ok: z.boolean(), problem: z.string().nullish() });
