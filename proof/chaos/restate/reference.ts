import { createHost, memoryStore } from "@colloquy/host";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import type { Answer, Performed } from "../story/facts.ts";
import type { Uncrashed } from "../story/judge.ts";
import { answerTo } from "./converse.ts";
import { asksOf, type Script, scriptOf, threadOf } from "./script.ts";

/** The conversations on the host in memory, by their numbers, and the tools and model calls that ran. */
export interface References {
  readonly of: readonly Uncrashed[];
  readonly ran: readonly Performed[];
}

/** Holds conversations on the host in memory. */
export const referencesOf = async (conversations: number, turns: number): Promise<References> => {
  const ran: Performed[] = [];
  const script = scriptOf({ note: (run) => void ran.push(run), slackMs: 0 });
  const numbers = Array.from({ length: conversations }, (_, conversation) => conversation);
  const of = await Promise.all(numbers.map((conversation) => referenceOf(script, conversation, turns)));
  return { of, ran };
};

const referenceOf = async (script: Script, conversation: number, turns: number): Promise<Uncrashed> => {
  const store = memoryStore({ clock: systemClock });
  const host = createHost({ ...script, store, clock: systemClock, ids: randomIds });
  const answers: Answer[] = [];
  for (const asked of asksOf(conversation, turns)) answers.push(await answerTo({ host, conversation, asked }, limitMs));
  const journal = await host.thread(threadOf(conversation)).exportJournal();
  await host.close();
  return { journal, answers, isOrdered: "but for tools" };
};

const limitMs = 60_000;
