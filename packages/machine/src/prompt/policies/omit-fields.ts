import type { Policy } from "../policy.ts";
import { checkNames } from "./check-options.ts";

/**
 * Leaves data fields out of closed turns, from user and model messages; texts and tool results stay. A message without
 * anything else is not shown. The open turn shows all fields.
 *
 * @throws ConfigurationError if a name is empty, or the names are not a list.
 */
export const omitFields = (names: readonly string[]): Policy => {
  checkNames("omitFields(names)", names);
  const omit = Object.freeze([...names]);
  return {
    name: "omit-fields",
    version: 1,
    options: { names: omit },
    monotone: true,
    // The open turn loses its fields when it ends.
    stable: omit.length === 0,
    newestFirst: true,
    decide: () =>
      omit.length === 0
        ? { from: null, reason: "no field is left out" }
        : { from: null, fields: { omit }, reason: `left out of earlier turns: ${omit.join(", ")}` },
  };
};
