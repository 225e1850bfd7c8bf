import type { Store } from "@colloquy/host";

import type { Writer } from "./writer.ts";

/** Returns the problems of these writers' journals. The writers may continue meanwhile. */
export const violationsIn = async (store: Store, writers: readonly Writer[]): Promise<readonly string[]> => {
  const violations = writers.map(async ({ threadId, acknowledged }) => {
    // Noted before the journal is read: all of this has to be there.
    const expected = [...acknowledged];
    const journal = (await store.read(threadId)).map((entry) => JSON.stringify(entry));
    const attempted = new Set(
      writers.filter((writer) => writer.threadId === threadId).flatMap((writer) => [...writer.attempted]),
    );
    return [
      ...expected
        .filter(([seq, text]) => journal[seq] !== text)
        .map(([seq]) => `${threadId}: entry ${seq} was acknowledged, and ${journal[seq] ?? "nothing"} is there`),
      ...journal
        .filter((text, seq) => !attempted.has(text) || journal.indexOf(text) !== seq)
        .map((text) => `${threadId}: ${text} was never written, or is there twice`),
    ];
  });
  return (await Promise.all(violations)).flat();
};
