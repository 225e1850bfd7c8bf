import type { Policy } from "../policy.ts";
import { checkNames } from "./check-options.ts";

/**
 * Shows only these data fields of user messages in closed turns; none if the list is empty. Texts and the fields of
 * answers stay; a message with nothing left is not shown. The open turn shows all fields.
 *
 * @throws ConfigurationError if a name is empty, or the names are not a list.
 */
export const onlyInputs = (names: readonly string[]): Policy => {
  checkNames("onlyInputs(names)", names);
  const inputs = Object.freeze([...names]);
  return {
    name: "only-inputs",
    version: 1,
    options: { names: inputs },
    monotone: true,
    // The open turn loses the other fields when it ends.
    stable: false,
    newestFirst: true,
    decide: () => ({
      from: null,
      fields: { inputs },
      reason: `of the inputs of earlier turns only these are shown: ${inputs.join(", ") || "none"}`,
    }),
  };
};
