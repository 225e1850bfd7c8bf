import type { Publish, Signal } from "./effect.ts";

/** A signal for observers. What it holds is frozen already: part of the data, of the event, or made so. */
export const publish = (signal: Signal): Publish => Object.freeze({ type: "publish", signal: Object.freeze(signal) });
