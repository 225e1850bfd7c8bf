import { type AskHandle, createHost, EventRefusedError, type Host, memoryStore } from "@colloquy/host";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { ending, isPassing, repeating } from "../../kit/calls.ts";
import type { Answer, Performed } from "../story/facts.ts";
import type { Uncrashed } from "../story/judge.ts";
import type { Asked } from "../story/script.ts";
import { asksOf, type Script, scriptOf, threadOf } from "./script.ts";

interface Call {
  readonly host: Host;
  readonly conversation: number;
  readonly asked: Asked;
}

/**
 * Returns the answer to an ask despite kills. If the host rejects it for a passing reason, repeats it under the same
 * id. Grants its approvals, unless it is to be denied.
 *
 * @throws NeverEnds if it takes longer than the limit
 */
export const answerTo = (call: Call, limitMs: number): Promise<Answer> =>
  ending(
    call.asked.askId,
    limitMs,
    again(() => ask(call)),
  );

const ask = async ({ host, conversation, asked: { askId, input } }: Call): Promise<Answer> => {
  const threadId = threadOf(conversation);
  const handle = host.ask(input, { threadId, askId });
  const [{ turn, text }] = await Promise.all([handle, answerApprovals(host, handle, !input.startsWith("deny"))]);
  return { askId, turn, text };
};

const answerApprovals = async (host: Host, handle: AskHandle, isApproved: boolean): Promise<void> => {
  const thread = host.thread(handle.threadId);
  for await (const part of handle) {
    if (part.type === "approval.requested")
      await again(async () => thread[isApproved ? "approve" : "deny"](part.request.id)).catch(unlessAnswered);
  }
};

/** Ignores a refusal of an answer that was taken before, when its receipt was lost. */
const unlessAnswered = (error: unknown): void => {
  if (!(error instanceof EventRefusedError && error.refusal.kind === "stale")) throw error;
};

const again = <Value>(call: () => Promise<Value>): Promise<Value> => repeating(call, isPassing, 50);

export interface References {
  readonly of: readonly Uncrashed[];
  readonly ran: readonly Performed[];
}

export const referencesOf = async (conversations: number, turns: number): Promise<References> => {
  const ran: Performed[] = [];
  const script = scriptOf({ note: (run) => void ran.push(run), slackMs: 0 });
  const numbers = Array.from({ length: conversations }, (_, conversation) => conversation);
  const of = await Promise.all(numbers.map((conversation) => referenceOf(script, conversation, turns)));
  return { of, ran };
};

const referenceOf = async (script: Script, conversation: number, turns: number): Promise<Uncrashed> => {
  const host = hostInMemory(script);
  const answers: Answer[] = [];
  for (const asked of asksOf(conversation, turns)) answers.push(await answerTo({ host, conversation, asked }, limitMs));
  const journal = await host.thread(threadOf(conversation)).exportJournal();
  await host.close();
  return { journal, answers, isOrdered: "but for tools" };
};

export const hostInMemory = (script: Script): Host =>
  createHost({ ...script, store: memoryStore({ clock: systemClock }), clock: systemClock, ids: randomIds });

const limitMs = 60_000;
