import { dataOf } from "./machine.ts";
import { timed } from "./stories/events.ts";
import type { Noted, Story } from "./stories/story.ts";
import type { Script, ScriptStep } from "./vector.ts";

/** The script of a story of the profile core. */
export const scriptOfStory = ({ name, says, options = {}, start, events }: Story): Script => {
  const machine = dataOf(options);
  const told = events.map((each): Noted => ("event" in each ? each : { event: each }));
  const times = timed(told.map(({ event }) => event));
  return {
    profile: "core",
    name,
    says,
    machine,
    start: { threadId: "t", at: 0, ...start },
    steps: told.flatMap(({ options: other, ...noted }, index): readonly ScriptStep[] => {
      const event = times[index];
      if (event === undefined) return [];
      return [{ ...noted, ...(other === undefined ? {} : { machine: dataOf(other) }), event }];
    }),
  };
};
