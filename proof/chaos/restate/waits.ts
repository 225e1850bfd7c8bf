// Checks that the engine alone keeps long waits: a deadline of ten days and an approval outlive a kill of everything. A
// deadline that passes meanwhile takes effect at once.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import type { AskHandle, Host } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { lawSameJournal } from "@colloquy/runtime-test/laws";

import { ending, violationsOfLaw } from "../../kit/calls.ts";
import { withCleanup } from "../../kit/cleanup.ts";
import { withProgram } from "../../kit/program.ts";
import { wordsOf } from "../../kit/report.ts";
import { startFleet } from "./fleet.ts";
import { startEngine } from "./restate.ts";
import { hostInMemory } from "./scenes.ts";
import { scriptOf } from "./script.ts";

/** Kills server and worker while threads wait, and says what is wrong after it. */
export const outliveKills = (folder: string, snapshotEvery: number): Promise<readonly string[]> =>
  withProgram(new URL(import.meta.resolve("./worker.ts")), (program) =>
    withCleanup(async (later) => {
      const engine = await startEngine(join(folder, "server"), null);
      later(engine.stop);
      const options = { facts: join(folder, "facts"), slackMs: 0, snapshotEvery, redisUrl: null };
      const fleet = await startFleet({ program, workers: 1, folder, options, onRun: () => {} });
      later(() => fleet.stop());
      await engine.register(fleet.url);
      const waiting = await ending("the beginning", limitMs, waitOn(engine.host));
      const timers = await engine.timers();
      await fleet.kill(0);
      await engine.kill(soonMs);
      await fleet.restart(0);
      const ended = await ending("the end", limitMs, endOf(engine.host, waiting));
      const [memory, left] = [await inMemory(), await engine.timers()];
      return [
        ...timersProblems(timers),
        ...problemsOf(memory, ended),
        ...left.map(({ thread, at }) => `a timer of ${thread} for ${at} is left`),
      ];
    }),
  );

const days = 10 * 24 * 60 * 60_000;
const soonMs = 1_500;
const limitMs = 60_000;

interface Waiting {
  readonly days: AskHandle;
  readonly soon: AskHandle;
}

/** Asks for what has to be approved, once with a deadline in ten days and once with one that passes soon. */
const waitOn = async (host: Host): Promise<Waiting> => {
  const ask = (name: string, deadlineMs: number): AskHandle =>
    host.ask("refund 1", { threadId: name, askId: name, limits: { deadlineMs } });
  const waiting = { days: ask("days", days), soon: ask("soon", soonMs) };
  for (const name of ["days", "soon"]) while ((await host.thread(name).approvals()).length === 0) await pause(10);
  return waiting;
};

interface Ended {
  readonly answers: readonly string[];
  readonly journals: Readonly<Record<string, readonly Entry[]>>;
}

/** The deadline passes; the approval is given, and its turn ends. */
const endOf = async (host: Host, { days, soon }: Waiting): Promise<Ended> => {
  const late = await soon.then(({ text }) => text, wordsOf);
  const [request] = await host.thread("days").approvals();
  if (request !== undefined) await host.thread("days").approve(request.id);
  const { text } = await days;
  const names = ["days", "soon"];
  const journals = await Promise.all(names.map((name) => host.thread(name).exportJournal()));
  return {
    answers: [text, late.replace(/\(\d+\)/u, "")],
    journals: Object.fromEntries(names.map((name, index) => [name, (journals[index] ?? []).map(withoutDelay)])),
  };
};

/** How late a deadline is reached is a matter of moments. */
const withoutDelay = (entry: Entry): Entry =>
  // The same entry but for a number.
  JSON.parse(JSON.stringify(entry), (key: string, value: unknown) => (key === "reached" ? 0 : value)) as Entry;

const inMemory = async (): Promise<Ended> => {
  const host = hostInMemory(scriptOf({ note: () => {}, slackMs: 0 }));
  const ended = await endOf(host, await waitOn(host));
  await host.close();
  return ended;
};

const timersProblems = (timers: readonly { readonly thread: string; readonly at: string }[]): readonly string[] => {
  const own = timers.find(({ thread }) => thread === "days");
  const inMs = own === undefined ? 0 : Date.parse(own.at) - Date.now();
  return inMs > days - limitMs && inMs <= days ? [] : [`the timer of ten days is ${own?.at ?? "not there"}`];
};

const problemsOf = (memory: Ended, engine: Ended): readonly string[] => [
  ...memory.answers
    .filter((answer, index) => answer !== engine.answers[index])
    .map(
      (answer, index) =>
        `the answer is ${JSON.stringify(engine.answers[index])}, and should be ${JSON.stringify(answer)}`,
    ),
  ...Object.entries(memory.journals).flatMap(([name, journal]) =>
    violationsOfLaw(() => lawSameJournal({ memory: journal, engine: engine.journals[name] ?? [] })),
  ),
];
