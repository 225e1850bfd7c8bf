import { registerHooks } from "node:module";

/** Mistakes in the workers of an engine, to see that each is noticed. */
export const faults = {
  "plain-step": "a tool that must not run twice runs in a step that is done again after a crash",
  "begins-again": "what nobody knows the outcome of is performed again",
  "no-stamp": "a state that a process keeps is taken for the thread's by its position alone",
} as const;

export type Fault = keyof typeof faults;

/** Where a source is made wrong: a text that stands there once. */
interface Mistake {
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

const sources = "/packages/runtime-restate/src/";

export const mistakes: Readonly<Record<Fault, Mistake>> = {
  "plain-step": {
    file: "perform.ts",
    text: 'if (this.#task.repetition !== "claimed")',
    instead: "if (true)",
  },
  "begins-again": {
    file: "perform.ts",
    text: 'if ("isLost" in outcome) return (await this.#lost()) ?? this.#perform();',
    instead: 'if ("isLost" in outcome) return this.#follow(await this.#step("again", this.#begin));',
  },
  "no-stamp": {
    file: "thread-state.ts",
    text: 'at(threadId: string, { stamp }: Pick<Place, "stamp">): KnownThread | undefined {',
    instead: `at(threadId: string, { stamp, seq }: Place): KnownThread | undefined {
      const alike = this.#byThread.get(threadId)?.find(([, { state }]) => state.context.seq === seq);
      if (alike !== undefined) return alike[1];`,
  },
};

/** Makes a source wrong as it is loaded, which is after this. @throws Error from then on, where it does not have the text once */
export const seedFault = (fault: Fault): void => {
  const { file, text, instead } = mistakes[fault];
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(sources + file)) return loaded;
      const source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      const parts = source.split(text);
      if (parts.length !== 2)
        throw new Error(`${file} has ${parts.length - 1} times what "${fault}" is put in place of`);
      return { ...loaded, source: parts.join(instead) };
    },
  });
};
