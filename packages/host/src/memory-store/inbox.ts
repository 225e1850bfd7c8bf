import type { Inbox, Lease } from "../ports/store.ts";

/** An inbox that lives as long as the process. `check` throws for a lease that is not in force; `forget` drops all inbox items of a thread. */
export const memoryInbox = (
  check: (lease: Lease) => void,
): { readonly inbox: Inbox; readonly forget: (threadId: string) => void } => {
  const items = new Map<string, Map<string, KeptItem>>();
  const of = (threadId: string): ReadonlyMap<string, KeptItem> => items.get(threadId) ?? new Map();
  const inbox: Inbox = {
    post: async (threadId, item) => {
      const there = items.get(threadId) ?? new Map<string, KeptItem>();
      if (!there.has(item.id)) there.set(item.id, { text: JSON.stringify(item), answer: null });
      items.set(threadId, there);
    },
    unanswered: async (threadId) =>
      [...of(threadId).values()].flatMap(({ text }): readonly unknown[] => (text === null ? [] : [JSON.parse(text)])),
    answer: async (lease, answers) => {
      check(lease);
      const there = items.get(lease.threadId);
      for (const answer of answers) {
        if (there?.get(answer.id)?.answer === null)
          there.set(answer.id, { text: null, answer: JSON.stringify(answer) });
      }
    },
    answerTo: async (threadId, itemId) => {
      const answer = of(threadId).get(itemId)?.answer ?? null;
      return answer === null ? null : (JSON.parse(answer) as unknown);
    },
    discard: async (threadId, itemId) => {
      const there = items.get(threadId);
      there?.delete(itemId);
      if (there?.size === 0) items.delete(threadId);
    },
  };
  return { inbox, forget: (threadId) => void items.delete(threadId) };
};

/** One of the two is there, as JSON text: the inbox item, or what became of it. */
interface KeptItem {
  readonly text: string | null;
  readonly answer: string | null;
}
