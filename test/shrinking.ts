import fc from "fast-check";

const longestMs = 60_000;

/**
 * Ends the shrinking of a failed property after some time, so that the smallest case so far is reported with its seed.
 * Otherwise a long case could shrink until the gate kills its step, which then reports nothing.
 */
const boundShrinking: fc.Plugin<unknown> = () => {
  let until = Number.POSITIVE_INFINITY;
  const noted = <Outcome>(outcome: Outcome): Outcome => {
    if (outcome !== null && !fc.PreconditionFailure.isFailure(outcome))
      until = Math.min(until, performance.now() + longestMs);
    return outcome;
  };
  return {
    decorateRun: (run) => (value) => {
      if (performance.now() >= until) return new fc.PreconditionFailure(true);
      const outcome = run(value);
      return outcome instanceof Promise ? outcome.then(noted) : noted(outcome);
    },
  };
};

// Not in setup.ts, which runs once for each test file: the files of a process share this module.
fc.installGlobalPlugin(boundShrinking);
