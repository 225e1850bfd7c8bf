import { type Clock, memoryStore as memoryStoreOf, type Store } from "@colloquy/host";
import { systemClock } from "../ports/system.ts";

/** Creates the memory store of `@colloquy/host`, which lasts as long as the process. Default: the system clock. */
export const memoryStore = (options: { readonly clock?: Clock } = {}): Store & AsyncDisposable =>
  memoryStoreOf({ clock: systemClock, ...options });
