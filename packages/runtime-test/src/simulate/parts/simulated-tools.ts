import type { Tool, ToolCall } from "@colloquy/host";
import { never, type SimulatedProcess } from "../world/process.ts";
import { checkToolCall } from "../checks/performed.ts";
import { Random } from "../world/random.ts";
import type { ToolLedger } from "../world/tool-ledger.ts";
import type { WatchedJournal } from "../checks/watched-journal.ts";
import type { World } from "../world/world.ts";

/** Wraps tools as a process runs them: with delays and failures, and recorded in the ledger. */
export const toolsIn = (
  world: World,
  process: SimulatedProcess,
  journal: WatchedJournal,
  ledger: ToolLedger,
  tools: readonly Tool[],
): readonly Tool[] =>
  tools.map((tool) => ({
    ...tool,
    run: (input, call) => runTool({ world, process, journal, ledger, tool }, input, call),
  }));

interface Workshop {
  readonly world: World;
  readonly process: SimulatedProcess;
  readonly journal: WatchedJournal;
  readonly ledger: ToolLedger;
  readonly tool: Tool;
}

const runTool = async (workshop: Workshop, input: unknown, call: ToolCall): Promise<unknown> => {
  const { world, process, journal, ledger, tool } = workshop;
  const { name } = tool.declaration;
  if (!process.crosses("before a tool runs")) return never();
  const key = effectOf(journal, call);
  process.note(`runs ${name} (${key})`);
  if (call.idempotencyKey !== `${call.threadId}/${call.callId}#1`)
    world.breaks("R2", `${name} (${key}) runs under the key ${call.idempotencyKey}`);
  checkToolCall(world, process, journal, tool, key);
  const random = new Random(world.seed, `tool ${key} ${ledger.of(key).length}`);
  const run = ledger.begin(key, { tool: name, process: process.name });
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

/** Returns the effect that a run performs: one of several attempts, if the call was approved. */
const effectOf = ({ outstanding }: WatchedJournal, { callId, idempotencyKey }: ToolCall): string =>
  outstanding.find((effect) => effect.type === "callTool" && effect.callId === callId)?.id ?? idempotencyKey;

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new Error("it was stopped"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
