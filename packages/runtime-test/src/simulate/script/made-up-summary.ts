import type { CallLlm } from "@colloquy/machine";
import { reply, type ScriptLine, toolCalls } from "../../models/index.ts";
import { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

/** What the simulated model writes when it is asked for a summary. */
export const madeUpSummary = (world: World, call: CallLlm): ScriptLine => {
  const random = new Random(world.seed, `summary ${call.id}`);
  const options = {
    delayMs: world.hits("summaryLate", random) ? random.whole(100, 600) : random.whole(0, world.calm ? 300 : 40),
    ...(random.chance(0.7) ? { usage: { inputTokens: random.whole(1, 200), outputTokens: random.whole(0, 60) } } : {}),
  };
  const text = `What was said up to ${call.id}.`;
  if (!world.hits("summaryUnusable", random)) return reply(text, options);
  return random.pick<ScriptLine>([
    reply("", options),
    reply(" \n", options),
    reply(text.repeat(20), options),
    reply(text, { ...options, finishReason: "length" }),
    toolCalls([{ name: "lookup", arguments: { about: "it" } }], { ...options, content: text }),
  ]);
};
