import type { LlmHandler } from "@colloquy/host";

/** A handler whose code is loaded with its first call: who makes one may never call it. */
export const loadedLater = (load: () => Promise<LlmHandler>): LlmHandler => {
  let loaded: Promise<LlmHandler> | undefined;
  return async (call, context) => (await (loaded ??= load()))(call, context);
};
