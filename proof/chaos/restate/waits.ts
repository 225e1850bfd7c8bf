// Checks that the engine alone keeps long waits: a deadline of ten days and an approval must survive a kill of
// everything. A deadline that passes meanwhile must take effect at once.
import { setTimeout as pause } from "node:timers/promises";

import type { AskHandle, Host } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { lawSameJournal } from "@colloquy/runtime-test/laws";

import { ending, violationsOfLaw } from "../../kit/calls.ts";
import { wordsOf } from "../../kit/report.ts";
import { hostInMemory } from "./converse.ts";
import type { Fault } from "./faults.ts";
import { onEngine } from "./fleet.ts";
import { scriptOf } from "./script.ts";

export const outliveKills = (folder: string, snapshotEvery: number, fault: Fault | null): Promise<readonly string[]> =>
  onEngine(folder, snapshotEvery, fault, async (engine, fleet) => {
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
  });

const days = 10 * 24 * 60 * 60_000;
const soonMs = 1_500;
const limitMs = 60_000;

interface Waiting {
  readonly days: AskHandle;
  readonly soon: AskHandle;
}

/** Asks for a call that needs approval, once with a deadline in ten days and once with one that passes soon. */
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

/** Lets the short deadline pass, approves the other call, and returns the outcomes. */
const endOf = async (host: Host, { days, soon }: Waiting): Promise<Ended> => {
  const late = await soon.then(({ text }) => text, wordsOf);
  const [request] = await host.thread("days").approvals();
  if (request !== undefined) await host.thread("days").approve(request.id);
  const { text } = await days;
  const names = ["days", "soon"];
  const journals = await Promise.all(names.map((name) => host.thread(name).exportJournal()));
  return {
    answers: [text, late.replace(/\d+ passed/u, "passed")],
    journals: Object.fromEntries(names.map((name, index) => [name, (journals[index] ?? []).map(withoutDelay)])),
  };
};

/** Removes how late a deadline was reached, which varies by moments. */
const withoutDelay = (entry: Entry): Entry =>
  // The same entry except for a number.
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
  ...memory.answers.flatMap((answer, index) =>
    answer === engine.answers[index]
      ? []
      : [`the answer is ${JSON.stringify(engine.answers[index])}, and should be ${JSON.stringify(answer)}`],
  ),
  ...Object.entries(memory.journals).flatMap(([name, journal]) =>
    violationsOfLaw(() => lawSameJournal({ memory: journal, engine: engine.journals[name] ?? [] })),
  ),
];
