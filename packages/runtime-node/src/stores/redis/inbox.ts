import { inboxAnswerOf, type Inbox, LeaseLostError, inboxItemOf } from "@colloquy/host/store";

import { refuseUnstorable } from "../store-arguments.ts";
import { fromStorable, toStorable } from "../storable-text.ts";
import type { Connection } from "./connection.ts";
import { keysOf } from "./keys.ts";
import * as scripts from "./scripts.ts";

/** Creates an inbox of items and answers by id, and the order of the unanswered items. */
export const redisInbox = (connection: Connection): Inbox => {
  const { name, prefix, now, run } = connection;
  const keys = (threadId: string): readonly string[] => {
    refuseUnstorable(name, threadId);
    return keysOf(prefix, threadId);
  };
  return {
    post: async (threadId, letter) => {
      await run(scripts.post, keys(threadId), [toStorable(letter.id), JSON.stringify(letter)]);
    },
    unanswered: async (threadId) => {
      // The type that the script returns.
      const letters = (await run(scripts.readLetters, keys(threadId), [])) as readonly (readonly [string, string])[];
      return letters.map(([id, letter]) => inboxItemOf(() => fromStorable(id), letter));
    },
    answer: async (lease, answers) => {
      const values = answers.flatMap((answer) => [toStorable(answer.id), JSON.stringify(answer)]);
      const answered = await run(scripts.answer, keys(lease.threadId), [lease.token, now(), ...values]);
      if (answered === scripts.lost) throw new LeaseLostError(lease);
    },
    answerTo: async (threadId, letterId) => {
      // The type that the script returns.
      const answer = (await run(scripts.readAnswer, keys(threadId), [toStorable(letterId)])) as string | null;
      return answer === null ? null : inboxAnswerOf(letterId, answer);
    },
    discard: async (threadId, letterId) => {
      await run(scripts.discard, keys(threadId), [toStorable(letterId)]);
    },
  };
};
