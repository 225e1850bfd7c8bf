import { type Effect, publish } from "../protocol/effect.ts";
import { extended, without } from "../../thread/chunks.ts";
import type { ReplyDraft } from "../../thread/message.ts";
import type { ConversationData, OpenTurn, QueuedAsk } from "../protocol/data.ts";
import { drop, interruptTurn } from "./turn-closing.ts";
import { queueId } from "../protocol/effect-id.ts";
import type { Decided } from "../protocol/entry.ts";
import { type Plan, staying } from "./plan.ts";

export const enqueue = (before: ConversationData, ask: QueuedAsk, place: number, decided: Decided): Plan => {
  const { data, effects } = superseding(before, ask, decided);
  return staying({ ...data, queue: extended(data.queue, [ask]) }, () => [...effects, queued(ask, place)]);
};

export const interruptFor = (
  before: ConversationData,
  open: OpenTurn,
  ask: QueuedAsk,
  partial: ReplyDraft | undefined,
  decided: Decided,
): Plan => {
  const { data, effects } = superseding(before, ask, decided);
  const waiting = { ...data, queue: extended(data.queue, [ask]) };
  const stopping = { partial, results: decided.results ?? [] };
  const reason = `interrupted by ask "${ask.askId}"`;
  const plan = interruptTurn(waiting, open, stopping, { status: "cancelled", reason }, ask.at);
  return {
    ...plan,
    effects: (prompts) => [
      publish({ type: "turn.interrupted", turn: open.number, by: ask.askId }),
      ...effects,
      queued(ask, waiting.queue.length),
      ...plan.effects(prompts),
    ],
  };
};

/** Withdraws an ask that waits, or one of several that the open turn answers; undefined for any other. */
export const withdraw = (data: ConversationData, askId: string, at: number): Plan | undefined => {
  const { queue, waking, open } = data;
  const signal = publish({ type: "ask.withdrawn", askId });
  const joining = open?.joining.filter((ask) => ask.askId === askId) ?? [];
  if (open !== null && joining.length > 0) {
    const left = { ...open, joining: open.joining.filter((ask) => ask.askId !== askId) };
    return staying({ ...drop(data, joining, "withdrawn", at), open: left }, () => [signal]);
  }
  const shared = open?.asks.find((ask) => ask.askId === askId);
  if (open !== null && shared !== undefined && isShared(open, askId)) {
    const left = { ...open, asks: open.asks.filter((ask) => ask.askId !== askId) };
    return staying({ ...drop(data, [{ askId, at: shared.askedAt }], "withdrawn", at), open: left }, () => [signal]);
  }
  // Methods of frozen lists are slow and thousands may wait, so a copy is searched.
  const place = [...queue].findIndex((ask) => ask.askId === askId);
  const withdrawn = queue[place];
  if (withdrawn === undefined) return undefined;
  const left = without(queue, place, 1);
  const asleep = waking !== null && left.length === 0;
  const after = { ...drop(data, [withdrawn], "withdrawn", at), queue: left, waking: asleep ? null : waking };
  return staying(after, () => [
    ...(asleep ? [{ type: "cancelTimer", effectId: queueId(data.threadId, waking.seq) } as const] : []),
    signal,
  ]);
};

/** Returns whether the open turn answers this ask and others, and continues for them without it. */
export const isShared = ({ asks }: OpenTurn, askId: string): boolean =>
  asks.length > 1 && asks.some((ask) => ask.askId === askId);

const queued = ({ askId }: QueuedAsk, place: number): Effect => publish({ type: "ask.queued", askId, place });

const superseding = (
  data: ConversationData,
  ask: QueuedAsk,
  { supersedes }: Decided,
): { readonly data: ConversationData; readonly effects: readonly Effect[] } => {
  if (supersedes !== true) return { data, effects: [] };
  const effects = data.queue.map(({ askId }): Effect => publish({ type: "ask.superseded", askId, by: ask.askId }));
  return { data: { ...drop(data, data.queue, "superseded", ask.at), queue: [] }, effects };
};
