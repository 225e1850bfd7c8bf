import { keepAll, lastTurns, pricesPerMillion } from "@colloquy/machine/policies";
import {
  composedPolicyArbitrary,
  machineOptionsArbitrary,
  runSchedule,
  type Schedule,
  scheduleArbitrary,
  shippedPolicyArbitrary,
} from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";

import { dataOf, machineOf } from "./machine.ts";
import { plainly } from "./plain-play.ts";
import type { MachineData, Named, Profile, Script, ScriptStep } from "./vector.ts";

/** Draws `count` plays of a profile from a seed, by the arbitraries of the laws. */
export const drawnPlays = (profile: Profile, count: number, seed: number): readonly Play[] =>
  fc.sample(playArbitrary(profile), { seed, numRuns: count }).map((play) => ({ ...play, profile }));

export interface Play {
  readonly profile: Profile;
  readonly options: MachineData;
  /** The thread's configuration after a change. */
  readonly alternate: MachineData;
  readonly schedule: Schedule;
}

const playArbitrary = (profile: Profile): fc.Arbitrary<Omit<Play, "profile">> =>
  fc
    .record({ options: optionsArbitrary(profile), alternate: optionsArbitrary(profile) })
    .chain(({ options, alternate }) =>
      fc.record({
        options: fc.constant(options),
        alternate: fc.constant(alternate),
        schedule: scheduleArbitrary({ tools: (options.tools ?? []).map(({ name }) => name) }).map((schedule) =>
          plainly(schedule, textMax[profile]),
        ),
      }),
    );

const optionsArbitrary = (profile: Profile): fc.Arbitrary<MachineData> =>
  fc
    .tuple(machineOptionsArbitrary, profile === "core" ? corePolicy : anyPolicy, fc.boolean())
    .map(([{ counter: _, pricing: __, ...options }, policy, priced]) => {
      if (profile === "policies") {
        const data = dataOf({ ...options, ...(priced ? { pricing } : {}) });
        return plainly({ ...data, policy: instructed(policy) }, textMax[profile]);
      }
      const { budget: ___, calibrate: ____, warnAt: _____, ...core } = options;
      const { costNano: ______, ...limits } = core.limits ?? {};
      return plainly(dataOf({ ...core, policy, limits }), textMax[profile]);
    });

/** Shortens the instructions for summaries, which a file repeats often. */
const instructed = ({ name, version, options }: Named): Named => ({
  name,
  version,
  options: {
    ...options,
    ...("instruction" in options ? { instruction: "Sum it up." } : {}),
    // A composition names its policies in the same form.
    ...(name === "compose"
      ? { policies: (options["policies"] as unknown as readonly Named[]).map((each) => ({ ...instructed(each) })) }
      : {}),
  },
});

const textMax = { core: 60, policies: 400 } as const;

const corePolicy = fc.constantFrom(
  keepAll(),
  keepAll(),
  lastTurns(0),
  lastTurns(1),
  lastTurns(2),
  lastTurns(1, { slack: 2 }),
);
const anyPolicy = fc.oneof(shippedPolicyArbitrary, composedPolicyArbitrary);
const pricing = pricesPerMillion("USD", {
  "model-1": { input: 1.25, output: 10, cachedInput: 0.125 },
  other: { input: 3, output: 15 },
});

/** Returns the script of a play: its moves as events, given the states that they reach. */
export const scriptOfPlay = ({ profile, options, alternate, schedule }: Play): Script => {
  const machine = machineOf(options);
  const trace = runSchedule(machine, schedule, { alternate: machineOf(alternate) });
  let present = machine;
  const steps = trace.steps.map(({ machine: under, event }): ScriptStep => {
    if (under === present) return { event };
    present = under;
    return { machine: under === machine ? options : alternate, event };
  });
  return { profile, name: "drawn", says: "", machine: options, start: schedule.input, steps };
};
