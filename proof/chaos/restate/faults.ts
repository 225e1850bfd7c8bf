import type { Mistake } from "../../kit/program.ts";

export const faults = {
  "plain-step": "a tool that must not run twice runs in a step that repeats after a crash",
  "begins-again": "an effect of unknown outcome is performed again",
  "no-stamp": "a process matches its kept state to the thread by its position alone",
} as const;

export type Fault = keyof typeof faults;

const sources = "/packages/runtime-restate/src/";

export const mistakes: Readonly<Record<Fault, Mistake>> = {
  "plain-step": {
    file: `${sources}perform.ts`,
    text: 'if (this.#task.repetition !== "claimed")',
    instead: "if (true)",
  },
  "begins-again": {
    file: `${sources}perform.ts`,
    text: 'if ("isLost" in outcome) return (await this.#lost()) ?? this.#perform();',
    instead: 'if ("isLost" in outcome) return this.#follow(await this.#step("again", this.#begin));',
  },
  "no-stamp": {
    file: `${sources}thread-state.ts`,
    text: 'at(threadId: string, { stamp }: Pick<Place, "stamp">): KnownThread | undefined {',
    instead: `at(threadId: string, { stamp, seq }: Place): KnownThread | undefined {
      const alike = this.#byThread.get(threadId)?.find(([, { state }]) => state.context.seq === seq);
      if (alike !== undefined) return alike[1];`,
  },
};
