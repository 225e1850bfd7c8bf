import { type Clock, memoryStore as memoryStoreOf, type Store } from "@colloquy/host";
import { systemClock } from "./ports/clock.ts";

/**
 * The store of `@colloquy/host` that lives as long as the page, on the platform's clock where none is given.
 *
 * @throws ConfigurationError for options that are invalid.
 */
export const memoryStore = (options: { readonly clock?: Clock } = {}): Store & AsyncDisposable =>
  memoryStoreOf({ clock: systemClock, ...options });
