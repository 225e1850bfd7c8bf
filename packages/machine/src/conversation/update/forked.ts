import { turnOf } from "../../thread/path.ts";
import { usageMonoid } from "../../thread/usage.ts";
import type { ConversationData, OpenTurn } from "../protocol/data.ts";
import { drop } from "./turn-closing.ts";
import type { ThreadForked } from "../protocol/event.ts";
import { type Arrow, noEffects, type Plan } from "./plan.ts";

/**
 * A copy begins where another thread was: whatever was under way or waited there stays behind. Nothing is cancelled,
 * since nothing of it is done here.
 */
export const forkData = (data: ConversationData, event: ThreadForked): Plan => {
  const { open, usage } = data;
  const left = drop(data, [...(open === null ? [] : asksOf(open)), ...data.queue], "left", event.at);
  return {
    data: {
      ...left,
      open: null,
      queue: [],
      waking: null,
      summarising: null,
      // What a turn used that is none of the copy was used all the same.
      usage: open === null ? usage : { ...usage, betweenTurns: usageMonoid.concat(usage.betweenTurns, open.usage) },
      forkedFrom: event.from,
    },
    arrow: open === null ? "stays" : arrowAt(data),
    effects: noEffects,
  };
};

const asksOf = ({ asks, joining }: OpenTurn): readonly { readonly askId: string; readonly at: number }[] => [
  ...asks.map(({ askId, askedAt }) => ({ askId, at: askedAt })),
  ...joining,
];

/** Where the turn at the head led. */
const arrowAt = ({ conversation }: ConversationData): Arrow => {
  const status = turnOf(conversation, conversation.head)?.outcome.status ?? "completed";
  return status === "completed" ? "completed" : "error";
};
