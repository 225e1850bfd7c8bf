import { join } from "node:path";

import type { LlmHandler } from "@colloquy/host";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { rolldown } from "rolldown";

import { Child } from "../kit/child.ts";
import { inFolder } from "../kit/folder.ts";
import { leavePlace, newPlace, type StorePlace } from "../kit/places.ts";
import { serverUrl } from "../kit/server-urls.ts";

/** Runs the trials in a place for `@colloquy/runtime-node`: the example, a conversation over HTTP, the stores (`unbounded`). */
const elsewhere = async (root: string, runner: Runner, unbounded = runner): Promise<readonly string[]> => [
  ...(await exampleTwice(root, runner)),
  ...(await conversationElsewhere(root, runner)),
  ...(await storesElsewhere(root, unbounded)),
];

/**
 * Runs Deno with only the permissions that it needs. Its network is this machine, where the model runs. Stores need all
 * permissions, since Deno lets SQLite erase deleted text only then.
 */
export const inDeno = (root: string, program: string): Promise<readonly string[]> => {
  const run = [program, "run", "--no-prompt", "--cached-only", "--node-modules-dir=manual"] as const;
  const permissions = ["--allow-env", "--allow-read", "--allow-net=127.0.0.1"];
  return elsewhere(
    root,
    (script, writes) => [...run, ...permissions, ...writes.map((folder) => `--allow-write=${folder}`), script],
    (script) => [...run, "--allow-all", script],
  );
};

export const inBun = (root: string, program: string): Promise<readonly string[]> =>
  elsewhere(root, (script) => [program, "run", script]);

/** Runs the example twice over one file, in two processes: the second continues the thread of the first. */
const exampleTwice = (root: string, runner: Runner): Promise<readonly string[]> =>
  inFolder("elsewhere", async (folder) => {
    const problems: string[] = [];
    for (const expected of ["turn 1: It rains in Oslo.", "turn 2: It rains in Oslo."]) {
      const example = runner(join(root, "examples/24-deno/conversation.ts"), [folder]);
      const printed = await outputOf(started([...example, join(folder, "threads.db")], root));
      if (printed !== expected) problems.push(`it printed ${printed}, not ${expected}`);
    }
    return problems;
  });

/** Checks the stores that need no server against `storeContract`. */
const storesElsewhere = (root: string, runner: Runner): Promise<readonly string[]> =>
  inFolder("elsewhere", async (folder) => {
    const bundle = await rolldown({
      input: join(root, "proof/places/stores-elsewhere.ts"),
      platform: "node",
      // No check calls a model.
      external: ["openai"],
      resolve: { alias: { vitest: join(root, "proof/places/contract-expect.ts") } },
    });
    const script = join(folder, "stores.js");
    await bundle.write({ file: script, format: "es", codeSplitting: false });
    await bundle.close();
    const printed = await outputOf(started([...runner(script, [folder]), folder], folder));
    const problems = printed.split("\n");
    return problems.pop() === "all were run" ? problems : [...printed.split("\n"), "it did not run all checks"];
  });

const started = (command: readonly [string, ...string[]], cwd: string): Child =>
  new Child(command, { cwd, secondsMax: 120 });

/**
 * Returns what a process printed, and its exit code or signal if it failed: a script that prints only problems may print
 * nothing.
 */
const outputOf = async (child: Child): Promise<string> => {
  const { code, signal, stdout, stderr } = await child.ended;
  return `${stdout}${stderr}${code === 0 ? "" : `\nit ended with ${signal ?? code}`}`.trim();
};

/** Returns the command that runs a script, which may write only in these folders. */
type Runner = (script: string, writes: readonly string[]) => readonly [string, ...string[]];

/**
 * Holds a conversation with a model over HTTP, on each available store, in three processes. The second is killed while
 * it waits for the model, and the third continues its turn. Each line must occur once.
 */
const conversationElsewhere = async (root: string, runner: Runner): Promise<readonly string[]> => {
  const servers = (["postgres", "redis"] as const).filter((name) => serverUrl(name) !== null);
  // In parallel: if the death of a process cannot be detected, the third waits until a lease runs out.
  const problems = await Promise.all(
    (["sqlite", "files", ...servers] as const).map(async (type) => {
      const place = newPlace(type, "elsewhere");
      try {
        return (await conversationOn(root, runner, place)).map((problem) => `${type}: ${problem}`);
      } finally {
        await leavePlace(place);
      }
    }),
  );
  return problems.flat();
};

const conversationOn = async (root: string, runner: Runner, place: StorePlace): Promise<readonly string[]> => {
  const called = Promise.withResolvers<void>();
  let holds = false;
  const model: LlmHandler = async (call, context) => {
    const outcome = await answers(call, context);
    if (!holds) return outcome;
    called.resolve();
    await new Promise(() => {});
    return outcome;
  };
  await using server = await loopbackServer({ model });
  const start = (...question: readonly string[]): Child => {
    const command = runner(join(root, "proof/places/conversation.ts"), "folder" in place ? [place.folder] : []);
    return started([...command, JSON.stringify(place), server.url, ...question], root);
  };
  const first = await outputOf(start("Is it raining in Oslo?"));
  holds = true;
  const dying = start("And in Rome?");
  await Promise.race([called.promise, dying.ended]);
  await dying.kill();
  holds = false;
  const last = await outputOf(start());
  const expected = [...linesOf("Is it raining in Oslo?"), ...linesOf("And in Rome?")];
  return [
    ...(first === expected.slice(0, 4).join("\n") ? [] : [`the first process said\n${first}`]),
    ...(last === expected.join("\n") ? [] : [`the last process said\n${last}`]),
  ];
};

const answers = ruleModel([
  {
    name: "the weather is known",
    when: ({ toolResults }) => toolResults.length > 0,
    answer: ({ lastUserText }) => `On ${lastUserText}`,
  },
  { name: "else", when: () => true, answer: () => toolCalls([{ name: "weather", arguments: { city: "it" } }]) },
]);

const linesOf = (question: string): readonly string[] => [
  `user: ${question}`,
  "assistant: ",
  "tool: Rain in it.",
  `assistant: On ${question}`,
];
