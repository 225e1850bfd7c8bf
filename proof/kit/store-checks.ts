import type { Store } from "@colloquy/host";

import { chunkText, headIn, envelopeOf } from "./contents.ts";

/** Returns the problems with the snapshot of a thread, given its newest acknowledged one. */
export const snapshotProblems = async (
  store: Store,
  threadId: string,
  newest: number | undefined,
): Promise<readonly string[]> => {
  const snapshot = await store.readSnapshot(threadId);
  if (snapshot === null) return newest === undefined ? [] : [`snapshot ${newest} was acknowledged, and none is there`];
  await snapshot.fetch?.(null);
  const { number, chunks } = headIn(snapshot.head);
  const torn = chunks.filter((id) => snapshot.chunk(id) !== chunkText(id));
  return [
    ...(newest !== undefined && number < newest ? [`snapshot ${newest} was acknowledged, and ${number} is there`] : []),
    ...torn.map((id) => `chunk ${id} of snapshot ${number} is missing or torn`),
  ];
};

/** The acknowledged state of an envelope. One that is `discarding` may be there or not. */
export type EnvelopeState = "posted" | "answered" | "discarding" | "discarded";

/** Returns the problems with the envelopes of a thread, given their acknowledged states. */
export const envelopeProblems = async (
  { inbox }: Store,
  threadId: string,
  known: ReadonlyMap<string, EnvelopeState>,
): Promise<readonly string[]> => {
  const unanswered = await unansweredIn(inbox, threadId);
  const waiting = new Set(unanswered.map(({ id }) => id));
  const problems = waiting.size < unanswered.length ? ["an envelope is there twice"] : [];
  for (const each of unanswered)
    if (JSON.stringify(each) !== JSON.stringify(envelopeOf(each.id))) problems.push(`envelope "${each.id}" is torn`);
  for (const [id, state] of known) {
    const answer = await inbox?.answerTo(threadId, id);
    if (state === "posted" && !waiting.has(id) && answer === null) problems.push(`envelope "${id}" is lost`);
    if (state === "answered" && (waiting.has(id) || answer === null))
      problems.push(`the answer to envelope "${id}" is lost`);
    if (state === "discarded" && (waiting.has(id) || answer !== null))
      problems.push(`envelope "${id}" was discarded, and is there`);
  }
  return problems;
};

export const unansweredIn = async (
  inbox: Store["inbox"],
  threadId: string,
): Promise<readonly { readonly id: string }[]> =>
  // Only what `envelopeOf` makes is left there.
  ((await inbox?.unanswered(threadId)) ?? []) as readonly { readonly id: string }[];
