// Lets clients ask two servers on one store, which are killed at random moments and started again. No response may be
// empty, lost or endless, and the journals must have each answer once.
import { setTimeout as pause } from "node:timers/promises";

import { textOf, toArray, turnsOf } from "@colloquy/machine";

import { withCleanup } from "../../kit/cleanup.ts";
import { entriesIn, stateOf } from "../../kit/journal.ts";
import { whole } from "../../kit/options.ts";
import { leavePlace, newPlace, openStore, type StorePlace } from "../../kit/places.ts";
import { withFault, withProgram } from "../../kit/program.ts";
import { randomOf } from "../../kit/random.ts";
import { runSeeds, type SeededRun, wordsOf } from "../../kit/report.ts";
import { Served } from "../../kit/served.ts";
import { type Choice, commandOf } from "../../kit/target.ts";
import { answeredAfterDeath, converse, type Had } from "./client.ts";
import { faults, mistakes } from "./questions.ts";

const stores = ["sqlite", "postgres"] as const;

export const killServers = (
  { runs, seed, fault, ...choice }: Choice<(typeof stores)[number], keyof typeof faults>,
  options: { readonly kills: number; readonly clients: number },
): Promise<readonly SeededRun[]> =>
  withProgram(
    new URL(import.meta.resolve("./child.ts")),
    (program) => runSeeds(runs, seed, (each) => serveTwice(program, { ...choice, ...options }, each)),
    withFault(mistakes, fault),
  );

interface TwoServersOptions {
  readonly store: "sqlite" | "postgres";
  readonly kills: number;
  readonly clients: number;
}

const serveTwice = (
  program: string,
  { store, kills: wanted, clients }: TwoServersOptions,
  seed: number,
): Promise<SeededRun> =>
  withCleanup(async (later) => {
    const place = newPlace(store, "two-servers");
    later(() => leavePlace(place));
    const servers = ["one", "two"].map(() => new Served(program, { args: [JSON.stringify(place)] }));
    for (const server of servers) {
      later(() => server.kill());
      await server.start();
    }
    const random = randomOf(seed);
    let isOver = false;
    const broken = new AbortController();
    let kills = 0;
    const names = Array.from({ length: clients }, (_, index) => `c${index}`);
    const conversing = Promise.all(
      names.map(async (name, index) => {
        const had = await converse(name, servers, randomOf(seed + index + 1), () => isOver, broken.signal);
        if (had.problems.length > 0) broken.abort();
        isOver ||= broken.signal.aborted;
        return had;
      }),
    );
    while (kills < wanted && !isOver) {
      await pause(random.integer(50, 500));
      const server = random.pick(servers);
      await server?.kill();
      kills++;
      // Sometimes the other server has time to take over.
      if (random.percent(30)) await pause(random.integer(0, 900));
      await server?.start();
    }
    isOver = true;
    const all = await conversing;
    const problems = all.flatMap((had) => had.problems);
    const violations = problems.length > 0 ? problems : await lostIn(place, all);
    const [one, two] = servers;
    const isSound = violations.length === 0 && one !== undefined && two !== undefined;
    const seconds = isSound ? [await answeredAfterDeath(one, two)] : [];
    const sum = (of: (had: Had) => number): number => all.reduce((total, had) => total + of(had), 0);
    return {
      seed,
      violations,
      counts: {
        kills,
        responses: sum((had) => had.responses),
        answers: sum(({ answers }) => answers.length),
        "requests repeated": sum((had) => had.again),
      },
      seconds: { "until the other server answered on the thread of a killed one": seconds },
    };
  });

const lostIn = async (place: StorePlace, all: readonly Had[]): Promise<readonly string[]> => {
  const store = openStore(place);
  try {
    const journals: (readonly string[])[] = [];
    for (const { threadId } of (await store.list({ limit: 10_000 })).threads) {
      const state = stateOf(entriesIn(await store.read(threadId)));
      const turns = turnsOf(state).filter(({ outcome }) => outcome.status === "completed");
      const said = turns.map(({ messages, answer }) => toArray(messages).find(({ id }) => id === answer));
      journals.push(said.map((message) => (message === undefined ? "" : textOf(message))));
    }
    return all
      .filter(
        ({ answers, left }) =>
          (answers.length > 0 &&
            !journals.some((journal) => startsWith(journal, answers) && journal.length === answers.length)) ||
          // A branch that was left may have been continued later.
          !left.every((before) => journals.some((journal) => startsWith(journal, before))),
      )
      .map(({ conversation }) => `the answers of ${conversation} are not those of a journal`);
  } catch (error) {
    return [wordsOf(error)];
  } finally {
    await store.close();
  }
};

const startsWith = (journal: readonly string[], answers: readonly string[]): boolean =>
  answers.every((answer, index) => journal[index] === answer);

export const command = commandOf({
  name: "server",
  stores,
  faults,
  runs: [1, "the number of pairs of servers, one after the other"],
  options: {
    kills: whole(20, "the number of kills of servers"),
    clients: whole(6, "the number of clients, each with its own conversation"),
  },
  run: killServers,
});
