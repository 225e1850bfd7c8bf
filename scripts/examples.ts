// Runs every example, as a reader would, and fails when one of them does or when there is none. Those that are tests
// are run with the tests.
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { dirname } from "node:path";
import { ruleModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";

/**
 * Whether a path of the repository is that of an example to run: a program in a folder of its own, a numbered file,
 * or what the README or a page of the docs shows.
 */
export const isExample = (path: string): boolean =>
  /^examples\/([^/]+\/main|\d\d-[^/]+|(readme|docs)\/[^/]+)\.ts$/.test(path) && !path.endsWith(".test.ts");

const secondsMax = 60;

const main = async (): Promise<void> => {
  const root = dirname(import.meta.dirname);
  const examples = globSync("examples/**/*.ts", { cwd: root }).filter(isExample).toSorted();
  await using server = await loopbackServer({ model: standIn });
  const failed: string[] = [];
  for (const example of examples) {
    console.log(`\n# ${example}`);
    if (!(await run(example, root, environmentOf(example, server.url)))) failed.push(example);
  }
  if (failed.length > 0) console.error(`\nfailed: ${failed.join(", ")}`);
  if (examples.length === 0) console.error("There is no example.");
  process.exitCode = failed.length === 0 && examples.length > 0 ? 0 : 1;
};

/** What the README shows talks to OpenAI; here something else stands in for it. All others need no server. */
const standIn = ruleModel([
  { name: "the name is known", when: ({ mentions }) => mentions("Ada"), answer: () => "Your name is Ada." },
  { name: "else", when: () => true, answer: () => "I don't know your name." },
]);

const environmentOf = (example: string, url: string): NodeJS.ProcessEnv => {
  const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...environment } = process.env;
  return example.startsWith("examples/readme/")
    ? { ...environment, OPENAI_API_KEY: "none", OPENAI_BASE_URL: url }
    : environment;
};

/** Whether it ended well, and in time. */
const run = (example: string, root: string, env: NodeJS.ProcessEnv): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [example], {
      cwd: root,
      env,
      stdio: ["ignore", "inherit", "inherit"],
      timeout: secondsMax * 1000,
      killSignal: "SIGKILL",
    });
    child.once("close", (status, signal) => {
      if (signal !== null) console.error(`${example} was stopped by ${signal}, at the latest after ${secondsMax} s`);
      resolve(status === 0);
    });
  });

if (import.meta.main) await main();
