import { type Effect, publish } from "../protocol/effect.ts";
import { extended } from "../../thread/frozen.ts";
import { append, chunksOf, toArray } from "../../thread/chunks.ts";
import { messageFromDraft } from "../../thread/draft.ts";
import { askBringing, draftsOf, isDrafts } from "./ask-drafts.ts";
import type { ConversationData, OpenTurn, QueuedAsk } from "../protocol/data.ts";
import { callerToolsOf } from "./caller-tools.ts";
import { type Plan, staying } from "./plan.ts";

/** Lets an ask join the open turn; it waits for the turn's next prompt. */
export const joinTurn = (data: ConversationData, open: OpenTurn, ask: QueuedAsk): Plan =>
  staying({ ...data, open: { ...open, joining: extended(open.joining, [ask]) } }, () => [
    publish({ type: "ask.joined", askId: ask.askId, turn: open.number }),
  ]);

/**
 * Returns the turn with the content of the asks that joined it, as its next prompt shows it. Returns the same turn if
 * none joined.
 */
export const withJoined = (open: OpenTurn): OpenTurn =>
  open.joining.length === 0 ? open : { ...open.joining.reduce(withAsk, open), joining: [] };

/** Returns the signals that a prompt shows the asks that joined a turn. */
export const deliveries = (open: OpenTurn): readonly Effect[] =>
  open.joining.map(({ askId }) => publish({ type: "ask.delivered", askId, turn: open.number, step: open.step }));

/** Returns the signals that a turn ended before it could show the asks that joined it. */
export const returns = (open: OpenTurn): readonly Effect[] =>
  open.joining.map(({ askId }) => publish({ type: "ask.returned", askId, turn: open.number }));

/** Returns the turn as it was before the asks joined; they wait to join again. */
export const withoutJoined = (open: OpenTurn, joining: readonly QueuedAsk[]): OpenTurn => {
  const said = joining.flatMap(draftsOf).length;
  return {
    ...open,
    asks: open.asks.slice(0, open.asks.length - joining.length),
    messages: chunksOf(toArray(open.messages).slice(0, open.messages.length - said)),
    made: open.made - said,
    joining,
  };
};

const withAsk = (open: OpenTurn, ask: QueuedAsk): OpenTurn => {
  const drafts = draftsOf(ask);
  return {
    ...open,
    asks: [...open.asks, askBringing(ask, drafts)],
    messages: drafts.reduce(
      (messages, draft, index) => append(messages, messageFromDraft(`${open.number}.${open.made + index}`, draft)),
      open.messages,
    ),
    made: open.made + drafts.length,
    metadata: isDrafts(ask.input) && ask.metadata !== undefined ? { ...open.metadata, ...ask.metadata } : open.metadata,
    model: { ...open.model, ...ask.model },
    ...callerToolsOf(open.callerTools ?? [], [ask]),
    limits: { ...open.limits, ...ask.limits },
    ...(ask.output === undefined ? {} : { output: ask.output }),
  };
};
