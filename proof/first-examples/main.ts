// Installs the packed packages in an empty project, and runs what each README shows first, as it stands there, in the
// Nodes that packages are for. Exits with 1 when one of them fails or prints nothing.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { ruleModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";

import { callerEnvironment } from "../../scripts/caller.ts";
import { runCommand } from "../kit/command.ts";
import { inFolder } from "../kit/folder.ts";
import { nodeOf, nodes } from "../kit/node-release.ts";
import { someOf } from "../kit/options.ts";
import { count, printViolations, stopwatch } from "../kit/report.ts";
import { emptyProject } from "./empty-project.ts";
import { type FirstExample, readFirstExamples } from "./read-examples.ts";

const root = dirname(dirname(import.meta.dirname));
const secondsMax = 60;

/** Stands in for OpenAI. */
const model = ruleModel([{ name: "any", when: () => true, answer: () => "A line of people." }]);

const runAll = async (versions: readonly string[]): Promise<void> => {
  const seconds = stopwatch();
  const examples = readFirstExamples(root).filter(({ name }) => {
    const isLeftOut = name === "runtime-restate" && process.env["COLLOQUY_RESTATE_URL"] === undefined;
    if (isLeftOut) console.log(`left out: ${name}, which needs a server of Restate (pnpm engines:install)`);
    return !isLeftOut;
  });
  const failed = await inFolder("first-examples", async (folder) => {
    const project = emptyProject(
      root,
      folder,
      examples.flatMap(({ installs }) => installs),
    );
    await using server = await loopbackServer({ model });
    const problems: string[] = [];
    for (const version of versions) {
      const node = nodeOf(version);
      for (const example of examples) {
        const problem = await problemOf(node, example, project, server.url);
        if (problem !== null) problems.push(`${example.name}, in Node ${version}: ${problem}`);
      }
    }
    return problems;
  });
  printViolations(failed);
  if (failed.length === 0)
    console.log(
      `What ${count(examples.length, "README")} show first runs in an empty project, in Node ${versions.join(", ")}: ${seconds()} s.`,
    );
};

/** Why an example does not run; null when it does. */
const problemOf = async (
  node: string,
  { name, shows }: FirstExample,
  project: string,
  url: string,
): Promise<string | null> => {
  const file = join(project, `${name}.ts`);
  if ("program" in shows) writeFileSync(file, shows.program);
  const what = "program" in shows ? [file] : [join(project, "node_modules/.bin/colloquy"), ...shows.command];
  const child = spawn(node, what, {
    cwd: project,
    env: {
      ...callerEnvironment(),
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: url,
      RESTATE_URL: process.env["COLLOQUY_RESTATE_URL"] ?? "",
      RESTATE_ADMIN_URL: process.env["COLLOQUY_RESTATE_ADMIN_URL"] ?? "",
      PORT: "0",
    },
    // What reads questions finds none.
    stdio: ["ignore", "pipe", "pipe"],
    timeout: secondsMax * 1000,
    killSignal: "SIGKILL",
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const status = await new Promise<number | string | null>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (exit, signal) => resolve(exit ?? signal));
  });
  if (status !== 0) return `ended with ${status}\n${errors || output}`;
  return output.trim() === "" && errors.trim() === "" ? "printed nothing" : null;
};

await runCommand({
  name: "first-examples",
  options: { node: someOf(nodes, `${nodes.join(", ")} (default: all of them)`) },
  run: ({ node }) => runAll(node),
});
