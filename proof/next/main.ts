// Builds example 26, a chat in Next, without a key or a network. Then serves it, kills it in the middle of a turn and
// serves it again. Then changes the route under `next dev` in the middle of a turn. npm downloads Next once, into the
// cache. Exits with 1 if anything is wrong.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";

import { loopbackServer } from "@colloquy/runtime-test/server";

import { runCommand } from "../kit/command.ts";
import { inFolder } from "../kit/folder.ts";
import { someOf } from "../kit/options.ts";
import { printViolations, stopwatch } from "../kit/report.ts";
import { nextApp } from "./app.ts";
import { HeldModel } from "../kit/held-model.ts";
import { askAs, shownBy } from "../kit/chat-page.ts";
import { NextServer } from "./server.ts";

const root = dirname(dirname(import.meta.dirname));

const parts = ["build", "kill", "reload"] as const;

const runAll = (chosen: readonly (typeof parts)[number][]): Promise<void> =>
  inFolder("next", async (folder) => {
    const app = nextApp(root, folder);
    const model = new HeldModel();
    await using server = await loopbackServer({ model: model.handler });
    const variables = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "none" };
    const proofs = {
      build: () => builds(app),
      kill: () => outlivesKill(app, model, variables),
      reload: () => outlivesReload(app, model, variables),
    };
    for (const part of parts) {
      if (!chosen.includes(part)) continue;
      const seconds = stopwatch();
      const problems = await proofs[part]();
      printViolations(problems.map((problem) => `${part}: ${problem}`));
      console.log(`${part}: ${problems.length === 0 ? "holds" : "fails"}, ${seconds()} s`);
    }
  });

/** Checks that `next build` needs no key, makes no request and leaves no file of threads. */
const builds = async (app: string): Promise<readonly string[]> => {
  const attempts = join(app, "..", "attempts");
  const refusing = `--import=${join(import.meta.dirname, "refuse-network.ts")}`;
  const { code, stdout, stderr } = await new NextServer(app, ["build"], { NODE_OPTIONS: refusing, ATTEMPTS: attempts })
    .ended;
  return [
    ...(code === 0 ? [] : [`it ended with ${code}\n${stdout}${stderr}`]),
    ...(existsSync(attempts) ? [`it tried to use the network: ${readFileSync(attempts, "utf8")}`] : []),
    ...(existsSync(join(app, "threads.db")) ? ["it made threads.db"] : []),
  ];
};

/** Kills `next start` in the middle of a turn. The next process must answer at once, and continue the turn once. */
const outlivesKill = async (
  app: string,
  model: HeldModel,
  variables: Readonly<Record<string, string>>,
): Promise<readonly string[]> => {
  const question = "hold this across a kill";
  if (!existsSync(join(app, ".next/BUILD_ID"))) {
    const problems = await builds(app);
    if (problems.length > 0) return problems;
  }
  model.hold(question);
  {
    await using first = new NextServer(app, ["start", "-p", "0", "-H", "127.0.0.1"], variables);
    const cutOff = askAs(await first.url(), "chat-killed", question);
    // Throws its error if it fails before the model is asked.
    await first.explained(Promise.race([model.askedFor(question, 1, patienceMs), cutOff]));
    await first.kill();
    await cutOff.catch(() => "cut off");
  }
  await using second = new NextServer(app, ["start", "-p", "0", "-H", "127.0.0.1"], variables);
  const url = await second.url();
  const seconds = stopwatch();
  const other = await second.explained(askAs(url, "chat-other", "hello"));
  console.log(`the first answer after the kill took ${seconds()} s`);
  model.release();
  const expected = [`user: ${question}`, `assistant: You said: ${question}`];
  const shown = await until(
    () => shownBy(url, "chat-killed"),
    (lines) => lines.length >= expected.length,
  );
  console.log(`the turn that was cut off was complete after ${seconds()} s`);
  return [
    ...(shown.join("\n") === expected.join("\n") ? [] : [`the chat that was cut off shows ${shown.join(" | ")}`]),
    ...problemsOf(other, model, question, 2),
  ];
};

/** Saves the route under `next dev` in the middle of a turn. Another chat must be answered, and the turn must end. */
const outlivesReload = async (
  app: string,
  model: HeldModel,
  variables: Readonly<Record<string, string>>,
): Promise<readonly string[]> => {
  const question = "hold this across a change";
  const environment = { ...variables, THREADS: join(app, "dev.db") };
  await using server = new NextServer(app, ["dev", "-p", "0", "-H", "127.0.0.1"], environment);
  const url = await server.url();
  model.hold(question);
  const underWay = askAs(url, "chat-dev", question);
  const answeredAlready = underWay.then((text) => Promise.reject(new Error(`it was answered: ${text}`)));
  await server.explained(Promise.race([model.askedFor(question, 1, patienceMs), answeredAlready]));
  appendFileSync(join(app, "app/api/chat/[[...path]]/route.ts"), '\nexport const dynamic = "force-dynamic";\n');
  const seconds = stopwatch();
  const other = await server.explained(askAs(url, "chat-beside", "hello"));
  console.log(`after the change another chat was answered in ${seconds()} s`);
  model.release();
  const answer = await underWay;
  return [
    ...(answer.includes(`You said: ${question}`) ? [] : [`the turn under way was answered by ${answer}`]),
    ...problemsOf(other, model, question, 1),
  ];
};

/** Checks the answer of another chat, and how often the model was asked. */
const problemsOf = (other: string, { asked }: HeldModel, question: string, times: number): readonly string[] => [
  ...(other.includes("You said: hello") ? [] : [`another chat was answered by ${other}`]),
  ...(asked.filter((text) => text === question).length === times ? [] : [`the model was asked ${asked.join(" | ")}`]),
];

const patienceMs = 60_000;

/** Repeats a look until `isSo` or a minute is over. Returns the last value. */
const until = async <Value>(look: () => Promise<Value>, isSo: (value: Value) => boolean): Promise<Value> => {
  const end = performance.now() + patienceMs;
  for (;;) {
    const value = await look();
    if (isSo(value) || performance.now() > end) return value;
    await passed(100);
  }
};

await runCommand({
  name: "next",
  options: { part: someOf(parts, `${parts.join(", ")} (default: all of them)`) },
  run: ({ part }) => runAll(part),
});
