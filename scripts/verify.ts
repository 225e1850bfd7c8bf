// The gate: runs every step that a change must pass, to the end even if one fails. Steps that measure no time run two
// at a time. Random cases come from one seed, computed from the sources (docs/decisions/0032-the-seed-of-the-gate.md);
// `pnpm verify --seed S` tries others. The last line is `N passed, N failed`, over the tests and the other steps
// together.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { z } from "zod";

import { runCommand } from "../proof/kit/command.ts";
import { oldestNode } from "../proof/kit/node-release.ts";
import { whole } from "../proof/kit/options.ts";
import { sixteenth } from "../test/runs.ts";
import { callerEnvironment, workspaceEnvironment } from "./caller.ts";
import { seedOfSources, seedsMax } from "./seed-of-sources.ts";
import { whatFailed } from "./what-failed.ts";

interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** A step that takes longer has failed. */
  readonly minutesMax: number;
  /** The seed of its properties, if it is not that of `pnpm test`. */
  readonly seed?: number;
  /** The number of cases that they draw, if it is not that of their command (`test/runs.ts`). */
  readonly runs?: string;
  /** It measures no time: the next such step runs beside it. */
  readonly beside?: true;
  /** It measures the start of processes, so they find no compiled code of earlier ones. */
  readonly cold?: true;
  /** It needs a PostgreSQL and a Redis, which its command finds by variables. It fails if they can't be started. */
  readonly servers?: true;
  /** The path of vitest's JSON report, if the tests of the step count one by one. */
  readonly report?: string;
}

interface Outcome {
  readonly step: Step;
  /** The reason for a failure; null for a step that passed. */
  readonly problem: string | null;
  readonly output: string;
  readonly seconds: number;
}

const root = dirname(import.meta.dirname);
const reports = join(root, "node_modules/.cache/verify");

// Conversations that others recorded, which are not part of this repository.
const recordings = process.env["COLLOQUY_RECORDINGS"] ?? join(root, "../shared/recordings");

/** The README's command, so that the gate checks what it says, with the Node of its reader. */
const pnpm = ["npx", "-y", "pnpm@12.21.0"] as const;

/** Makes a step whose tests are counted one by one, by vitest's report. */
const counted = (file: string, step: Omit<Step, "report">): Step => {
  const report = join(reports, file);
  const [command, ...args] = step.command;
  return {
    ...step,
    command: [
      command,
      ...args,
      "--reporter=default",
      "--reporter=./test/processor-time/reporter.ts",
      "--reporter=json",
      `--outputFile.json=${report}`,
    ],
    report,
  };
};

/** Makes a step of a command such as `proof/chaos --target process`: a folder and arguments. It gets two minutes. */
const proof = (name: string, command: string, more: Partial<Step> = {}): Step => {
  const [folder, ...args] = command.split(" ");
  return { name, command: ["node", `${folder}/main.ts`, ...args], minutesMax: 2, ...more };
};

const ofRecordings: readonly Step[] = [
  { name: "recordings", command: ["node", "proof/recordings/main.ts", recordings], minutesMax: 2, beside: true },
  {
    name: "policies",
    command: ["node", "proof/policies/main.ts", recordings, "--budgets", "1"],
    minutesMax: 4,
    beside: true,
  },
];

const benchmarks: readonly Step[] = [
  // The benchmarks whose figures do not depend on the load of the machine.
  proof("benchmark of the disk", "bench --only disk", { minutesMax: 1, beside: true }),
  proof("benchmark of what is immutable", "bench --only immutable --rounds 31", { beside: true }),
  proof("benchmark of growth", "bench --only queues --rounds 7", { minutesMax: 4, beside: true }),
  proof("benchmark of a transition", "bench --only transition"),
  // Their bounds are wide enough for a busy machine, which slows both sides alike.
  proof("benchmarks of prompts and of opening", "bench --only prompt --only memory --only opening --rounds 3", {
    minutesMax: 4,
  }),
  proof("benchmarks of pruning, requests and serving", "bench --only pruning --only bodies --only serving --rounds 3", {
    minutesMax: 4,
  }),
  // With the packages that were built above, also on PostgreSQL.
  proof("benchmark of processes that have just started", "bench --only start --only cold --rounds 1", {
    servers: true,
    cold: true,
    minutesMax: 4,
  }),
];

const examples = (seed: number): readonly Step[] => [
  { name: "examples", command: ["node", "scripts/examples.ts"], minutesMax: 6, beside: true },
  {
    name: "examples in the oldest Node",
    command: ["node", "scripts/examples.ts", "--oldest-node"],
    minutesMax: 6,
    beside: true,
  },
  proof("Deno, Bun and workerd", `proof/places --seed ${seed}`, { minutesMax: 6, servers: true, beside: true }),
];

