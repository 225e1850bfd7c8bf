import { messagesOf, noUsage, phaseOf, textOf, turnsOf } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import {
  type AskHandle,
  AskRefusedError,
  createHost,
  type Host,
  memoryStore,
  tool,
  TurnFailedError,
} from "@colloquy/runtime-node";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { type ScriptedModel, scriptedModel } from "@colloquy/runtime-test/models";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { line, type Player, promptsOf, scriptLine, viewed } from "./table.ts";

const said = z.tuple([z.enum(["user", "assistant"]), z.string()]);

const step = z.union([
  z.strictObject({
    ask: z.string(),
    /** Whether the next step comes before the end of the turn. */
    open: z.literal(true).optional(),
    steps: z.number().optional(),
    output: z.literal(true).optional(),
  }),
  z.strictObject({ steer: z.string(), during: z.string().optional() }),
  /** Waits until the last ask shows a part of this type. */
  z.strictObject({ until: z.string() }),
  z.strictObject({ cancel: z.string() }),
  z.strictObject({ decide: z.boolean() }),
  z.strictObject({ on: z.string() }),
  z.strictObject({ system: z.string().nullable() }),
  z.strictObject({ append: said }),
  z.strictObject({ addTurn: z.array(said) }),
  z.strictObject({ clear: z.literal(true) }),
]);
type Step = z.infer<typeof step>;

const given = z.strictObject({
  system: z.string().optional(),
  script: z.array(line),
  tools: z.array(z.enum(["add", "slow", "fast", "broken", "pay"])).default([]),
  /** The number of earlier turns that a prompt shows. */
  window: z.number().optional(),
  steps: z.array(step),
  /** The steps that come while the model works on a call, by the number of the call. */
  meanwhile: z.record(z.string(), z.array(step)).default({}),
});

const ticket = z.object({ category: z.enum(["billing", "other"]), confidence: z.number() });

/** Plays asks and steering on a host. */
export const playHost: Player = async (from, views) => {
  const { script, meanwhile, ...setting } = given.parse(from);
  const model = scriptedModel(script.map(scriptLine));
  const stage = new Stage(setting, model, async () => {
    for (const each of meanwhile[model.calls.length + 1] ?? []) await stage.take(each, true);
  });
  onTestFinished(() => stage.host.close());
  for (const each of setting.steps) await stage.take(each);
  return viewed(stage.views(), views);
};

class Stage {
  readonly host: Host;
  readonly #model: ScriptedModel;
  readonly #ran: string[] = [];
  readonly #signals: string[] = [];
  readonly #asks: AskHandle<unknown>[] = [];
  #on = "t";

  constructor(
    { system, window, tools }: Pick<z.infer<typeof given>, "system" | "window" | "tools">,
    model: ScriptedModel,
    beforeCall: () => Promise<void>,
  ) {
    this.#model = model;
    this.host = createHost({
      llm: async (...call) => {
        await beforeCall();
        return model(...call);
      },
      store: memoryStore(),
      clock: runningClock(),
      ids: sequentialIds(),
      tools: this.#tools().filter(({ declaration: { name } }) => tools.some((each) => each === name)),
      ...(system === undefined ? {} : { system }),
      ...(window === undefined ? {} : { machine: { policy: lastTurns(window) } }),
      observers: [{ signal: ({ type }) => void this.#signals.push(type) }],
    });
  }

  /** Takes a step. @param isMeanwhile whether an ask can't be awaited, since the turn waits for this step */
  async take(each: Step, isMeanwhile = false): Promise<void> {
    const thread = this.host.thread(this.#on);
    if ("ask" in each) {
      const limits = each.steps === undefined ? {} : { limits: { steps: each.steps } };
      const ask = each.output
        ? thread.ask(each.ask, { output: { schema: ticket, name: "ticket" } })
        : thread.ask(each.ask, limits);
      this.#asks.push(ask);
      if (!each.open && !isMeanwhile) await ask.catch(() => {});
    } else if ("steer" in each) {
      const { steer, during } = each;
      this.#asks.push(thread.steer(steer, during === undefined ? {} : { during }));
    } else if ("until" in each) {
      for await (const { type } of this.#asks.at(-1) ?? []) if (type === each.until) break;
    } else if ("decide" in each) {
      for (const { id, digest } of await thread.approvals())
        await (each.decide ? thread.approve(id, { digest }) : thread.deny(id, { digest }));
      for (const ask of this.#asks) await ask.catch(() => {});
    } else if ("cancel" in each) await thread.cancel(each.cancel);
    else if ("on" in each) this.#on = each.on;
    else if ("system" in each) await thread.changeSystem(each.system);
    else if ("append" in each) await thread.append({ role: each.append[0], content: each.append[1] });
    else if ("addTurn" in each) await thread.addTurn(each.addTurn.map(([role, content]) => ({ role, content })));
    else await thread.clear();
  }

  views(): Readonly<Record<string, () => unknown>> {
    const state = async () => this.host.thread(this.#on).state();
    return {
      answers: () => Promise.all(this.#asks.map(answerOf)),
      prompts: () => promptsOf(this.#model),
      offered: () => this.#model.calls.map(({ tools }) => (tools ?? []).map(({ name }) => name)),
      messages: async () => {
        const now = await state();
        return (now === null ? [] : messagesOf(now)).map((each) => `${each.role}: ${textOf(each)}`);
      },
      statuses: async () => {
        const now = await state();
        return (now === null ? [] : turnsOf(now)).map(({ outcome }) =>
          outcome.status === "completed" ? [outcome.status, outcome.finishReason] : [outcome.status],
        );
      },
      phase: async () => {
        const now = await state();
        return now && phaseOf(now);
      },
      usage: async () => {
        const now = await state();
        const { inputTokens, outputTokens } = (now === null ? [] : turnsOf(now)).at(-1)?.usage ?? noUsage;
        return [inputTokens.sum, outputTokens.sum];
      },
      ran: () => this.#ran,
      signals: () => this.#signals,
    };
  }

  #tools() {
    const name = (of: string) => ({ name: of, description: `The tool ${of}.` });
    const numbers = z.object({ a: z.number(), b: z.number() });
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = async (of: string, result: string | Promise<string>): Promise<string> => {
      const value = await result;
      this.#ran.push(of);
      return value;
    };
    const broken = () => {
      this.#ran.push("broken");
      throw new Error("out of order");
    };
    const fast = () => {
      resolve();
      return run("fast", "second");
    };
    return [
      tool({ ...name("add"), input: numbers, run: ({ a, b }) => run("add", String(a + b)) }),
      // Ends after `fast`, which is called after it.
      tool({
        ...name("slow"),
        input: z.object({}),
        run: () =>
          run(
            "slow",
            promise.then(() => "first"),
          ),
      }),
      tool({ ...name("fast"), input: z.object({}), run: fast }),
      tool({ ...name("broken"), input: z.object({}), run: broken }),
      tool({ ...name("pay"), input: z.object({}), approval: "always", run: () => run("pay", "paid") }),
    ];
  }
}

/** Returns the answer of an ask, or its error after an exclamation mark. */
const answerOf = async (ask: AskHandle<unknown>): Promise<unknown> => {
  const outcome: unknown = await ask.then(
    ({ text, output }) => output ?? text,
    (error: unknown) => error,
  );
  if (outcome instanceof AskRefusedError) return `! refused: ${outcome.refusal.kind}`;
  if (outcome instanceof TurnFailedError) return `! failed: ${outcome.failure.kind}`;
  return outcome instanceof Error ? `! ${outcome.name}` : outcome;
};
