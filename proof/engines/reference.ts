import { createHost, memoryStore } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { type Answer, answerTo } from "./converse.ts";
import type { Ran } from "./ledger.ts";
import { asksOf, type Script, scriptOf, threadOf } from "./script.ts";

/** The outcome of one conversation on the host in memory, without kills. */
export interface Reference {
  readonly journal: readonly Entry[];
  readonly answers: readonly Answer[];
}

/** The outcomes of all of them, by their numbers, and the tools and model calls that ran. */
export interface References {
  readonly of: readonly Reference[];
  readonly ran: readonly Ran[];
}

/** Holds conversations on the host in memory. */
export const referencesOf = async (conversations: number, turns: number): Promise<References> => {
  const ran: Ran[] = [];
  const script = scriptOf({ note: (run) => void ran.push(run), slackMs: 0 });
  const numbers = Array.from({ length: conversations }, (_, conversation) => conversation);
  const of = await Promise.all(numbers.map((conversation) => referenceOf(script, conversation, turns)));
  return { of, ran };
};

const referenceOf = async (script: Script, conversation: number, turns: number): Promise<Reference> => {
  const store = memoryStore({ clock: systemClock });
  const host = createHost({ ...script, store, clock: systemClock, ids: randomIds });
  const answers: Answer[] = [];
  for (const asked of asksOf(conversation, turns)) answers.push(await answerTo({ host, conversation, asked }, limitMs));
  const journal = await host.thread(threadOf(conversation)).exportJournal();
  await host.close();
  return { journal, answers };
};

const limitMs = 60_000;
