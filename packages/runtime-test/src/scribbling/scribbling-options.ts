import { estimateCounter, keepAll, type Policy, type PolicyInput } from "@colloquy/machine/policies";
import type { MachineOptions } from "@colloquy/machine";
import { Scribbler } from "./scribble.ts";

/**
 * Returns the same options with functions that write into their arguments, and into their previous results: those of
 * the policy, its summariser, the counter and the pricing. They return the same results, and have the same fingerprint.
 */
export const scribblingOptions = (options: MachineOptions, scribbler: Scribbler = new Scribbler()): MachineOptions => {
  const scribbledAfter = <Result>(run: () => Result, given: unknown): Result => {
    const result = run();
    scribbler.visit(given);
    return result;
  };
  const { policy = keepAll(), counter = estimateCounter, pricing } = options;
  return {
    ...options,
    policy: scribblingPolicy(policy, scribbler),
    counter: {
      ...named(counter),
      perMessage: counter.perMessage,
      perPrompt: counter.perPrompt,
      countPart: (part) => scribbledAfter(() => counter.countPart(part), part),
      ...(counter.countPrompt === undefined
        ? {}
        : { countPrompt: (messages) => scribbledAfter(() => counter.countPrompt?.(messages) ?? 0, messages) }),
    },
    ...(pricing && {
      pricing: {
        ...named(pricing),
        price: (usage, model) => scribbledAfter(() => pricing.price(usage, model), usage),
      },
    }),
  };
};

const scribblingPolicy = (policy: Policy, scribbler: Scribbler): Policy => {
  const { summariser } = policy;
  const decide = writingAfter(scribbler, (input) => policy.decide(input));
  return {
    ...policy,
    ...named(policy),
    decide,
    ...(summariser && {
      summariser: { ...summariser, next: writingAfter(scribbler, (input) => summariser.next(input)) },
    }),
  };
};

const named = <Options>({
  name,
  version,
  options,
}: {
  readonly name: string;
  readonly version: number;
  readonly options: Options;
}) => ({ name, version, options });

/** Wraps a deciding function. Its decision is written into at the next call, after the machine has read it. */
const writingAfter = <Decision>(
  scribbler: Scribbler,
  decide: (input: PolicyInput) => Decision,
): ((input: PolicyInput) => Decision) => {
  let last: Decision | null = null;
  return (input) => {
    scribbler.visit(last);
    const given = allGiven(input);
    last = ownCopy(decide(input));
    scribbler.visit(given);
    return last;
  };
};

/** Returns a copy of a decision, which may be a part of the policy; or itself, if it cannot be cloned. */
const ownCopy = <Decision>(decision: Decision): Decision => {
  try {
    return structuredClone(decision);
  } catch {
    return decision;
  }
};

/** Returns everything that a policy can reach from its input. */
const allGiven = (input: PolicyInput): readonly unknown[] => {
  const { history, lastCut, budget, counter, shrink } = input;
  const turns = [...history.newestFirst()];
  const units = [...history.fixed(), ...turns.flatMap((turn) => turn.units())];
  const [message] = units.flatMap(({ messages }) => messages);
  const rules = [{ rule: "headAndTail", of: "messages", characters: 200 }] as const;
  return [
    units,
    turns,
    lastCut,
    budget,
    counter,
    message === undefined ? null : shrink(message, rules),
    history,
    input,
  ];
};
