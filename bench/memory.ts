// Measures, in its own process, the memory that a prompt of a long thread takes beside the thread.
import type { Figure } from "./kit/measure.ts";
import { reportOf } from "./kit/report.ts";
import type { PromptMemory } from "./prompt-memory.ts";

const long = 100_000;

export const benchmark = async (): Promise<readonly Figure[]> => {
  const { first, next, kept } = await memoryOfPrompt();
  return [
    {
      name: `MB allocated for a prompt at ${long} messages, the thread aside`,
      value: Math.max(first, next) / 1e6,
      most: 2,
      note: `${first} bytes for the first, ${next} for the next, of which ${kept} stay as counts`,
    },
  ];
};

const memoryOfPrompt = (): Promise<PromptMemory> =>
  reportOf<PromptMemory>(
    new URL("prompt-memory.ts", import.meta.url),
    [String(long)],
    ["--expose-gc", "--min-semi-space-size=64", "--max-semi-space-size=64"],
  );
