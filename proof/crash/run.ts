import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { memoryStore, type Store } from "@colloquy/host";
import { randomIds, sqliteStore, systemClock } from "@colloquy/runtime-node";

import { inFolder } from "../kit/folder.ts";
import { randomOf } from "../kit/random.ts";
import type { SeededRun } from "../kit/seeded-runs.ts";
import { boot, type BootEnd } from "./boot.ts";
import { checkBoot, checkEnd } from "./check.ts";
import { asks, hostOf, outcomeOf, summariesWritten, threadId, toolsOf } from "./conversation.ts";
import type { Fault } from "./faults.ts";
import { databaseName, emptyJournal, type Journal, journalOf, readJournal } from "./journal.ts";
import { type Plan, planOf } from "./plan.ts";
import { readRecords, type Recorded } from "./records.ts";
import { type SummaryCounts, summariesIn, summariesResumed } from "./summaries.ts";
import { type CallHistory, callHistories } from "./tool-calls.ts";

/** What came of one conversation that was crashed. */
export interface Run extends SeededRun {
  readonly kills: number;
  readonly entries: number;
  readonly acknowledged: number;
  readonly calls: readonly CallHistory[];
  readonly summaries: SummaryCounts;
  /** How many summaries a kill came upon. */
  readonly summariesResumed: number;
}

/**
 * Holds one conversation, crashes it as the seed says, and looks at what there is after each crash and at the end.
 * The files of the run are kept when something is wrong that no built-in fault explains.
 */
export const run = (program: string, seed: number, fault: Fault | null): Promise<Run> =>
  inFolder(
    "crash",
    (folder) => new CrashedConversation({ program, folder, seed, fault }).run(),
    ({ violations }) => violations.length > 0 && fault === null,
  );

interface Given {
  readonly program: string;
  readonly folder: string;
  readonly seed: number;
  readonly fault: Fault | null;
}

class CrashedConversation {
  readonly #given: Given;
  readonly #plan: Plan;
  #journal: Journal = emptyJournal;
  /** Of the journal, after each boot. */
  readonly #lengths: number[] = [];
  readonly #violations: string[] = [];
  #kills = 0;

  constructor(given: Given) {
    this.#given = given;
    this.#plan = planOf(randomOf(given.seed));
    mkdirSync(this.#databaseFolder);
  }

  async run(): Promise<Run> {
    const ended = await this.#bootUntilDone();
    const records = this.#records();
    if (ended && this.#violations.length === 0) {
      const reference = await referenceOf();
      this.#violations.push(...checkEnd(this.#journal, this.#lengths, records, reference), ...(await this.#askAgain()));
    }
    return {
      seed: this.#given.seed,
      violations: this.#violations,
      ...(this.#given.fault === null && { note: `  Its files are in ${this.#given.folder}` }),
      kills: this.#kills,
      entries: this.#journal.entries.length,
      acknowledged: records.filter(({ type }) => type === "acknowledged").length,
      calls: callHistories(this.#journal, this.#lengths, records),
      summaries: summariesIn(this.#journal),
      summariesResumed: summariesResumed(records),
    };
  }

  /** False when it could not be brought to its end. */
  async #bootUntilDone(): Promise<boolean> {
    const kills = [...this.#plan.kills];
    for (let count = 0; count < bootsMax; count += 1) {
      const end = await this.#boot(count, kills.shift() ?? null);
      if (end.type === "killed") this.#kills += 1;
      if (end.type === "failed") this.#violations.push(`boot ${count}: ${end.reason}`);
      await this.#look(count);
      if (this.#violations.length > 0) return false;
      if (end.type === "done") return true;
    }
    this.#violations.push(`it was not done after ${bootsMax} boots`);
    return false;
  }

  #boot(count: number, kill: Plan["kills"][number] | null): Promise<BootEnd> {
    const { synchronous } = this.#plan;
    const options = {
      database: join(this.#databaseFolder, databaseName),
      records: this.#recordsFile,
      boot: count,
      seed: this.#given.seed * bootsMax + count,
      synchronous,
      fault: this.#given.fault,
    };
    return boot(this.#given.program, options, kill);
  }

  async #look(count: number): Promise<void> {
    const journal = await readJournal(this.#databaseFolder, join(this.#given.folder, `copy ${count}`));
    if (typeof journal === "string") {
      this.#violations.push(`after boot ${count}: ${journal}`);
      return;
    }
    const problems = checkBoot(this.#journal, journal, this.#records());
    this.#violations.push(...problems.map((problem) => `after boot ${count}: ${problem}`));
    this.#journal = journal;
    this.#lengths.push(journal.entries.length);
  }

  /** Asks repeated after the end get the same answers, and nothing is journalled or performed. */
  async #askAgain(): Promise<readonly string[]> {
    const before = this.#journal.entries.length;
    const store = sqliteStore({ path: join(this.#databaseFolder, databaseName) });
    await converse(store);
    const after = (await store.read(threadId)).length;
    await store.close();
    return after === before ? [] : [`asking again journalled ${after - before} entries`];
  }

  #records(): readonly Recorded[] {
    return readRecords(this.#recordsFile);
  }

  get #recordsFile(): string {
    return join(this.#given.folder, "records.jsonl");
  }

  get #databaseFolder(): string {
    return join(this.#given.folder, "database");
  }
}

/** More than any plan has kills, by as many as may lose their lease on a busy machine. */
const bootsMax = 20;

let reference: Promise<Journal> | undefined;

/** The conversation as it is when nothing crashes. */
const referenceOf = (): Promise<Journal> => {
  reference ??= (async () => {
    const journal = await converse(memoryStore({ clock: systemClock }));
    const { background, awaited } = summariesIn(journal);
    if (background === 0 || awaited === 0) {
      throw new Error(`${background} summaries are written in the background, ${awaited} waited for: mend the budget`);
    }
    return journal;
  })();
  return reference;
};

const converse = async (store: Store): Promise<Journal> => {
  const host = hostOf({
    store,
    llm: async (call) => outcomeOf(call),
    clock: systemClock,
    ids: randomIds,
    tools: toolsOf(async (name) => `${name} done`),
  });
  for (const askId of asks) {
    await host.ask(askId, { threadId, askId });
    await summariesWritten(host);
  }
  await host.close();
  return journalOf(await store.read(threadId));
};
