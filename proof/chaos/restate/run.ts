import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { withCleanup } from "../../kit/cleanup.ts";
import type { ValuesOf } from "../../kit/command.ts";
import { inFolder } from "../../kit/folder.ts";
import { someOf, whole } from "../../kit/options.ts";
import { type Random, randomOf } from "../../kit/random.ts";
import { type SeededRun, wordsOf } from "../../kit/report.ts";
import { neededServerUrl } from "../../kit/server-urls.ts";
import { type Answer, type Performed, readFacts } from "../story/facts.ts";
import { judge } from "../story/judge.ts";
import { type Asked, machineOf, runNames } from "../story/script.ts";
import { answerTo, type References } from "./converse.ts";
import type { Fault } from "./faults.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { type Engine, startEngine } from "./restate.ts";
import { asksOf, threadOf } from "./script.ts";

export const runOptions = {
  conversations: whole(200, "the number of conversations on each engine"),
  turns: whole(5, "the number of asks in each"),
  kills: whole(20, "the number of kills of workers", { least: 0 }),
  "server-kills": whole(5, "the number of kills of the server", { least: 0 }),
  workers: whole(2, "how many workers", { placeholder: "W" }),
  "snapshot-every": whole(32, "the number of entries between snapshots; 0 for none", { least: 0 }),
  at: someOf(runNames, `the calls at whose start to kill: ${runNames.join(", ")} (default: of any of them)`),
  lanes: whole(40, "the number of conversations at a time"),
  slack: whole(15, "the milliseconds that each tool and model call takes at most", { least: 0 }),
} as const;

export type RunOptions = ValuesOf<typeof runOptions> & { readonly fault: Fault | null };

export const run = (program: string, seed: number, options: RunOptions, references: References): Promise<SeededRun> =>
  inFolder(
    "engines",
    (folder) =>
      withCleanup(async (later) => {
        const redisUrl = neededServerUrl("redis");
        const engine = await startEngine(join(folder, "server"), redisUrl);
        later(engine.stop);
        const given = { program, folder, seed, options, references, engine, redisUrl };
        const held = new HeldConversations(given);
        later(() => held.stop());
        return held.run();
      }),
    { isKept: ({ violations }) => violations.length > 0 && options.fault === null },
  );

interface Counts {
  readonly entries: number;
  readonly recovered: number;
}

interface Given {
  readonly program: string;
  readonly folder: string;
  readonly seed: number;
  readonly options: RunOptions;
  readonly references: References;
  readonly engine: Engine;
  readonly redisUrl: string;
}

class HeldConversations {
  readonly #given: Given;
  readonly #facts: string;
  readonly #plan: Kill[];
  readonly #answers: (readonly Answer[])[] = [];
  readonly #violations: string[] = [];
  readonly #killed = { worker: 0, server: 0 };
  #runs = 0;
  #killing: Promise<void> | null = null;
  #fleet: Fleet | null = null;

