import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { join } from "node:path";

import { rolldown } from "rolldown";

import { inFolder } from "../kit/folder.ts";
import { conversationElsewhere, type Runner } from "./conversation-elsewhere.ts";

/** Runs the trials in a place that runs `@colloquy/runtime-node`: the example, a conversation over HTTP, the stores. */
const elsewhere = async (root: string, runner: Runner): Promise<readonly string[]> => [
  ...(await exampleTwice(root, runner)),
  ...(await conversationElsewhere(root, runner)),
  ...(await storesElsewhere(root, runner)),
];

/** Deno, with no more permissions than it needs; the network is this machine, where the model is. */
export const inDeno = (root: string, program: string): Promise<readonly string[]> =>
  elsewhere(root, (script, writes) => {
    const permissions = ["--allow-env", "--allow-read", "--allow-net=127.0.0.1"];
    const writing = writes.map((folder) => `--allow-write=${folder}`);
    return [
      program,
      "run",
      "--no-prompt",
      "--cached-only",
      "--node-modules-dir=manual",
      ...permissions,
      ...writing,
      script,
    ];
  });

export const inBun = (root: string, program: string): Promise<readonly string[]> =>
  elsewhere(root, (script) => [program, "run", script]);

/** Runs the example twice over one file, each time in a process: the second continues the thread of the first. */
const exampleTwice = (root: string, runner: Runner): Promise<readonly string[]> =>
  inFolder("elsewhere", async (folder) => {
    const problems: string[] = [];
    for (const expected of ["turn 1: It rains in Oslo.", "turn 2: It rains in Oslo."]) {
      const example = runner(join(root, "examples/24-deno/conversation.ts"), [folder]);
      const printed = await outputOf([...example, join(folder, "threads.db")], root);
      if (printed !== expected) problems.push(`${expected} was expected, it printed ${printed}`);
    }
    return problems;
  });

/** Holds the stores that need no server to `storeContract`. */
const storesElsewhere = (root: string, runner: Runner): Promise<readonly string[]> =>
  inFolder("elsewhere", async (folder) => {
    const bundle = await rolldown({
      input: join(root, "proof/places/stores-elsewhere.ts"),
      platform: "node",
      // Nothing here calls a model.
      external: ["openai"],
      resolve: { alias: { vitest: join(root, "proof/places/contract-expect.ts") } },
    });
    const script = join(folder, "stores.js");
    await bundle.write({ file: script, format: "es", codeSplitting: false });
    await bundle.close();
    const printed = await outputOf([...runner(script, [folder]), folder], folder);
    return printed === "" ? [] : printed.split("\n");
  });

/** Returns the output of a command, errors included. */
const outputOf = async ([command = "", ...args]: readonly string[], cwd: string): Promise<string> => {
  const child = spawn(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return `${said}${errors}`.trim();
};
