import { canonicalText, type Effect, outstanding, start, type State, transition } from "@colloquy/machine";
import { journalFormat } from "@colloquy/machine/journal";

import { configured, machineOf } from "./machine.ts";
import { patchOf } from "./patch.ts";
import {
  type HandledStep,
  type Outstanding,
  type RefusedStep,
  type Script,
  type Vector,
  vectorsFormat,
} from "./vector.ts";

/** Plays a script on the machine, and notes what comes of each step. */
export const vectorOf = ({ machine: data, steps, ...script }: Script): Vector => {
  let machine = machineOf(data);
  const started = start(machine, script.start);
  let state = started.state;
  const asked = new Asked();
  const noted = steps.map((step): HandledStep | RefusedStep => {
    const { event, recovered, machine: other, says } = step;
    if (other !== undefined) machine = machineOf(other);
    const given = {
      ...(says === undefined ? {} : { says }),
      ...(other === undefined ? {} : { machine: configured(other) }),
      event,
      ...(recovered === undefined ? {} : { recovered }),
    };
    const answer = transition(machine, state, event, recovered === undefined ? {} : { recovered });
    if (!answer.handled) {
      const { reason: _, ...refusal } = answer.refusal;
      return { ...given, refusal };
    }
    const before = state;
    state = answer.state;
    const { entry, effects } = answer;
    return { ...given, entry, effects, state: patchOf(before, state), outstanding: asked.after(effects, state) };
  });
  return plain({
    vectors: vectorsFormat,
    journal: journalFormat,
    ...script,
    machine: configured(data),
    steps: [{ ...started, outstanding: [] }, ...noted],
  });
};

/** The script that a vector was made from. */
export const scriptOf = (vector: Vector): Script => {
  const { profile, name, says, start, machine, steps } = vector;
  const [, ...later] = steps;
  return {
    profile,
    name,
    says,
    start,
    machine: withoutConfiguration(machine),
    steps: later.map(({ says: said, event, recovered, machine: other }) => ({
      ...(said === undefined ? {} : { says: said }),
      ...(other === undefined ? {} : { machine: withoutConfiguration(other) }),
      event,
      ...(recovered === undefined ? {} : { recovered }),
    })),
  };
};

const withoutConfiguration = ({ configuration: _, ...data }: Vector["machine"]): Script["machine"] => data;

/** The effects that were asked for, as they were asked for. */
class Asked {
  readonly #texts = new Map<string, string>();

  after(effects: readonly Effect[], state: State): readonly Outstanding[] {
    for (const effect of effects) if ("id" in effect) this.#texts.set(effect.id, canonicalText(effect));
    return outstanding(state).map((effect) =>
      this.#texts.get(effect.id) === canonicalText(effect) ? effect.id : effect,
    );
  }
}

/** As it is in a file. */
const plain = (vector: Vector): Vector =>
  // Plain JSON keeps its type.
  JSON.parse(JSON.stringify(vector)) as Vector;
