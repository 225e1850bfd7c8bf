import type { MachineOptions, ThreadInput } from "@colloquy/machine";

import { timed, type Untimed } from "./events.ts";
import { configured, dataOf } from "./machine.ts";
import type { Script, ScriptStep } from "./vector.ts";

/** A conversation as it is told: its events, each in its place, and nothing of what they come to. */
export interface Story {
  readonly name: string;
  readonly says: string;
  readonly options?: MachineOptions;
  readonly start?: Partial<ThreadInput>;
  /** The journal is raised to format 2 first. */
  readonly raised?: true;
  readonly events: readonly Told[];
}

/** An event, and what there is to say of it. */
export type Told = Untimed | (Omit<ScriptStep, "event"> & { readonly event: Untimed });

/** The script of a story of the profile core. */
export const scriptOfStory = ({ name, says, options = {}, start, raised, events }: Story): Script => {
  const machine = dataOf(options);
  const { configuration } = configured(machine);
  const told: readonly Told[] = [
    ...(raised === true ? [{ type: "thread.configured", configuration, format: 2 } as const] : []),
    ...events,
  ];
  const times = timed(told.map((each) => ("event" in each ? each.event : each)));
  return {
    profile: "core",
    name,
    says,
    machine,
    start: { threadId: "t", at: 0, ...start },
    steps: told.flatMap((each, index): readonly ScriptStep[] => {
      const event = times[index];
      return event === undefined ? [] : ["event" in each ? { ...each, event } : { event }];
    }),
  };
};