/** Steps in which processes, stores and servers die. */
const crashes = (seed: number): readonly Step[] => [
  // On each store, including PostgreSQL and Redis.
  proof("crash points", "proof/chaos --target points --every 2", { servers: true, beside: true, minutesMax: 4 }),
  proof("tampered rows", `proof/chaos --target rows --runs 12 --seed ${seed}`, { servers: true, beside: true }),
  proof("killed processes", `proof/chaos --target process --runs 3 --seed ${seed}`, { beside: true }),
  // These mostly wait for a disk.
  proof("killed stores", `proof/chaos --target database --store sqlite --store files --runs 6 --seed ${seed}`, {
    minutesMax: 4,
    beside: true,
  }),
  proof("killed servers", `proof/chaos --target database --store postgres --store redis --runs 1 --seed ${seed}`, {
    beside: true,
  }),
];

/** Steps in which several processes, servers or tabs use the same threads. They mostly wait. */
const among = (seed: number): readonly Step[] => [
  proof("writers", "proof/chaos --target writers --asks 500", { servers: true, beside: true, minutesMax: 4 }),
  proof("two servers", `proof/chaos --target server --kills 5 --seed ${seed}`, {
    servers: true,
    beside: true,
    minutesMax: 4,
  }),
  // Small and frequent snapshots, so that a process mostly knows a thread from a snapshot, or from another process.
  proof(
    "engines",
    `proof/chaos --target restate --runs 1 --conversations 21 --kills 6 --server-kills 1 --lanes 10 --snapshot-every 4 --seed ${seed}`,
    { servers: true, beside: true, minutesMax: 4 },
  ),
  proof("bad networks", `proof/chaos --target network --runs 2 --seed ${seed}`, {
    servers: true,
    beside: true,
    minutesMax: 4,
  }),
  // In a Chromium: tabs that close, and tabs that freeze.
  proof("tabs", `proof/chaos --target tabs --runs 2 --asks 40 --closes 10 --seed ${seed}`, {
    servers: true,
    beside: true,
  }),
  proof("tabs that stand still", `proof/chaos --target tabs --asks 20 --closes 2 --stalls 2 --seed ${seed}`, {
    servers: true,
    beside: true,
  }),
];

const stepsFrom = (seed: number): readonly Step[] => [
  { name: "format", command: ["oxfmt", "--check", "."], minutesMax: 1 },
  { name: "types", command: ["tsc", "-p", "."], minutesMax: 2, beside: true },
  { name: "build", command: ["node", "scripts/build.ts"], minutesMax: 2, beside: true },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"], minutesMax: 2 },
  { name: "dead code", command: ["knip"], minutesMax: 2, beside: true },
  { name: "diagram", command: ["node", "scripts/diagram.ts", "--check"], minutesMax: 1, beside: true },
  { name: "field tables", command: ["node", "scripts/field-tables.ts", "--check"], minutesMax: 1, beside: true },
  { name: "API reports", command: ["node", "scripts/api-reports.ts", "--check"], minutesMax: 1, beside: true },
  { name: "site of the docs", command: ["node", "scripts/site.ts"], minutesMax: 1, beside: true },
  // Before the tests, which look for these.
  { name: "a server for the engines", command: [...pnpm, "engines:install"], minutesMax: 5, beside: true },
  { name: "places that are not Node", command: [...pnpm, "places:install"], minutesMax: 3, beside: true },
  { name: "start, as in the README", command: [...pnpm, "start"], minutesMax: 1, beside: true },
  counted("tests.json", {
    name: "tests, as in the README",
    command: [...pnpm, "test"],
    minutesMax: 8,
    servers: true,
  }),
  counted("long-tests.json", {
    // With fewer cases and seeded faults than `pnpm test:long` by itself, which draws sixteen times as many and takes
    // all faults, and with another seed than the tests on another day.
    name: "long tests, from the seed after that of the sources",
    command: [...pnpm, "test:long"],
    minutesMax: 16,
    seed: (seed + 1) % seedsMax,
    runs: sixteenth,
    servers: true,
  }),
  // The tests above, with other cases after each change; `pnpm test:seeds` tries sixteen times as many.
  proof("tests on another day, from the seed of the sources", `proof/other-day --seed ${seed}`, { minutesMax: 8 }),
  ...examples(seed),
  // With the packages that were built above.
  proof("first examples in an empty project", `proof/first-examples --in ${oldestNode} --in deno --in bun`, {
    minutesMax: 6,
    servers: true,
    beside: true,
  }),
  // The first mutants that this seed draws in the whole machine. None may survive.
  proof("mutants of the machine", "proof/mutants --count 4 --seed 4 --share 0.95", {
    minutesMax: 4,
    beside: true,
  }),
  proof("vectors, in both machines", "proof/vectors", { beside: true }),
  proof("law on bytes", "proof/wire --threads 300 --seed 1", { beside: true }),
  proof("laws of pruning", `proof/policy-laws --seeds 4 --seed ${seed}`, { minutesMax: 4, beside: true }),
  proof("power cuts", "proof/chaos --target disk --runs 50 --seed 1", { beside: true }),
  ...crashes(seed),
  ...(existsSync(recordings) ? ofRecordings : []),
  proof("simulation", "proof/simulate --runs 1000 --seed 1 --workers 1", { minutesMax: 4, beside: true }),
  ...among(seed),
  // The same behind a pooler, which takes as long again: `pnpm servers pnpm backend`.
  proof("a backend", `proof/backend --part restart --part takeover --kills 1 --takeovers 1 --seed ${seed}`, {
    servers: true,
  }),
  ...benchmarks,
];

