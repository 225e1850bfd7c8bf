import type { Event } from "@colloquy/machine";
import { memoryStore, type Store } from "@colloquy/host";
import type { PerformerOptions } from "@colloquy/host/perform";
import { overriding } from "./gated-store.ts";
import { Engine } from "./performing-engine.ts";

/** A store of one thread, which the smallest engine performs. */
export const performedStore = (options: PerformerOptions): Store => {
  const engine = new Engine(options);
  return overriding(memoryStore({ clock: options.clock }), {
    read: async (_, from = 0) => JSON.parse(JSON.stringify(engine.journal.slice(from))) as readonly unknown[],
    engine: {
      send: async (_, id, event) => {
        const refused = engine.refusals.length;
        // No test starts it.
        engine.send(event as Event);
        const refusal = engine.refusals[refused];
        if (refusal !== undefined) return { id, handled: false, refusal };
        return { id, handled: true, seq: engine.journal.findLastIndex((entry) => entry.event.type === event.type) };
      },
      follow: (_, heard) => {
        engine.onNews = heard;
        return () => void (engine.onNews = () => {});
      },
    },
  });
};
