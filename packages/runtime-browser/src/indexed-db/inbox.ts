import { inboxAnswerOf, type Inbox, inboxItemOf } from "@colloquy/host/store";
import { type Database, ofThread } from "./database.ts";
import type { Leases } from "./leases.ts";

/** Makes the inbox in which tabs without a thread's lease post events for it. */
export const inboxOf = (database: Database, leases: Leases): Inbox => ({
  post: async (threadId, item) => {
    const text = JSON.stringify(item);
    await database.write(["inbox", "counters"], async (writing) => {
      const items = writing.objectStore("inbox");
      if ((await items.get([threadId, item.id])) !== undefined) return;
      const counters = writing.objectStore("counters");
      const order = ((await counters.get("item")) ?? 0) + 1;
      await counters.put(order, "item");
      await items.put({ order, item: text, answer: null }, [threadId, item.id]);
    });
  },
  unanswered: async (threadId) => {
    const [keys, rows] = await database.read(["inbox"], (reading) => {
      const items = reading.objectStore("inbox");
      return Promise.all([items.getAllKeys(ofThread(threadId)), items.getAll(ofThread(threadId))]);
    });
    return rows
      .map((row, index) => ({ ...row, id: keys[index]?.[1] }))
      .sort((one, other) => one.order - other.order)
      .flatMap(({ id, item }) => (item === null ? [] : [inboxItemOf(() => id, item)]));
  },
  answer: async (lease, answers) => {
    const texts = answers.map((answer): readonly [string, string] => [answer.id, JSON.stringify(answer)]);
    await database.write(["leases", "inbox"], async (writing) => {
      await leases.check(writing, lease);
      const items = writing.objectStore("inbox");
      for (const [id, answer] of texts) {
        const row = await items.get([lease.threadId, id]);
        if (row !== undefined && row.answer === null)
          await items.put({ order: row.order, item: null, answer }, [lease.threadId, id]);
      }
    });
  },
  answerTo: async (threadId, itemId) => {
    const row = await database.read(["inbox"], (reading) => reading.objectStore("inbox").get([threadId, itemId]));
    const answer = row?.answer ?? null;
    return answer === null ? null : inboxAnswerOf(itemId, answer);
  },
  discard: async (threadId, itemId) => {
    await database.write(["inbox"], (writing) => writing.objectStore("inbox").delete([threadId, itemId]));
  },
});