/** The members of the tests' JSON report that are read here. */
const testReport = z.object({ numPassedTests: z.number(), numFailedTests: z.number() });

const verify = async (seed: number): Promise<void> => {
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });
  console.log(`cases follow from the seed ${seed}`);
  const outcomes = await outcomesOf(stepsFrom(seed));
  console.log("\n");
  for (const { step, problem, seconds } of outcomes) {
    console.log(`${problem === null ? "passed" : "FAILED"} ${seconds.toFixed(1).padStart(6)} s  ${step.name}`);
  }
  if (!existsSync(recordings)) console.log(`left out       recordings, policies: there is no ${recordings}`);
  // Last, since a log may keep only its end.
  for (const { step, problem, output } of outcomes) {
    if (problem !== null) console.log([`\n## FAILED: ${step.name}: ${problem}`, ...whatFailed(output)].join("\n"));
  }
  const { passed, failed } = total(outcomes);
  process.exitCode = failed === 0 ? 0 : 1;
  console.log(`${passed} passed, ${failed} failed`);
};

/** Runs the steps in order, except those that run beside each other. */
const outcomesOf = async (waiting: readonly Step[]): Promise<readonly Outcome[]> => {
  const ended: Outcome[] = [];
  const queue = [...waiting];
  const runNext = async (): Promise<void> => {
    for (let step = queue[0]; step?.beside === true; step = queue[0]) {
      queue.shift();
      ended.push(await run(step));
    }
  };
  while (queue.length > 0) {
    await Promise.all([runNext(), runNext()]);
    const step = queue.shift();
    if (step !== undefined) ended.push(await run(step));
  }
  return ended;
};

const run = async (step: Step): Promise<Outcome> => {
  const [command, ...args] = step.servers === true ? [...withServers, ...step.command] : step.command;
  const seeded = {
    ...(step.seed === undefined ? {} : { COLLOQUY_SEED: String(step.seed) }),
    ...(step.runs === undefined ? {} : { COLLOQUY_RUNS: step.runs }),
  };
  const variables = Object.entries(seeded).map(([name, value]) => `${name}=${value}`);
  const title = `\n## ${step.name}: ${[...variables, ...step.command].join(" ")}`;
  if (step.beside !== true) console.log(title);
  const started = performance.now();
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...withoutModels(step.command[0] === "npx" ? callerEnvironment() : workspaceEnvironment()),
      CI: "true",
      ...(step.cold === true ? {} : compiled),
      ...seeded,
    },
  });
  const output: Buffer[] = [];
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].on("data", (chunk: Buffer) => {
      output.push(chunk);
      if (step.beside !== true) process[stream].write(chunk);
    });
  }
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    // A process that it started may survive and keep them open.
    child.stdout.destroy();
    child.stderr.destroy();
  }, step.minutesMax * 60_000);
  const problem = await new Promise<string | null>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (status, signal) => resolve(status === 0 ? null : `ended with ${status ?? signal}`));
  });
  clearTimeout(timer);
  const seconds = (performance.now() - started) / 1000;
  const text = Buffer.concat(output).toString("utf8");
  // The output of a step beside others is printed in one piece.
  if (step.beside === true) console.log(`${title}\n${text}`);
  if (problem !== null) console.error(`${step.name}: ${problem}`);
  return { step, problem, output: text, seconds };
};

const withServers = [process.execPath, "proof/servers/main.ts", "--"] as const;

/** Keeps the stripped and compiled code of a process for the next one, which halves the time of examples. */
const compiled = { NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compiled") };

/** Removes the caller's variables of models, since the gate calls no real model. */
const withoutModels = (environment: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("OPENAI_")));

interface Total {
  readonly passed: number;
  readonly failed: number;
}

const total = (outcomes: readonly Outcome[]): Total =>
  outcomes.map(totalOf).reduce((sum, each) => ({ passed: sum.passed + each.passed, failed: sum.failed + each.failed }));

/** Counts a step. Tests with a report count one by one; their step counts only if it failed without a failed test. */
const totalOf = ({ step: { report }, problem }: Outcome): Total => {
  const itself = problem === null ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  if (report === undefined || !existsSync(report)) return itself;
  const { numPassedTests, numFailedTests } = testReport.parse(JSON.parse(readFileSync(report, "utf8")));
  return { passed: numPassedTests, failed: numFailedTests === 0 ? itself.failed : numFailedTests };
};

await runCommand({
  name: "verify",
  options: {
    seed: whole(null, "what the cases follow from (default: it follows from the sources)", {
      least: 0,
      most: seedsMax - 1,
      placeholder: "S",
    }),
  },
  run: ({ seed }) => verify(seed ?? seedOfSources(root)),
});
