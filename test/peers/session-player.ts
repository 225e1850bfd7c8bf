import type { JsonObject } from "@colloquy/machine";
import { tool } from "@colloquy/runtime-node";
import { type ScriptedModel, scriptedModel } from "@colloquy/runtime-test/models";
import {
  fromDspySession,
  type Memory,
  react,
  scoreOf,
  session,
  type Session,
  type SessionOptions,
} from "@colloquy/sessions";
import * as Either from "fp-ts/lib/Either.js";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { line, type Player, promptsOf, scriptLine, viewed } from "./table.ts";

const fields = z.record(z.string(), z.json());
const exchange = z.tuple([fields, fields]);

const step = z.union([
  z.strictObject({
    call: fields,
    history: z.array(exchange).optional(),
    as: z.enum(["override", "useIfProvided", "replaceSession"]).default("override"),
  }),
  z.strictObject({ add: exchange }),
  z.strictObject({ undo: z.number() }),
  z.strictObject({ reset: z.literal(true) }),
  z.strictObject({ checkpoint: z.string() }),
  z.strictObject({ restore: z.string() }),
  /** Goes to a fork, to the copy that a save and a load make, to the first session, to a user. */
  z.strictObject({ to: z.enum(["fork", "copy", "first"]) }),
  z.strictObject({ user: z.string() }),
  z.strictObject({ load: fields }),
  z.strictObject({ swap: fields }),
  /** Scores the turns: 1 where the outputs contain the text; null where the metric throws. */
  z.strictObject({ score: z.string().nullable() }),
]);
type Step = z.infer<typeof step>;

const given = z.strictObject({
  options: z
    .strictObject({
      maxTurns: z.number().exactOptional(),
      maxStoredTurns: z.number().exactOptional(),
      excludeFields: z.array(z.string()).exactOptional(),
      onlyInputFields: z.array(z.string()).exactOptional(),
    })
    .default({}),
  compression: z.string().optional(),
  seed: z.array(exchange).optional(),
  /** The outputs of the calls, one after the other; a string is thrown. Default: A1, A2 and so on. */
  outputs: z.array(z.union([fields, z.string()])).default([]),
  /** The model of a program that reasons with tools. Without it, the program is a function. */
  script: z.array(line).optional(),
  modelSteps: z.number().optional(),
  summaries: z.array(z.string()).optional(),
  describes: z.string().optional(),
  hook: z.enum(["counts", "throws"]).default("counts"),
  /** A session within the program, which calls it this often. */
  child: z
    .strictObject({ lifespan: z.enum(["persistent", "episodic", "shared", "stateless"]), calls: z.number() })
    .optional(),
  steps: z.array(step),
  examples: z
    .strictObject({
      minScore: z.number().exactOptional(),
      strict: z.boolean().exactOptional(),
      includeHistory: z.boolean().exactOptional(),
    })
    .default({}),
});
type Given = z.infer<typeof given>;
type Fields = z.infer<typeof fields>;

/** Plays calls of a session, and everything that is done with its turns. */
export const playSession: Player = async (from, views) => {
  const parsed = given.parse(from);
  let stage: Stage;
  try {
    stage = new Stage(parsed);
  } catch (error) {
    return viewed({ refused: () => messageOf(error) }, views);
  }
  await stage.play();
  return viewed(stage.views(), views);
};

class Stage {
  readonly #given: Given;
  readonly #first: Session<Fields, Fields, Fields>;
  readonly #child: Session<Fields, Fields, Fields> | null;
  readonly #seen: Memory[] = [];
  readonly #hooked: number[] = [];
  readonly #described: unknown[] = [];
  readonly #results: unknown[] = [];
  readonly #failures: string[] = [];
  readonly #ended: SummariesWritten = new SummariesWritten();
  readonly #model: ScriptedModel;
  #calls = 0;
  #now: Session<Fields, Fields, Fields>;

