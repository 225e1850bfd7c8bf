import { turnOf } from "../../thread/path.ts";
import { usageMonoid } from "../../thread/usage.ts";
import type { ConversationData, OpenTurn } from "../protocol/data.ts";
import { drop } from "./turn-closing.ts";
import type { ThreadForked } from "../protocol/event.ts";
import { type Arrow, noEffects, type Plan } from "./plan.ts";

/** Drops all pending work from a copy of another thread. Nothing is cancelled, since the copy performs none of it. */
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
      // The usage of the dropped open turn still counts.
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

/** Returns the arrow to the state in which the turn at the head ended. */
const arrowAt = ({ conversation }: ConversationData): Arrow => {
  const status = turnOf(conversation, conversation.head)?.outcome.status ?? "completed";
  return status === "completed" ? "completed" : "error";
};
