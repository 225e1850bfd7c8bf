import { type Clock, memoryStore as memoryStoreOf, type Store } from "@colloquy/host";
import { systemClock } from "./ports/clock.ts";

/**
 * Makes the store of `@colloquy/host` that lives as long as the page, with the platform's clock if none is given.
 *
 * @throws ConfigurationError for invalid options.
 */
export const memoryStore = (options: { readonly clock?: Clock } = {}): Store & AsyncDisposable =>
  memoryStoreOf({ clock: systemClock, ...options });
