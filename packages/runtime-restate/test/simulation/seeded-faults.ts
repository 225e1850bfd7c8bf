import type { ThreadHandlers } from "../../src/handlers.ts";
import { type KnownThread, KnownThreads, type Place, placeKey } from "../../src/thread-state.ts";
import type { Seeded } from "./engine.ts";

/** A fault of a worker, a script in which it shows, and the way in which it is noticed. */
export interface SeededFault {
  readonly name: string;
  readonly seeded: Seeded;
  readonly script: readonly string[];
  readonly noticed: RegExp;
}

/** Finds states by something other than their stamps. */
class WronglyKnown extends KnownThreads {
  readonly #stampOf: (place: Pick<Place, "stamp" | "seq">) => string;

  constructor(stampOf: (place: Pick<Place, "stamp" | "seq">) => string) {
    super(10);
    this.#stampOf = stampOf;
  }

  override at(threadId: string, place: Place): KnownThread | undefined {
    return super.at(threadId, { stamp: this.#stampOf(place) });
  }

  override keep(threadId: string, stamp: string, thread: KnownThread): void {
    super.keep(threadId, this.#stampOf({ stamp, seq: thread.state.context.seq }), thread);
  }
}

/** Changes `tell`, for example its context. */
const telling =
  (told: (tell: ThreadHandlers["tell"]) => ThreadHandlers["tell"]): NonNullable<Seeded["handlers"]> =>
  (handlers) => ({ ...handlers, tell: told(handlers.tell) });

export const seededFaults: readonly SeededFault[] = [
  {
    name: "stamps are ignored",
    seeded: { worker: (worker) => ({ ...worker, known: new WronglyKnown(() => "newest") }) },
    script: ["plain", "lookup", "queue"],
    noticed: /another state than the journal's/u,
  },
  {
    name: "the state of an unrecorded attempt is kept under the recorded one's stamp",
    seeded: { worker: (worker) => ({ ...worker, known: new WronglyKnown(({ seq }) => String(seq)) }) },
    script: ["plain", "retry", "lookup"],
    noticed: /another state than the journal's/u,
  },
  {
    name: "a tool that must not run again runs in a plain step",
    seeded: {
      worker: (worker) => ({ ...worker, performer: { ...worker.performer, repetitionOf: () => "rerun" } }),
    },
    script: ["notify", "two"],
    noticed: /ran 2 times/u,
  },
  {
    name: "the place is set after the messages are sent",
    seeded: {
      handlers: telling((tell) => async (context, mail) => {
        const last: { place?: unknown } = {};
        const set = (name: string, value: unknown): void => {
          if (name === placeKey) last.place = value;
          else context.set(name, value);
        };
        const told = await tell({ ...context, set }, mail);
        if (last.place !== undefined) context.set(placeKey, last.place);
        return told;
      }),
    },
    script: ["lookup"],
    noticed: /it hangs/u,
  },
  {
    name: "the reads depend on the memory of the process",
    seeded: {
      handlers: (handlers) => {
        const known = new Set<string>();
        const tell: ThreadHandlers["tell"] = async (context, mail) => {
          if (!known.has(context.key)) await context.get("more");
          known.add(context.key);
          return handlers.tell(context, mail);
        };
        return { ...handlers, tell };
      },
    },
    script: ["plain", "lookup"],
    noticed: /journal mismatch/u,
  },
];
