import type { State } from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import { ThreadExistsError, ThreadUnknownError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import type { Engine, InboxAnswer } from "../ports/store.ts";
import { EngineQueue, failSender } from "./engine-queue.ts";
import { FollowedLog } from "./followed-log.ts";
import type { Answered, Outbox, Outgoing } from "./outbox.ts";

/**
 * Returns an engine as an inbox: each item is handled when it is posted, and its answer is kept until it is discarded.
 */
export const inboxOf = (engine: Engine): Outgoing => {
  const answers = new Map<string, InboxAnswer>();
  return {
    post: async (threadId, { id, event }) => void answers.set(id, await engine.send(threadId, id, event)),
    answerTo: async (_, id) => answers.get(id) ?? null,
    discard: async (_, id) => void answers.delete(id),
  };
};

/** The additional parts of following an engine's thread, compared with following another host. */
export class FollowedEngine {
  readonly queue: EngineQueue;
  readonly log: FollowedLog;
  /** Whether the engine reports news. */
  readonly isHeard: boolean;
  readonly #threadId: string;
  readonly #unfollow: (() => void) | undefined;

  /** @param wake called when the journal should be read. */
  constructor(
    engine: Engine,
    followed: { readonly threadId: string; readonly host: HostContext; readonly asks: Asks },
    outbox: Outbox,
    wake: () => void,
  ) {
    const { threadId } = followed;
    this.#threadId = threadId;
    this.queue = new EngineQueue(threadId, outbox);
    this.log = new FollowedLog(followed, wake);
    this.#unfollow = engine.follow?.(threadId, (heard) => {
      if (heard.type === "entries") wake();
      else this.log.hear(heard.turn, heard.part);
    });
    this.isHeard = this.#unfollow !== undefined;
    this.log.isHeard = this.isHeard;
  }

  /**
   * Fails the sender of an event that the engine refused, if a loop here would have failed it. Returns whether it did.
   */
  fails({ item, answer }: Answered, state: State | null): boolean {
    const isUnknown = state === null && !answer.handled && answer.refusal.kind === "unknown";
    if (isUnknown) failSender(item.envelope.sender, new ThreadUnknownError(this.#threadId));
    if (isUnknown || state === null || item.event.type !== "thread.started") return isUnknown;
    failSender(item.envelope.sender, new ThreadExistsError(this.#threadId));
    return true;
  }

  end(): void {
    this.#unfollow?.();
  }
}
