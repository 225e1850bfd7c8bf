import type { ThreadInput } from "../protocol/event.ts";
import * as Either from "fp-ts/lib/Either.js";
import { emptyChunks } from "../../thread/chunks.ts";
import { messagesFromSeed } from "../../thread/seed.ts";
import { noUsage } from "../../thread/usage.ts";
import type { ConversationData } from "../protocol/data.ts";
import { systemMessage } from "./edit.ts";

/** What no thread can begin with, such as a seed that is no conversation: says which field or message, and why. */
export class SeedError extends Error {
  override readonly name = "SeedError";
}

/** The data of a thread that has just begun; or in words why its seed is no conversation. */
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
