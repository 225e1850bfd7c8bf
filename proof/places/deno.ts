import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { inFolder } from "../kit/folder.ts";

/** Runs the example twice, each time a process, with no more than it needs: the second goes on with the thread of the first. */
export const inDeno = (root: string, program: string): Promise<readonly string[]> =>
  inFolder("deno", async (folder) => {
    const permissions = ["--no-prompt", "--cached-only", "--allow-env", "--allow-read", `--allow-write=${folder}`];
    const example = join(root, "examples/24-deno/conversation.ts");
    const args = ["run", "--node-modules-dir=manual", ...permissions, example, join(folder, "threads.db")];
    return ["turn 1: It rains in Oslo.", "turn 2: It rains in Oslo."].flatMap((expected) => {
      const { stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8", timeout: 60_000 });
      return stdout.trim() === expected ? [] : [`${expected} was expected, it printed ${stdout.trim()}\n${stderr}`];
    });
  });
