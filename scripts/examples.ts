// Runs every example, as a reader would, and fails when one of them does or when there is none. Those that are tests
// are run with the tests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { nodeOf, oldestNode } from "../proof/kit/node-release.ts";
import { callerEnvironment } from "./caller.ts";

/**
 * Whether a path of the repository is that of an example to run: a program in a folder of its own, a numbered file,
 * or what the README or a page of the docs shows.
 */
export const isExample = (path: string): boolean =>
  /^examples\/([^/]+\/main|\d\d-[^/]+|(readme|docs)\/[^/]+)\.ts$/.test(path) && !path.endsWith(".test.ts");

const secondsMax = 60;

// `--oldest-node` runs the examples in the oldest Node that packages run in, those of the docs aside.
const root = dirname(import.meta.dirname);

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: { "oldest-node": { type: "boolean", default: false } } });
  const oldest = values["oldest-node"];
  const examples = globSync("examples/**/*.ts", { cwd: root })
    .filter((path) => isExample(path) && !(oldest && path.startsWith("examples/docs/")))
    .toSorted();
  await using server = await loopbackServer({ model: standIn });
  const node = oldest ? nodeOf(oldestNode) : process.execPath;
  const failed: string[] = [];
  for (const example of examples) {
    if (needsRestate(example) && process.env["COLLOQUY_RESTATE_URL"] === undefined) {
      console.log(`\n# ${example} is left out: \`pnpm engines:install\`, then \`pnpm servers node ${example}\``);
      continue;
    }
    console.log(`\n# ${example}${oldest ? `, in Node ${oldestNode}` : ""}`);
    if (!(await run(node, example, server.url))) failed.push(example);
  }
  if (failed.length > 0) console.error(`\nfailed: ${failed.join(", ")}`);
  if (examples.length === 0) console.error("There is no example.");
  process.exitCode = failed.length === 0 && examples.length > 0 ? 0 : 1;
};

/** The examples of the README talk to OpenAI; here a local server takes its place. All others need no server. */
const isOfReadme = (path: string): boolean => path.startsWith("examples/readme/");

/** This example needs a server that is not part of this repository. */
const needsRestate = (path: string): boolean => path === "examples/22-restate.ts";

const standIn = ruleModel([
  { name: "the weather is known", when: ({ toolResults }) => toolResults.length > 0, answer: () => says },
  { name: "else", when: () => true, answer: () => toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]) },
]);

const says = "Yes, it is raining in Oslo.";

/** Whether it ended well, and in time; what the README shows also said what it has to. It begins in an empty folder. */
const run = async (node: string, example: string, url: string): Promise<boolean> => {
  const ofReadme = isOfReadme(example);
  const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...environment } = callerEnvironment();
  const env = ofReadme ? { ...environment, OPENAI_API_KEY: "none", OPENAI_BASE_URL: url } : environment;
  const folder = ofReadme ? mkdtempSync(join(tmpdir(), "colloquy-example-")) : root;
  const child = spawn(node, [join(root, example)], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: secondsMax * 1000,
    killSignal: "SIGKILL",
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  await once(child, "close");
  const { exitCode, signalCode: signal } = child;
  if (ofReadme) rmSync(folder, { recursive: true });
  if (signal !== null) console.error(`${example} was stopped by ${signal}, at the latest after ${secondsMax} s`);
  const isQuickStart = example.endsWith("quick-start.ts");
  if (isQuickStart && output.trim() !== says) console.error(`${example} printed ${output.trim()}, not ${says}`);
  return exitCode === 0 && (!isQuickStart || output.trim() === says);
};

if (import.meta.main) await main();
