import type { LlmContext, LlmHandler, LlmOutcome } from "@colloquy/host";
import type { CallLlm } from "@colloquy/machine";
import { fails, never as neverEnding, type ScriptLine } from "../../models/index.ts";
import { perform } from "../../models/perform.ts";
import { never, type SimulatedProcess } from "../world/process.ts";
import { checkModelCall } from "../checks/performed.ts";
import { Random } from "../world/random.ts";
import { failureFrom } from "../script/made-up-reply.ts";
import { SimulatedFailure } from "../world/simulation-error.ts";
import { threadId, type WatchedJournal } from "../checks/watched-journal.ts";
import type { World } from "../world/world.ts";

/** Returns the model's reply to a call without faults. */
export type ReplyTo = (call: CallLlm) => ScriptLine;

/** Makes the model as a process calls it. It fails in each way that a model can, and may be late. */
export const modelIn =
  (
    world: World,
    process: SimulatedProcess,
    journal: WatchedJournal,
    replyTo: ReplyTo,
    onSwallowed: (call: CallLlm, outcome: LlmOutcome) => void,
  ): LlmHandler =>
  async (call, context) => {
    if (!process.crosses("before a model call")) return never();
    if (call.threadId !== threadId) return errand(process);
    process.note(`calls the model (${call.id})`);
    checkModelCall(world, process, journal, call);
    const random = new Random(world.seed, `model ${call.id} ${process.name} ${process.opening?.token ?? 0}`);
    world.scribbling.given(call);
    const work = { id: call.id, type: call.purpose, signal: context.signal } as const;
    process.work.add(work);
    try {
      if (world.hits("llmThrows", random)) throw new SimulatedFailure("the model's handler is broken");
      const line = lineFor(world, random, call, replyTo);
      const outcome = await perform(
        line,
        call,
        heard(world, random, process, context),
        (position) => `call_${position}`,
      );
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

/**
 * Returns the context as the model uses it. Its deltas cross the boundary of the process, and it may ignore the signal.
 */
const heard = (world: World, random: Random, process: SimulatedProcess, context: LlmContext): LlmContext => ({
  ...context,
  signal: world.hits("llmDeaf", random) ? new AbortController().signal : context.signal,
  onDelta: (delta) => {
    if (process.crosses("something shown")) context.onDelta(delta);
  },
});
