// Installs the packed packages in an empty project, and runs the first example of each README there, unchanged, in the
// supported Nodes, and in Deno and Bun if they are installed. Exits with 1 if an example fails or prints nothing.
import { realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { ruleModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";

import { callerEnvironment } from "../../scripts/caller.ts";
import { Child } from "../kit/child.ts";
import { runCommand } from "../kit/command.ts";
import { inFolder } from "../kit/folder.ts";
import { nodeOf, nodes } from "../kit/node-release.ts";
import { someOf } from "../kit/options.ts";
import { count, printViolations, stopwatch } from "../kit/report.ts";
import { placeProgram, placeTitle } from "../places/programs.ts";
import { emptyProject } from "./empty-project.ts";
import { type FirstExample, readFirstExamples } from "./read-examples.ts";

const root = dirname(dirname(import.meta.dirname));
const secondsMax = 60;

const model = ruleModel([{ name: "any", when: () => true, answer: () => "A line of people." }]);

type Place = (typeof places)[number];

const places = [...nodes, "deno", "bun"] as const;

const runAll = async (chosen: readonly Place[]): Promise<void> => {
  const seconds = stopwatch();
  const runtimes = chosen.flatMap(runtimeOf);
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
    for (const runtime of runtimes) {
      for (const example of examples) {
        const problem = await problemOf(runtime.command, example, project, server.url);
        if (problem !== null) problems.push(`${example.name}, in ${runtime.title}: ${problem}`);
      }
    }
    return problems;
  });
  printViolations(failed);
  if (failed.length === 0)
    console.log(
      `What ${count(examples.length, "README")} show first runs in an empty project, in ${runtimes.map(({ title }) => title).join(", ")}: ${seconds()} s.`,
    );
};

interface Runtime {
  readonly title: string;
  /** The start of the command line. */
  readonly command: readonly [string, ...string[]];
}

/** Returns the runtimes of a place. Prints that its program is not installed, if so. */
const runtimeOf = (place: Place): readonly Runtime[] => {
  if (place !== "deno" && place !== "bun") return [{ title: `Node ${place}`, command: [nodeOf(place)] }];
  const program = placeProgram(place);
  if (program === null) console.log(`left out: ${placeTitle(place)}, which is not installed (pnpm places:install)`);
  if (program === null) return [];
  const args = place === "deno" ? ["run", "--allow-all", "--cached-only", "--node-modules-dir=manual"] : ["run"];
  return [{ title: placeTitle(place), command: [program, ...args] }];
};

/** Returns why an example does not run; null if it does. */
const problemOf = async (
  command: readonly [string, ...string[]],
  { name, shows }: FirstExample,
  project: string,
  url: string,
): Promise<string | null> => {
  const file = join(project, `${name}.ts`);
  if ("program" in shows) writeFileSync(file, shows.program);
  const what =
    "program" in shows ? [file] : [realpathSync(join(project, "node_modules/.bin/colloquy")), ...shows.command];
  const env = {
    ...callerEnvironment(),
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: url,
    RESTATE_URL: process.env["COLLOQUY_RESTATE_URL"] ?? "",
    RESTATE_ADMIN_URL: process.env["COLLOQUY_RESTATE_ADMIN_URL"] ?? "",
    PORT: "0",
  };
  const { code, signal, stdout, stderr } = await new Child([...command, ...what], { cwd: project, env, secondsMax })
    .ended;
  if (code !== 0) return `ended with ${signal ?? code}\n${stderr || stdout}`;
  return stdout.trim() === "" && stderr === "" ? "printed nothing" : null;
};

await runCommand({
  name: "first-examples",
  options: { in: someOf(places, `${places.join(", ")} (default: all of them that are installed)`) },
  run: ({ in: chosen }) => runAll(chosen),
});
