import * as Either from "fp-ts/lib/Either.js";
import { isBefore, turnOf } from "../../thread/thread.ts";
import type { ConversationData, Summarising } from "../protocol/data.ts";
import type { Decided } from "../protocol/entry.ts";
import type { HeadMoved } from "../protocol/event.ts";
import { type Refusal, refuse } from "../protocol/refusal.ts";
import { checkpointOf } from "../update/edit.ts";

/** Decides whether the head can move to a place, and which pending summary becomes stale. */
export const decideMove = (data: ConversationData, to: HeadMoved["to"]): Either.Either<Refusal, Decided> => {
  const { conversation } = data;
  if (typeof to === "number")
    return to === 0 || turnOf(conversation, to) !== undefined ? Either.right(leaving(data, to)) : noTurn(data, to);
  const turn = checkpointOf(conversation, to.checkpoint);
  return turn === undefined
    ? refuse(
        "unknown",
        `no checkpoint "${to.checkpoint}"; there are: ${Object.keys(conversation.checkpoints).join(", ") || "none"}`,
      )
    : Either.right(leaving(data, turn));
};

/** Returns the number of the turn that is open or about to open, or null if there is none. */
export const turnAnswering = ({ open, waking, conversation }: ConversationData): number | null =>
  open?.number ?? (waking === null ? null : conversation.turns.length + 1);

/** Marks the pending summary as stale if the predicate says that it is no longer of use. */
export const staleSummary = (data: ConversationData, isStale: (summarising: Summarising) => boolean): Decided =>
  data.summarising !== null && isStale(data.summarising) ? { summaryStale: true } : {};

/** Refuses an event that names a turn which does not exist. */
export const noTurn = (data: ConversationData, turn: number): Either.Either<Refusal, never> => {
  const { length } = data.conversation.turns;
  return refuse("unknown", `no closed turn ${turn}; there are ${length === 0 ? "none" : `1 to ${length}`}`);
};

/** Decides a move of the head. The pending summary becomes stale if its turns leave the path. */
const leaving = (data: ConversationData, head: number): Decided =>
  staleSummary(data, ({ covers }) => !isBefore(data.conversation, covers.to, head));
