import {
  canonicalText,
  type Effect,
  type JsonObject,
  outstanding,
  start,
  type Started,
  type State,
  transition,
  type Transition,
} from "@colloquy/machine";

import { configured, dataOf, machineOf } from "./machine.ts";
import {
  type HandledStep,
  type MachineData,
  type Outstanding,
  type RefusedStep,
  type Script,
  type ScriptStep,
  type StatePatch,
  type Vector,
} from "./vector.ts";

/** Plays a script on the machine, and records the outcome of each step. */
export const vectorOf = (script: Script): Vector => {
  const { started, steps } = played(script);
  const asked = new Asked();
  const noted = steps.map(({ step, before, answer }): HandledStep | RefusedStep => {
    const { event, recovered, machine: other, says } = step;
    const given = {
      ...(says === undefined ? {} : { says }),
      ...(other === undefined ? {} : { machine: configured(other) }),
      event,
      ...(recovered === undefined ? {} : { recovered }),
    };
    if (!answer.handled) {
      const { reason: _, ...refusal } = answer.refusal;
      return { ...given, refusal };
    }
    const { entry, effects, state } = answer;
    return { ...given, entry, effects, state: patchOf(before, state), outstanding: asked.after(effects, state) };
  });
  const { steps: _, ...rest } = script;
  return plain({
    ...rest,
    machine: configured(script.machine),
    steps: [{ ...started, outstanding: [] }, ...noted],
  });
};

/** Returns the script of a vector, which has only the events as steps, and only the options that are not defaults. */
export const scriptOf = (vector: Vector): Script => {
  const { profile, name, says, start, machine, steps } = vector;
  const data = withoutConfiguration(machine);
  return {
    profile,
    name,
    says,
    start,
    // Members keep their order, so that writing a file again changes nothing.
    machine: { ...data, ...dataOf({}), ...data },
    steps: steps.filter(isLater).map(({ says: said, event, recovered, machine: other }) => ({
      ...(said === undefined ? {} : { says: said }),
      ...(other === undefined ? {} : { machine: withoutConfiguration(other) }),
      event,
      ...(recovered === undefined ? {} : { recovered }),
    })),
  };
};

const isLater = (step: Vector["steps"][number]): step is HandledStep | RefusedStep => "event" in step;

const withoutConfiguration = ({ configuration: _, ...data }: Vector["machine"]): Script["machine"] => data;

/** The effects in the form in which they were requested. */
class Asked {
  readonly #texts = new Map<string, string>();

  after(effects: readonly Effect[], state: State): readonly Outstanding[] {
    for (const effect of effects) if ("id" in effect) this.#texts.set(effect.id, canonicalText(effect));
    return outstanding(state).map((effect) =>
      this.#texts.get(effect.id) === canonicalText(effect) ? effect.id : effect,
    );
  }
}

/** Returns a vector in the form of its file. */
const plain = (vector: Vector): Vector =>
  // Plain JSON keeps its type.
  JSON.parse(JSON.stringify(vector)) as Vector;

export interface Played {
  readonly script: Script;
  readonly started: Started;
  readonly steps: readonly PlayedStep[];
}

export interface PlayedStep {
  /** The configuration at this step. */
  readonly machine: MachineData;
  readonly step: ScriptStep;
  readonly before: State;
  readonly answer: Transition;
}

export const played = (script: Script): Played => {
  let data = script.machine;
  let machine = machineOf(data);
  const started = start(machine, script.start);
  let { state } = started;
  const steps = script.steps.map((step): PlayedStep => {
    const { event, recovered, machine: other } = step;
    if (other !== undefined) [data, machine] = [other, machineOf(other)];
    const before = state;
    const answer = transition(machine, state, event, recovered === undefined ? {} : { recovered });
    state = answer.state;
    return { machine: data, step, before, answer };
  });
  return { script, started, steps };
};

/** Returns the difference of a state from the previous one. */
const patchOf = (before: State, after: State): StatePatch => {
  const changes = differences("", contextOf(before), contextOf(after));
  const gone = changes.filter(({ value }) => value === undefined).map(({ path }) => path);
  const changed = changes.filter(({ value }) => value !== undefined).map(({ path, value }) => [path, value]);
  return {
    ...(isSame(before.value, after.value) ? {} : { value: after.value }),
    // Values that are read from a state are plain JSON.
    context: Object.fromEntries(changed) as JsonObject,
    ...(gone.length === 0 ? {} : { gone }),
  };
};

// A state is plain JSON.
const contextOf = ({ context }: State): JsonObject => context as unknown as JsonObject;

interface Change {
  readonly path: string;
  /** Undefined: removed. */
  readonly value: unknown;
}

const differences = (prefix: string, old: object, next: object): readonly Change[] => {
  const [from, to] = [membersOf(old), membersOf(next)];
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((name): readonly Change[] => {
    const [former, value] = [from.get(name), to.get(name)];
    if (isSame(former, value)) return [];
    const path = `${prefix}${name}`;
    if (!isEntered(path) || !isObject(former) || !isObject(value) || !isAlike(former, value)) return [{ path, value }];
    return differences(`${path}.`, former, value);
  });
};

const membersOf = (value: object): ReadonlyMap<string, unknown> => new Map(Object.entries(value));

/** Checks for a path whose members and items have fixed names, none of which has a dot. */
const isEntered = (path: string): boolean =>
  /^(conversation(\.turns(\.levels(\.\d+)?)?)?|open(\.messages(\.levels(\.\d+)?)?)?|usage(\.total|\.betweenTurns)?|queue|dropped)$/.test(
    path,
  );

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Checks that two values are compared member by member. Lists never lose single items. */
const isAlike = (former: object, value: object): boolean =>
  Array.isArray(former) && Array.isArray(value)
    ? former.length <= value.length
    : Array.isArray(former) === Array.isArray(value);

const isSame = (one: unknown, other: unknown): boolean => one === other || canonicalText(one) === canonicalText(other);
