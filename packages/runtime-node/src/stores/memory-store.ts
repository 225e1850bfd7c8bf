import { type Clock, memoryStore as memoryStoreOf, type Store } from "@colloquy/host";
import { systemClock } from "../ports/clock.ts";

/** The store of `@colloquy/host` that lives as long as the process, on the computer's clock where none is given. */
export const memoryStore = (options: { readonly clock?: Clock } = {}): Store & AsyncDisposable =>
  memoryStoreOf({ clock: systemClock, ...options });
