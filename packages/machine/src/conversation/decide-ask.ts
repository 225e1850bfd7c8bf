import * as Either from "fp-ts/lib/Either.js";
import { turnsNewestFirst } from "../thread/path.ts";
import { findNewest } from "../thread/chunks.ts";
import type { ConversationData } from "./data.ts";
import { remembered } from "./data.ts";
import { decideOpening } from "./decide-step.ts";
import type { AskReceived, Decided } from "./event.ts";
import { problemOfLimits } from "./limits.ts";
import type { Refusal } from "./refusal.ts";
import type { Settings } from "./settings.ts";
import { draftsOf } from "./turn-opening.ts";

/** Whether an ask is taken, and whether it opens a turn or waits. */
export const decideAsk = (
  settings: Settings,
  data: ConversationData,
  event: AskReceived,
): Either.Either<Refusal, Decided> => {
  if (event.askId === "") return invalid("an ask needs an askId that is not empty");
  const repeated = whereAsked(data, event.askId);
  if (repeated !== null) return Either.left(repeated);
  const problem = problemOfAsk(data, event);
  if (problem !== null) return invalid(problem);
  if (data.open === null && data.queue.length === 0)
    return Either.right(decideOpening(settings, data, event, event.at));
  if (settings.overlap.type === "reject") {
    const reason = `turn ${data.open?.number ?? data.conversation.turns.length + 1} is open; wait for its end, cancel it, or set overlap to queue`;
    return Either.left({ kind: "busy", reason });
  }
  const { max } = settings.overlap;
  return data.queue.length >= max
    ? Either.left({ kind: "full", reason: `${data.queue.length} asks wait already, and the queue holds ${max}` })
    : Either.right({ queued: data.queue.length + 1 });
};

const invalid = (reason: string): Either.Either<Refusal, never> => Either.left({ kind: "invalid", reason });

const whereAsked = (data: ConversationData, askId: string): Refusal | null => {
  if (data.open?.asks.some((ask) => ask.askId === askId) === true) return repeatedIn(askId, data.open.number);
  if (data.queue.some((ask) => ask.askId === askId))
    return { kind: "stale", reason: `ask "${askId}" waits in the queue already` };
  if (data.withdrawn.includes(askId)) {
    return { kind: "stale", reason: `ask "${askId}" was withdrawn before its turn came; ask again under another id` };
  }
  const answered = findNewest(data.conversation.turns, remembered, ({ asks }) =>
    asks.some((ask) => ask.askId === askId),
  );
  return answered === undefined ? null : repeatedIn(askId, answered.number);
};

const repeatedIn = (askId: string, turn: number): Refusal => ({
  kind: "stale",
  reason: `ask "${askId}" was made before; turn ${turn} answers it`,
  turn,
});

const problemOfAsk = (data: ConversationData, event: AskReceived): string | null => {
  if (event.limits !== undefined) {
    const problem = problemOfLimits(event.limits);
    if (problem !== null) return problem;
  }
  const asksNothing = draftsOf(event).length === 0 || event.input === "" || event.input.length === 0;
  return asksNothing && isEmpty(data) ? "there is nothing to send: the thread is empty, and so is the input" : null;
};

const isEmpty = (data: ConversationData): boolean => {
  const { system, seed, appended } = data.conversation;
  if (data.open !== null || system !== null || seed.length > 0 || appended.length > 0) return false;
  return turnsNewestFirst(data.conversation).next().done === true;
};
