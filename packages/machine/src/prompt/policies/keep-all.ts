import { keepEverything, type Policy } from "../policy.ts";

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
