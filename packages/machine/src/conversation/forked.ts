import { turnOf } from "../thread/path.ts";
import { usageMonoid } from "../thread/usage.ts";
import type { ConversationData, DroppedAsk, QueuedAsk } from "./data.ts";
import { remembered } from "./data.ts";
import type { ThreadForked } from "./event.ts";
import type { Arrow, Plan } from "./plan.ts";
import { noEffects } from "./plan.ts";

/**
 * A copy begins where another thread was: whatever was under way or waited there stays behind. Nothing is cancelled,
 * since nothing of it is done here.
 */
export const forkData = (data: ConversationData, event: ThreadForked): Plan => {
  const { open, queue, usage } = data;
  const left = [
    ...(open?.asks ?? []),
    ...[...(open?.joining ?? []), ...queue].map(({ askId, at }: QueuedAsk) => ({ askId, askedAt: at })),
  ];
  const dropped = left.map((ask): DroppedAsk => ({ ...ask, droppedAt: event.at, because: "left" }));
  return {
    data: {
      ...data,
      open: null,
      queue: [],
      waking: null,
      summarising: null,
      dropped: dropped.length === 0 ? data.dropped : [...data.dropped, ...dropped].slice(-remembered),
      // What a turn that is no turn of the copy used was used all the same.
      usage: open === null ? usage : { ...usage, betweenTurns: usageMonoid.concat(usage.betweenTurns, open.usage) },
      forkedFrom: event.from,
    },
    arrow: open === null ? "stays" : arrowAt(data),
    effects: noEffects,
  };
};

/** Where the turn at the head led. */
const arrowAt = ({ conversation }: ConversationData): Arrow => {
  const status = turnOf(conversation, conversation.head)?.outcome.status ?? "completed";
  return status === "completed" ? "completed" : "error";
};
