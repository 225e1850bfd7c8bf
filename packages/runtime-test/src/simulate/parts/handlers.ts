import type { LlmContext, LlmHandler, LlmOutcome, Tool, ToolCall } from "@colloquy/host";
import type { CallLlm } from "@colloquy/machine";
import { fails, never as neverEnding, type ScriptLine } from "../../models/index.ts";
import { perform } from "../../models/perform.ts";
import { never, type SimulatedProcess, type ToolLedger } from "../world/process.ts";
import { checkModelCall, checkToolCall } from "../checks/journal.ts";
import { Random, SimulatedFailure, type World } from "../world/world.ts";
import { failureFrom } from "../script/made-up-reply.ts";
import { threadId, type WatchedJournal } from "../checks/watched-journal.ts";

type ReplyTo = (call: CallLlm) => ScriptLine;

/** Makes the model as a process calls it. It fails in each way that a model can, and may be late. */
export const modelIn =
  (
    process: SimulatedProcess,
    journal: WatchedJournal,
    replyTo: ReplyTo,
    onSwallowed: (call: CallLlm, outcome: LlmOutcome) => void,
  ): LlmHandler =>
  async (call, context) => {
    const { world } = journal;
    if (!process.crosses("before a model call")) return never();
    if (call.threadId !== threadId) return errand(process);
    process.note(`calls the model (${call.id})`);
    checkModelCall(process, journal, call);
    const random = new Random(world.seed, `model ${call.id} ${process.name} ${process.opening?.token ?? 0}`);
    world.scribbling.given(call);
    const work = { id: call.id, type: call.purpose, signal: context.signal } as const;
    process.work.add(work);
    try {
      if (world.hits("llmThrows", random)) throw new SimulatedFailure("the model's handler is broken");
      const line = lineFor(world, random, call, replyTo);
      const hears = heard(world, random, process, context);
      const outcome = await perform(line, call, hears, (position) => `call_${position}`);
      if (process.crosses("after a model call")) return world.scribbling.handsIn(outcome);
      onSwallowed(call, outcome);
      return await never();
    } finally {
      process.work.delete(work);
    }
  };

/** Answers an ask on another thread, after a delay. */
const errand = async (process: SimulatedProcess): Promise<LlmOutcome> => {
  await process.sleep(20);
  return { type: "completed", reply: { content: "Done." }, finishReason: "stop" };
};

const lineFor = (world: World, random: Random, call: CallLlm, replyTo: ReplyTo): ScriptLine => {
  if (world.hits("llmNever", random)) return neverEnding({ pieces: random.chance(0.5) ? ["Well", ", "] : [] });
  if (!world.hits("llmFails", random)) return replyTo(call);
  return fails(failureFrom(random), {
    delayMs: random.whole(0, 30),
    ...(random.chance(0.5) ? { partial: "I was about to say " } : {}),
    ...(random.chance(0.3) ? { usage: { inputTokens: random.whole(0, 90) } } : {}),
  });
};

/** Returns the context as the model uses it: deltas cross the process's boundary, and it may ignore the signal. */
const heard = (world: World, random: Random, process: SimulatedProcess, context: LlmContext): LlmContext => ({
  ...context,
  signal: world.hits("llmDeaf", random) ? new AbortController().signal : context.signal,
  onDelta: (delta) => {
    if (process.crosses("something shown")) context.onDelta(delta);
  },
});

/** Wraps tools as a process runs them: with delays and failures, and recorded in the ledger. */
export const toolsIn = (
  process: SimulatedProcess,
  journal: WatchedJournal,
  ledger: ToolLedger,
  tools: readonly Tool[],
): readonly Tool[] =>
  tools.map((tool) => {
    const { world } = journal;
    const { name } = tool.declaration;
    const run: Tool["run"] = async (input, call) => {
      if (!process.crosses("before a tool runs")) return never();
      const key = effectOf(journal, call);
      process.note(`runs ${name} (${key})`);
      if (call.idempotencyKey !== `${call.threadId}/${call.callId}#1`)
        world.breaks("R2", `${name} (${key}) runs under the key ${call.idempotencyKey}`);
      checkToolCall(process, journal, tool, key);
      const random = new Random(world.seed, `tool ${key} ${ledger.of(key).length}`);
      const run = ledger.begin(key, name);
      const work = { id: key, type: "callTool", signal: call.signal } as const;
      process.work.add(work);
      try {
        // Each run of a call takes the same time, so that a crash does not change the order of answers.
        await process.sleep(new Random(world.seed, `time of ${key}`).whole(0, 40));
        if (world.hits("toolNever", random)) await (world.hits("toolDeaf", random) ? never() : aborted(call.signal));
        if (world.hits("toolThrows", random)) throw new Error(`${name} is out of order`);
        if (call.signal.aborted && !world.hits("toolDeaf", random)) throw new Error("it was stopped");
        run.returned = await tool.run(input, call);
        world.scribbling.given(input, call.state(), call.toolContext);
        return process.crosses("after a tool ran") ? run.returned : await never();
      } finally {
        process.work.delete(work);
      }
    };
    return { ...tool, run };
  });

/** Returns the effect that a run performs: one of several attempts, if the call was approved. */
const effectOf = ({ outstanding }: WatchedJournal, { callId, idempotencyKey }: ToolCall): string =>
  outstanding.find((effect) => effect.type === "callTool" && effect.callId === callId)?.id ?? idempotencyKey;

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new Error("it was stopped"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
