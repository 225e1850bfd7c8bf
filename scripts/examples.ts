// Runs every example as a reader would, and fails if one fails or if there is none. Examples that are tests run with
// the tests.
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { Child } from "../proof/kit/child.ts";
import { nodeOf, oldestNode } from "../proof/kit/node-release.ts";
import { callerEnvironment } from "./caller.ts";

/**
 * Returns whether a path is an example to run: a program in its own folder, a numbered file, or a file that the README
 * or a page of the docs shows.
 */
export const isExample = (path: string): boolean =>
  /^examples\/([^/]+\/main|\d\d-[^/]+|(readme|docs)\/[^/]+)\.ts$/.test(path) && !path.endsWith(".test.ts");

const secondsMax = 60;

// `--oldest-node` runs the examples, except those of the docs, in the oldest Node that packages support.
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
    const needed = servers[example];
    if (needed !== undefined && process.env[needed.variable] === undefined) {
      console.log(`\n# ${example} is left out: ${needed.install}\`pnpm servers node ${example}\``);
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

/** The servers that examples need, each with the variable that names it. */
const servers: Readonly<Record<string, { readonly variable: string; readonly install: string }>> = {
  "examples/22-restate.ts": { variable: "COLLOQUY_RESTATE_URL", install: "`pnpm engines:install`, then " },
  "examples/docs/postgres.ts": { variable: "COLLOQUY_POSTGRES_URL", install: "" },
  "examples/docs/redis.ts": { variable: "COLLOQUY_REDIS_URL", install: "" },
};

const standIn = ruleModel([
  { name: "the weather is known", when: ({ toolResults }) => toolResults.length > 0, answer: () => says },
  { name: "else", when: () => true, answer: () => toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]) },
]);

const says = "Yes, it is raining in Oslo.";

/** Runs an example in an empty folder. Returns whether it succeeded in time; a README's must also print its text. */
const run = async (node: string, example: string, url: string): Promise<boolean> => {
  const ofReadme = isOfReadme(example);
  const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...environment } = callerEnvironment();
  const env = ofReadme ? { ...environment, OPENAI_API_KEY: "none", OPENAI_BASE_URL: url } : environment;
  const folder = ofReadme ? mkdtempSync(join(tmpdir(), "colloquy-example-")) : root;
  const child = new Child([node, join(root, example)], {
    cwd: folder,
    env,
    log: null,
    secondsMax,
    onLine: (line) => console.log(line),
  });
  const { code, signal, stdout } = await child.ended;
  if (ofReadme) rmSync(folder, { recursive: true });
  if (signal !== null) console.error(`${example} was stopped by ${signal}, at the latest after ${secondsMax} s`);
  const isQuickStart = example.endsWith("quick-start.ts");
  if (isQuickStart && stdout.trim() !== says) console.error(`${example} printed ${stdout.trim()}, not ${says}`);
  return code === 0 && (!isQuickStart || stdout.trim() === says);
};

if (import.meta.main) await main();
