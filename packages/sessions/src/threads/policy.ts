import {
  compose,
  keepAll,
  lastTurns,
  omitFields,
  onlyInputs,
  type Policy,
  summariseTurns,
} from "@colloquy/machine/policies";
import type { AnyOptions } from "./options.ts";

/** Returns the policy of a session's prompts, which also determines its memory. */
export const policyOf = (options: AnyOptions): Policy => {
  const { excludeFields, onlyInputFields } = options;
  return compose(
    ...(excludeFields === undefined ? [] : [omitFields([...excludeFields])]),
    ...(onlyInputFields === undefined ? [] : [onlyInputs([...onlyInputFields])]),
    windowOf(options),
  );
};

/** Returns the number of newest exchanges that a memory shows. */
export const mostShown = ({ maxTurns, maxStoredTurns }: AnyOptions): number =>
  Math.min(maxTurns ?? Number.POSITIVE_INFINITY, maxStoredTurns ?? Number.POSITIVE_INFINITY);

const windowOf = (options: AnyOptions): Policy => {
  const { compression } = options;
  const most = mostShown(options);
  const shown = Number.isFinite(most) ? most : null;
  if (compression === undefined) return shown === null ? keepAll() : lastTurns(shown);
  return summariseTurns({
    ...(shown === null ? {} : { maxTurns: shown }),
    ...(typeof compression === "string" ? { level: compression } : { instruction: compression.instruction }),
  });
};
