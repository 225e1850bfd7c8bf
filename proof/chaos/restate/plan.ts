import type { Random } from "../../kit/random.ts";

/** Something that is killed with SIGKILL in the middle of its work. */
export interface Kill {
  /** The server, or the worker that the run was noted by. */
  readonly what: "worker" | "server";
  /** It is killed when so many tools and model calls have begun. */
  readonly atRun: number;
  /** So long after that, in milliseconds. */
  readonly afterMs: number;
  /** How long it is away, in milliseconds. */
  readonly awayMs: number;
}

interface Wanted {
  readonly kills: number;
  readonly serverKills: number;
  /** How many tools and model calls run where nothing is killed. */
  readonly runs: number;
  /** How long each of them may take. */
  readonly slackMs: number;
}

/** When to kill what, in the order in which it comes. */
export const planOf = (random: Random, { kills, serverKills, runs, slackMs }: Wanted): readonly Kill[] => {
  // A call that a crash came upon may never run: the last tenth of the runs may not come.
  const last = Math.max(1, Math.floor(runs * 0.9));
  const kill = (what: Kill["what"]): Kill => ({
    what,
    atRun: random.integer(1, last),
    afterMs: random.integer(0, slackMs),
    awayMs: random.integer(0, awayMsMax),
  });
  return [
    ...Array.from({ length: kills }, () => kill("worker")),
    ...Array.from({ length: serverKills }, () => kill("server")),
  ].sort((one, other) => one.atRun - other.atRun);
};

const awayMsMax = 100;
