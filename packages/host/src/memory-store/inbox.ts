import type { Inbox, Lease } from "../ports/store.ts";

/** An inbox that lives as long as the process. `check` throws for a lease that is not in force; `forget` drops all letters of a thread. */
export const memoryInbox = (
  check: (lease: Lease) => void,
): { readonly inbox: Inbox; readonly forget: (threadId: string) => void } => {
  const letters = new Map<string, Map<string, KeptLetter>>();
  const of = (threadId: string): ReadonlyMap<string, KeptLetter> => letters.get(threadId) ?? new Map();
  const inbox: Inbox = {
    post: async (threadId, letter) => {
      const there = letters.get(threadId) ?? new Map<string, KeptLetter>();
      if (!there.has(letter.id)) there.set(letter.id, { text: JSON.stringify(letter), answer: null });
      letters.set(threadId, there);
    },
    unanswered: async (threadId) =>
      [...of(threadId).values()].flatMap(({ text }): readonly unknown[] => (text === null ? [] : [JSON.parse(text)])),
    answer: async (lease, answers) => {
      check(lease);
      const there = letters.get(lease.threadId);
      for (const answer of answers) {
        if (there?.get(answer.id)?.answer === null)
          there.set(answer.id, { text: null, answer: JSON.stringify(answer) });
      }
    },
    answerTo: async (threadId, letterId) => {
      const answer = of(threadId).get(letterId)?.answer ?? null;
      return answer === null ? null : (JSON.parse(answer) as unknown);
    },
    discard: async (threadId, letterId) => {
      const there = letters.get(threadId);
      there?.delete(letterId);
      if (there?.size === 0) letters.delete(threadId);
    },
  };
  return { inbox, forget: (threadId) => void letters.delete(threadId) };
};

/** One of the two is there, as JSON text: the letter, or what became of it. */
interface KeptLetter {
  readonly text: string | null;
  readonly answer: string | null;
}
