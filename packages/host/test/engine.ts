import type { Host } from "@colloquy/host";
import type { Engine, EngineNews, InboxAnswer, Store } from "@colloquy/host/store";
import { ThreadExistsError, ThreadUnknownError } from "@colloquy/host";
import { overriding } from "./gated-store.ts";
import { type Stage, stage, type StageOptions } from "./stage.ts";

/** An engine with a separate host as its worker, and hosts that use its store. */
export interface EngineStage {
  /** The host that performs the effects. */
  readonly worker: Stage;
  /** The store that hosts over the engine use. */
  readonly store: Store;
  /** Makes a host over the engine. */
  readonly client: (options?: StageOptions) => Host;
  /** Chooses the news that get lost from now on. */
  readonly lose: (which: (news: EngineNews) => boolean) => void;
  /** Publishes news that never get lost. */
  readonly say: (news: EngineNews) => void;
  /** Makes the next events fail, before or after their effect. */
  readonly fail: (times: number, when?: "before" | "behind") => void;
  /** Counts the sent events. */
  readonly sent: () => number;
  /** Counts the followers. */
  readonly followers: () => number;
}

/** @param follows false: the engine publishes no news */
export const engineStage = (options: StageOptions = {}, follows = true): EngineStage => {
  const ears = new Map<string, Set<(news: EngineNews) => void>>();
  const answers = new Map<string, Promise<InboxAnswer>>();
  let isLost = (_: EngineNews): boolean => false;
  let failures = { times: 0, when: "before" };
  let sent = 0;
  const say = (threadId: string, news: EngineNews): void => {
    // A copy, as over a network.
    const copy = JSON.parse(JSON.stringify(news)) as EngineNews;
    if (!isLost(news)) for (const ear of ears.get(threadId) ?? []) ear(copy);
  };
  const told = new Set<string>();
  const tellParts = async (threadId: string, askId: string): Promise<void> => {
    let turn = 0;
    for await (const part of worker.host.thread(threadId).rejoin(askId)) {
      if (part.type === "turn.started") turn = part.turn;
      // Another ask may already follow the turn.
      if (part.type === "turn.started" && told.size === told.add(`${threadId} ${turn}`).size) return;
      if (turn > 0) say(threadId, { type: "part", turn, part });
    }
  };
  const worker = stage({
    ...options,
    observers: [
      {
        entry: ({ event }, threadId) => {
          say(threadId, { type: "entries" });
          // It rejects if the turn fails or the thread is closed.
          if (event.type === "ask.received") void tellParts(threadId, event.askId).catch(() => {});
        },
      },
    ],
  });
  const handle: Engine["send"] = async (threadId, id, event) => {
    const thread = worker.host.thread(threadId);
    try {
      if (event.type !== "thread.started") {
        const receipt = await thread.send(event);
        return receipt.handled ? { id, handled: true, seq: receipt.entry.seq } : { id, ...receipt };
      }
      const { type: _, at: __, threadId: ___, ...input } = event;
      await thread.start(input);
      return { id, handled: true, seq: 0 };
    } catch (thrown) {
      const isKnown = thrown instanceof ThreadUnknownError || thrown instanceof ThreadExistsError;
      if (!isKnown) throw thrown;
      return { id, handled: false, refusal: { kind: "unknown", reason: thrown.message } };
    }
  };
  const engine: Engine = {
    send: async (threadId, id, event) => {
      sent++;
      const fails = failures.times-- > 0;
      if (fails && failures.when === "before") throw new Error("the engine is down");
      const answer = answers.get(id) ?? handle(threadId, id, event);
      answers.set(id, answer);
      await answer;
      if (fails) throw new Error("the engine is down");
      return answer;
    },
    ...(follows
      ? {
          follow: (threadId, heard) => {
            const own = ears.get(threadId) ?? new Set();
            ears.set(threadId, own.add(heard));
            return () => own.delete(heard);
          },
        }
      : {}),
  };
  const store = overriding(worker.store, {
    engine,
    acquire: async (...given) => {
      await worker.host.thread(given[0]).close();
      return worker.store.acquire(...given);
    },
  });
  return {
    worker,
    store,
    client: (more = {}) => stage({ ...options, script: [], ...more, clock: worker.clock, store }).host,
    say: (news) => {
      for (const own of ears.values()) for (const ear of own) ear(news);
    },
    lose: (which) => void (isLost = which),
    fail: (times, when = "before") => void (failures = { times, when }),
    sent: () => sent,
    followers: () => [...ears.values()].reduce((sum, own) => sum + own.size, 0),
  };
};
