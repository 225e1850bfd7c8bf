// Measures, in its own process, the memory that a prompt of a long thread takes beside the thread.
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Figure } from "./kit/measure.ts";
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

const memoryOfPrompt = async (): Promise<PromptMemory> => {
  const child = spawn(
    process.execPath,
    [
      "--expose-gc",
      "--min-semi-space-size=64",
      "--max-semi-space-size=64",
      new URL("prompt-memory.ts", import.meta.url).pathname,
      String(long),
    ],
    { stdio: ["ignore", "inherit", "inherit", "ipc"] },
  );
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the process that measures ended with ${String(code)} and reported nothing`);
  });
  // Cast: our own process reports nothing else.
  const [report] = (await Promise.race([once(child, "message"), ended])) as [PromptMemory];
  return report;
};