  constructor(given: Given) {
    this.#given = given;
    this.#facts = join(given.folder, "facts");
    writeFileSync(this.#facts, "");
    const { at, kills, "server-kills": serverKills, slack: slackMs } = given.options;
    const runs = given.references.ran.filter(({ what }) => at.includes(what)).length;
    this.#plan = [...planOf(randomOf(given.seed), { kills, serverKills, slackMs, runs })];
  }

  async run(): Promise<SeededRun> {
    const { folder, engine, seed, options } = this.#given;
    const fleet = await this.#startFleet();
    await engine.register(fleet.url);
    await this.#converseAll();
    await this.#killing;
    const { entries, recovered } = this.#violations.length > 0 ? { entries: 0, recovered: 0 } : await this.#judgeAll();
    return {
      seed,
      violations: this.#violations,
      ...(options.fault === null && { note: `  Its files are in ${folder}` }),
      counts: {
        "asks that were answered once": this.#answers.flat().length,
        "kills of workers": this.#killed.worker,
        "kills of the server": this.#killed.server,
        entries,
        "of these in place of answers that a crash lost, the others as in memory": recovered,
      },
    };
  }

  async stop(): Promise<void> {
    this.#plan.length = 0;
    await this.#killing;
    await this.#fleet?.stop();
  }

  async #startFleet(): Promise<Fleet> {
    const { program, folder, options, redisUrl } = this.#given;
    const logs = join(folder, "workers");
    mkdirSync(logs);
    this.#fleet = await startFleet({
      program,
      workers: options.workers,
      folder: logs,
      options: { slackMs: options.slack, snapshotEvery: options["snapshot-every"], redisUrl, facts: this.#facts },
      onRun: (place, what) => this.#ran(place, what),
    });
    return this.#fleet;
  }

  /**
   * Kills the target that the plan has for this start of a tool or a model call. If something is down already, the kill
   * waits for the next start.
   */
  #ran(place: number, what: string): void {
    if (!this.#given.options.at.includes(what)) return;
    this.#runs += 1;
    const [next] = this.#plan;
    if (this.#killing !== null || next === undefined || next.atRun > this.#runs) return;
    this.#plan.shift();
    const killing = this.#kill(next, place).catch((error: unknown) => this.#note(`killing a ${next.what}`, error));
    this.#killing = killing.finally(() => {
      this.#killing = null;
    });
  }

  async #kill({ what, afterMs, awayMs }: Kill, place: number): Promise<void> {
    const { engine } = this.#given;
    await pause(afterMs);
    this.#killed[what] += 1;
    if (what === "server") return engine.kill(awayMs);
    await this.#fleet?.kill(place);
    await pause(awayMs);
    await this.#fleet?.restart(place);
  }

  async #converseAll(): Promise<void> {
    const { conversations, lanes } = this.#given.options;
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < conversations && this.#violations.length === 0) await this.#converse(next++);
    };
    await Promise.all(Array.from({ length: lanes }, work));
  }

  async #converse(conversation: number): Promise<void> {
    const answers: Answer[] = [];
    this.#answers[conversation] = answers;
    for (const asked of this.#asksOf(conversation)) {
      const answer = await this.#answerTo(conversation, asked);
      if (answer === null) return;
      answers.push(answer);
    }
  }

  /** Returns the answer; null if there was none, which is noted. */
  async #answerTo(conversation: number, asked: Asked): Promise<Answer | null> {
    try {
      return await answerTo({ host: this.#given.engine.host, conversation, asked }, limitMs);
    } catch (error) {
      this.#note(`${threadOf(conversation)}, ${asked.askId}`, error);
      return null;
    }
  }

  async #judgeAll(): Promise<Counts> {
    const performed = readFacts(this.#facts).filter((fact) => fact.type === "performed");
    const byThread = Map.groupBy(performed, ({ id }) => id.slice(0, id.lastIndexOf("/")));
    const counts = { entries: 0, recovered: 0 };
    for (let conversation = 0; conversation < this.#given.options.conversations; conversation += 1) {
      const found = await this.#judge(conversation, byThread.get(threadOf(conversation)) ?? []);
      counts.entries += found.entries;
      counts.recovered += found.recovered;
    }
    return counts;
  }

  async #judge(conversation: number, ran: readonly Performed[]): Promise<Counts> {
    const { engine, references } = this.#given;
    const asked = this.#asksOf(conversation);
    // A repeated ask must get its earlier answer, and is not journalled.
    const once = asked[conversation % asked.length];
    const again = once === undefined ? null : await this.#answerTo(conversation, once);
    const answers = [...(this.#answers[conversation] ?? []), ...(again === null ? [] : [again])];
    const journal = await engine.host.thread(threadOf(conversation)).exportJournal();
    const facts = [...ran, ...answers.map((answer) => ({ type: "answered", ...answer }) as const)];
    const uncrashed = references.of[conversation];
    const problems = judge({ journal, asked, facts, machine: machineOf(), ...(uncrashed && { uncrashed }) });
    this.#violations.push(...problems.map((problem) => `${threadOf(conversation)}: ${problem}`));
    return { entries: journal.length, recovered: journal.filter((entry) => "recovered" in entry).length };
  }

  #asksOf(conversation: number): readonly Asked[] {
    return asksOf(conversation, this.#given.options.turns);
  }

  #note(where: string, error: unknown): void {
    this.#violations.push(`${where}: ${wordsOf(error)}`);
  }
}

/** An ask that takes longer counts as endless. */
const limitMs = 90_000;

/** A kill with SIGKILL in the middle of work. */
export interface Kill {
  /** The server, or the worker that reported the start. */
  readonly what: "worker" | "server";
  readonly atRun: number;
  readonly afterMs: number;
  readonly awayMs: number;
}

interface Wanted {
  readonly kills: number;
  readonly serverKills: number;
  /** The number of tools and model calls that run without a kill. */
  readonly runs: number;
  readonly slackMs: number;
}

export const planOf = (random: Random, { kills, serverKills, runs, slackMs }: Wanted): readonly Kill[] => {
  // A call that a crash cut off may never run again, so the last tenth of the starts may not happen.
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
