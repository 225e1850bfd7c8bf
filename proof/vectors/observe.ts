import type { Event, State, Transition } from "@colloquy/machine";
import { start, transition } from "@colloquy/machine";

import { machineOf } from "./machine.ts";
import type { MachineData, Script, ScriptStep } from "./vector.ts";

/** A script as it was played. */
export interface Played {
  readonly script: Script;
  readonly steps: readonly PlayedStep[];
}

/** The outcome of one event of a script. */
export interface PlayedStep {
  /** The configuration that it was decided under. */
  readonly machine: MachineData;
  readonly event: Event;
  readonly recovered: boolean;
  readonly before: State;
  readonly answer: Transition;
}

/** Plays a script on the machine. */
export const played = (script: Script): Played => {
  let data = script.machine;
  let machine = machineOf(data);
  let { state } = start(machine, script.start);
  const steps = script.steps.map(({ event, recovered, machine: other }: ScriptStep): PlayedStep => {
    if (other !== undefined) [data, machine] = [other, machineOf(other)];
    const before = state;
    const answer = transition(machine, state, event, recovered === undefined ? {} : { recovered });
    state = answer.state;
    return { machine: data, event, recovered: recovered === true, before, answer };
  });
  return { script, steps };
};
