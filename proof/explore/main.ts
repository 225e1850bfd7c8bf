// Explores every interleaving of a small world up to a bound, and checks the laws on each. At the first schedule that
// breaks one, prints it and exits with 1. `pnpm explore machine` explores the machine alone.
import { setFlagsFromString } from "node:v8";

import { runCommand } from "../kit/command.ts";
import { fault, type Option, someOf, whole, workers } from "../kit/options.ts";
import { count, printViolations, stopwatch } from "../kit/report.ts";
import { startThread, type Thread } from "../kit/threads.ts";
import { type FaultName, faults } from "./faults.ts";
import { sequencesOf } from "./machine.ts";
import { type SceneName, sceneNames } from "./scene.ts";
import type { Visited } from "./search.ts";
import type { Done, Task } from "./worker.ts";

interface Explored extends Visited {
  readonly states: number;
}

/** Explores one scene, its parts dealt to the threads. */
const explore = async (threads: readonly Thread<Task, Done>[], common: Omit<Task, "what">): Promise<Explored> => {
  const [leader] = threads;
  if (leader === undefined) throw new Error("there is no thread");
  const begun = await leader.ask({ ...common, what: { first: true } });
  const parts = begun.parts.toReversed();
  let total: Visited = begun.visited;
  const work = async (thread: Thread<Task, Done>): Promise<void> => {
    for (let part = parts.pop(); part !== undefined && total.violation === null; part = parts.pop()) {
      const { visited } = await thread.ask({ ...common, what: { visit: part } });
      total = {
        schedules: total.schedules + visited.schedules,
        pruned: total.pruned + visited.pruned,
        steps: total.steps + visited.steps,
        violation: total.violation ?? visited.violation,
      };
    }
  };
  await Promise.all(threads.map(work));
  const states = new Set<number>();
  for (const thread of threads) {
    for (const key of (await thread.ask({ ...common, what: { states: true } })).states) states.add(key);
  }
  return { ...total, states: states.size };
};

const printed = (name: string, { states, schedules, pruned, steps }: Explored, seconds: string): string =>
  `${name.padEnd(9)} ${count(states, "state")}, ${count(schedules, "schedule")} (${pruned.toLocaleString("en")} pruned), ${count(steps, "step")}, ${seconds} s`;

const exploreAll = async (
  names: readonly SceneName[],
  bound: number,
  built: FaultName | null,
  workers: number,
): Promise<void> => {
  // Most of what a run makes dies with it: a larger nursery halves the time for collecting it.
  setFlagsFromString("--max-semi-space-size=64");
  const threads = Array.from({ length: workers }, () => startThread<Task, Done>(new URL("worker.ts", import.meta.url)));
  const seconds = stopwatch();
  let [states, schedules] = [0, 0];
  for (const scene of names) {
    const own = stopwatch();
    const explored = await explore(threads, { scene, bound, fault: built });
    console.log(`${printed(scene, explored, own())}, bound ${bound}`);
    states += explored.states;
    schedules += explored.schedules;
    const { violation } = explored;
    if (violation === null) continue;
    console.error(`\n${violation.what}\n\n${violation.schedule.join("\n")}`);
    process.exitCode = 1;
    break;
  }
  for (const thread of threads) await thread.end();
  const all = `${count(states, "state")}, ${count(schedules, "schedule")}, ${seconds()} s`;
  console.log(process.exitCode === 1 ? `A law is broken: ${all}.` : `No law is broken: ${all}.`);
};

const abouts = Object.fromEntries(Object.entries(faults).map(([name, { about }]) => [name, about]));

/** Explores the machine alone. */
const exploreMachine = (length: number): void => {
  const seconds = stopwatch();
  const { states, arrows, refusals, problems } = sequencesOf(length);
  const sizes = `${count(states.size, "state")}, ${count(arrows.size, "arrow")}, ${count(refusals.size, "refusal")}`;
  console.log(`All sequences of ${count(length, "event")}: ${sizes}, ${seconds()} s.`);
  printViolations(problems);
};

const named: Option<boolean> = {
  kind: "positional",
  placeholder: "machine",
  about: "explore the machine alone, by sequences of events",
  read: ([name]) => name === "machine",
};

await runCommand({
  name: "explore",
  options: {
    machine: named,
    length: whole(6, "how many events a sequence of the machine has"),
    scene: someOf(sceneNames, `explore only this scene: ${sceneNames.join(", ")}`),
    bound: whole(2, "how much a schedule may depart from what happens by itself", { least: 0 }),
    fault: fault(abouts),
    workers,
  },
  // The names of faults are the keys of `faults`.
  run: ({ machine, length, scene, bound, fault: built, workers }) =>
    machine ? exploreMachine(length) : exploreAll(scene, bound, built as FaultName | null, workers),
});
