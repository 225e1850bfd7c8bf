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

/** What the prompts of a session show: its memory is what they show. */
export const policyOf = (options: AnyOptions): Policy => {
  const { excludeFields, onlyInputFields } = options;
  return compose(
    ...(excludeFields === undefined ? [] : [omitFields([...excludeFields])]),
    ...(onlyInputFields === undefined ? [] : [onlyInputs([...onlyInputFields])]),
    windowOf(options),
  );
};

/** How many of the newest exchanges a memory shows. */
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
