import fc from "fast-check";

const longestMs = 60_000;

/**
 * Ends the search for the smallest case of a property so long after its first failure, and has the smallest one that was
 * found reported, with its seed. Without it a long case is made smaller for as long as a step of the gate may take, which
 * is then killed and says nothing.
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

// Here, and not in setup.ts, which is evaluated for each file of tests: files share a process, and this module.
fc.installGlobalPlugin(boundShrinking);