  constructor(from: Given) {
    this.#given = from;
    const { child } = from;
    const lifespan = child?.lifespan;
    this.#child =
      lifespan === undefined
        ? null
        : session<Fields, Fields>((_, { memory }) => this.#answer(memory), {
            name: "child",
            lifespan,
            ...consolidating(lifespan),
          });
    const limits = from.modelSteps === undefined ? {} : { steps: from.modelSteps };
    const reasoning = react({ inputs: fields, outputs: z.object({ answer: z.string() }), tools, limits });
    this.#model = scriptedModel((from.script ?? []).map(scriptLine));
    this.#first = session<Fields, Fields>(async (inputs, context) => {
      const { memory } = context;
      if (from.script !== undefined) return reasoning(inputs, context);
      for (let count = 1; count < (child?.calls ?? 0); count++) await this.#child?.call(inputs);
      if (this.#child !== null) return this.#child.call(inputs);
      return this.#answer(memory);
    }, this.#options());
    this.#now = this.#first;
    onTestFinished(async () => {
      await this.#first.close();
      await this.#child?.close();
    });
  }

  async play(): Promise<void> {
    for (const each of this.#given.steps) {
      try {
        this.#results.push(await this.#take(each));
      } catch (error) {
        this.#results.push(`! ${messageOf(error)}`);
        this.#failures.push(error instanceof Error ? error.name : typeof error);
      }
    }
  }

  async #take(each: Step): Promise<unknown> {
    const now = this.#now;
    if ("call" in each) {
      const exchanges = each.history?.map(exchanged);
      const result = await now.call(each.call, exchanges === undefined ? {} : { history: { exchanges, as: each.as } });
      if (this.#given.summaries !== undefined) await this.#ended.until(this.#calls);
      return result;
    }
    if ("add" in each) return now.addTurn(exchanged(each.add));
    if ("undo" in each) return (await now.undo(each.undo)).map(({ inputs }) => inputs);
    if ("reset" in each) return now.reset();
    if ("checkpoint" in each) return now.checkpoint(each.checkpoint);
    if ("restore" in each) return now.restore(each.restore);
    if ("score" in each) return now.score(metricOf(each.score));
    if ("swap" in each) return now.swap(() => each.swap);
    if ("user" in each) this.#now = now.user(each.user);
    else if ("load" in each) {
      const file = fromDspySession(each.load);
      if (Either.isLeft(file)) throw new Error(file.left);
      this.#now = await now.load(file.right.saved, { threadId: "theirs" });
    } else if (each.to === "first") this.#now = this.#first;
    else this.#now = each.to === "fork" ? await now.fork() : await now.load(await now.save(), { threadId: "copy" });
    return null;
  }

  #answer(memory: Memory): Fields {
    this.#seen.push(memory);
    const outputs = this.#given.outputs[this.#calls] ?? { answer: `A${this.#calls + 1}` };
    this.#calls += 1;
    if (typeof outputs === "string") throw new Error(outputs);
    return outputs;
  }

  #options(): SessionOptions<Fields, Fields, Fields, Fields> & { readonly signature?: undefined } {
    const { options, seed, summaries, describes, script, hook } = this.#given;
    const left = [...(summaries ?? [])];
    // Cast: one row gives a level that there is not, to see it refused.
    const compression = this.#given.compression as "concise" | undefined;
    return {
      name: "qa",
      ...options,
      ...(compression === undefined ? {} : { compression }),
      ...(seed === undefined ? {} : { seed: seed.map(exchanged) }),
      ...(summaries === undefined ? {} : { summariser: () => left.shift() ?? "" }),
      ...(describes === undefined
        ? {}
        : {
            describe: (inputs) => {
              this.#described.push(Object.keys(inputs));
              return describes;
            },
          }),
      ...(script === undefined ? {} : { llm: this.#model, tools }),
      onTurn: ({ number }) => {
        this.#hooked.push(number);
        if (hook === "throws") throw new Error("hook");
      },
      host: { onObserverError: () => {}, observers: [this.#ended] },
    };
  }

  views(): Readonly<Record<string, () => unknown>> {
    const now = this.#now;
    const turns = () => now.turns();
    const child = () => (this.#child ?? now).under(this.#first);
    return {
      results: () => this.#results,
      failures: () => this.#failures,
      count: () => now.count(),
      turns: async () => (await turns()).map(({ inputs, outputs }) => [inputs, outputs]),
      scores: async () => (await turns()).map(scoreOf),
      memory: async () => exchangesOf(await now.memory()),
      text: async () => (await now.memory()).text,
      summaries: async () => (await now.summaries()).map(({ text }) => text),
      checkpoints: async () => (await now.checkpoints()).map(({ name }) => name),
      snapshots: async () => {
        const memories: unknown[] = [];
        for (const { number } of await turns()) memories.push(exchangesOf((await now.promptOfTurn(number))?.memory));
        return memories;
      },
      examples: async () =>
        (await now.examples(this.#given.examples)).map(({ inputs, outputs, history }) => [
          inputs,
          outputs,
          ...(history === undefined ? [] : [exchangesOf(history)]),
        ]),
      seen: () => this.#seen.map(exchangesOf),
      depths: () => this.#seen.map(({ exchanges }) => exchanges.length),
      prompts: () => promptsOf(this.#model),
      elsewhere: () => now.thread.id !== this.#first.thread.id,
      hooked: () => this.#hooked,
      described: () => this.#described,
      childCount: () => child().count(),
      childText: async () => (await child().memory()).text,
    };
  }
}

/** Counts summaries, and waits for them. */
class SummariesWritten {
  #written = 0;
  #news = Promise.withResolvers<void>();

  signal({ type }: { readonly type: string }): void {
    if (type !== "summary.completed") return;
    this.#written += 1;
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  async until(count: number): Promise<void> {
    while (this.#written < count) await this.#news.promise;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const exchanged = ([inputs, outputs]: z.infer<typeof exchange>) => ({ inputs, outputs });

const exchangesOf = (
  memory:
    | Pick<Memory, "exchanges">
    | { readonly exchanges: readonly { inputs: object; outputs: object }[] }
    | undefined,
): readonly JsonObject[] => (memory?.exchanges ?? []).map(({ inputs, outputs }) => ({ ...inputs, ...outputs }));

const metricOf =
  (text: string | null) =>
  ({ outputs }: { readonly outputs: object }): boolean => {
    if (text === null) throw new Error("intentional error");
    return JSON.stringify(outputs).includes(text);
  };

const consolidating = (lifespan: string) =>
  lifespan === "episodic"
    ? {
        consolidate: (past: string, transcript: readonly unknown[]) =>
          [past, `turns=${transcript.length}`].filter((text) => text !== "").join("|"),
      }
    : {};

const tools = [
  tool({
    name: "get_weather",
    description: "The weather.",
    input: z.object({ city: z.string() }),
    run: ({ city }) => `Sunny in ${city}`,
  }),
  tool({
    name: "lookup",
    description: "Finds something.",
    input: z.object({ query: z.string() }),
    run: ({ query }) => `found ${query}`,
  }),
  tool({
    name: "failing",
    description: "Fails.",
    input: z.object({}),
    run: () => Promise.reject(new Error("tool blew up")),
  }),
];
