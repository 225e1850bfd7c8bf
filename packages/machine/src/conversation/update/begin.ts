import type { ThreadInput } from "../protocol/event.ts";
import * as Either from "fp-ts/lib/Either.js";
import { emptyChunks } from "../../thread/chunks.ts";
import { messagesFromSeed } from "../../thread/seed.ts";
import { noUsage } from "../../thread/usage.ts";
import type { ConversationData } from "../protocol/data.ts";
import { systemMessage } from "./edit.ts";

/**
 * The error for an invalid beginning of a thread, such as a seed that is not a conversation. Names the field or
 * message, and why.
 */
export class SeedError extends Error {
  override readonly name = "SeedError";
}

/** Returns the data of a new thread, or why its seed is not a conversation. */
export const begin = (event: ThreadInput): Either.Either<string, ConversationData> => {
  const seed = messagesFromSeed(0, event.seed ?? []);
  if (Either.isLeft(seed)) return Either.left(`the seed is no conversation: ${seed.left}`);
  const system = event.system === undefined ? null : systemMessage(1, event.system);
  return Either.right({
    threadId: event.threadId,
    seq: 0,
    createdAt: event.at,
    updatedAt: event.at,
    metadata: event.metadata ?? {},
    conversation: {
      system,
      systems: system === null ? 0 : 1,
      firstSystem: system,
      seed: seed.right,
      turns: emptyChunks,
      head: 0,
      appended: [],
      pins: [],
      shortened: [],
      checkpoints: {},
    },
    usage: { total: noUsage, betweenTurns: noUsage },
    open: null,
    queue: [],
    waking: null,
    cut: null,
    configuration: event.configuration ?? { fingerprint: "" },
    model: event.model ?? {},
    summarising: null,
    summaries: 0,
    fullness: "within",
    measured: null,
    room: null,
    dropped: [],
    forkedFrom: null,
  });
};
