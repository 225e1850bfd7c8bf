import type { Policy, PolicyDecision } from "../policy.ts";

/** Shows the whole thread. */
export const keepAll = (): Policy => ({
  name: "keep-all",
  version: 1,
  options: {},
  monotone: true,
  stable: true,
  newestFirst: true,
  decide: keepEverything,
});

/** The same function for each policy, so that a machine can tell that it need not be asked. */
export const keepEverything = (): PolicyDecision => ({ from: null, reason: "everything is kept" });
