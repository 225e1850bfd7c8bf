import type { Performer } from "@colloquy/host/perform";
import type { Effect } from "@colloquy/machine";
import { type ObjectContext, rpc } from "@restatedev/restate-sdk";
import type { Task, ThreadHandlers } from "./handlers.ts";
import { type Place, placeKey, type WorkerContext } from "./thread-state.ts";

export type Order =
  | ({ readonly type: "perform" } & Task)
  | { readonly type: "wake"; readonly effectId: string; readonly inMs: number }
  | { readonly type: "stop"; readonly effectId: string };

export const ordersOf = (performer: Performer, effects: readonly Effect[]): readonly Order[] =>
  effects.flatMap((effect): readonly Order[] => {
    switch (effect.type) {
      case "callLlm": {
        const isReply = effect.purpose === "answer" ? ({ isReply: true } as const) : {};
        return [{ type: "perform", effectId: effect.id, repetition: "rerun", ...isReply }];
      }
      case "checkOutput":
        return [{ type: "perform", effectId: effect.id, repetition: "rerun" }];
      case "callTool":
        return effect.by === undefined
          ? [{ type: "perform", effectId: effect.id, repetition: performer.repetitionOf(effect) }]
          : [];
      case "startTimer":
        return [{ type: "wake", effectId: effect.id, inMs: waitOf(effect.dueAt - performer.clock.now()) }];
      case "cancelLlm":
      case "cancelTool":
      case "cancelCheck":
      case "cancelTimer":
        return [{ type: "stop", effectId: effect.effectId }];
      // No worker waits for the answer to an approval.
      case "requestApproval":
      case "cancelApproval":
      case "publish":
        return [];
    }
  });

/** Limits a wait to a hundred years, which Restate can count. */
const waitOf = (ms: number): number => Math.min(Math.max(0, ms), 3_155_760_000_000);

/**
 * Carries out orders. Returns the place with the effects that are then under way. It sets the place before it sends an
 * effect, as the performer reads the place.
 */
export const dispatch = async (
  { object }: Pick<WorkerContext, "object">,
  context: ObjectContext,
  place: Place,
  orders: readonly Order[],
  isTakenUp = false,
): Promise<Place> => {
  if (orders.length === 0) return place;
  if (orders.some(({ type }) => type !== "stop")) context.set(placeKey, place);
  const out = { ...place.out };
  const thread = context.objectSendClient<ThreadHandlers>(object, context.key);
  for (const order of orders) {
    const { effectId } = order;
    if (order.type === "stop") {
      const invocation = out[effectId];
      if (invocation !== undefined) context.cancel(invocation);
      delete out[effectId];
    } else if (order.type === "wake") {
      const mail = { event: { type: "timer.fired", at: 0, effectId }, isSent: true } as const;
      out[effectId] = await thread.tell(mail, rpc.sendOpts({ delay: order.inMs })).invocationId;
    } else {
      const { type: _, ...task } = order;
      out[effectId] = await thread.perform(isTakenUp ? { ...task, isTakenUp } : task).invocationId;
    }
  }
  return { ...place, out };
};
