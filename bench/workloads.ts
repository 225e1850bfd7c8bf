// Compares turns of other kinds with a plain one, which calls one tool, has four short messages, and shows everything.
// Each side talks for as many turns.
import type { LlmHandler } from "@colloquy/host";
import { clearResults, compose, lastMessages, lastTurns, type Policy, tokenWindow } from "@colloquy/machine/policies";
import { benchmarkHost } from "./kit/hosts.ts";
import { type Figure, figureOf, pair } from "./kit/measure.ts";
import { answerText, toolArguments, toolName, userText } from "./kit/script.ts";
import { lookupMachine } from "./kit/work.ts";

interface Work {
  readonly policy?: Policy;
  /** The calls of tools in each turn. */
  readonly calls?: number;
  /** The characters of the question and of the answer. */
  readonly characters?: number;
}

const turns = 100;

/** By name, with the bound of its figure. */
const workloads: readonly (readonly [name: string, work: Work, most: number])[] = [
  ["with three calls of tools", { calls: 3 }, 3],
  ["without tools", { calls: 0 }, 1],
  ["with texts of 10,000 characters", { characters: 10_000 }, 6],
  ["under lastTurns", { policy: lastTurns(10) }, 1.5],
  ["under lastMessages", { policy: lastMessages({ max: 40 }) }, 1.5],
  ["under tokenWindow", { policy: tokenWindow({ tokens: 2_500, reserve: 0 }) }, 2],
  ["under a composition", { policy: compose(clearResults({ keep: 3 }), lastTurns(10)) }, 2],
];

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => {
  const plain = talkOf({});
  const figures: Figure[] = [];
  for (const [name, work, most] of workloads) {
    const measured = await pair(rounds, turns, talkOf(work), plain);
    figures.push(figureOf(`a turn ${name} / a plain one`, measured, most));
  }
  return figures;
};

/** Returns a function that talks for these turns, each time on a new host. */
const talkOf = ({ policy, calls = 1, characters = 0 }: Work): (() => Promise<void>) => {
  const machine = lookupMachine(policy === undefined ? {} : { policy });
  const llm = modelOf(calls, characters);
  return async () => {
    const host = benchmarkHost({ machine, llm });
    const thread = host.thread("talk");
    for (let turn = 1; turn <= turns; turn++) await thread.ask(longer(userText(turn), characters));
    await host.close();
  };
};

const modelOf =
  (calls: number, characters: number): LlmHandler =>
  async ({ messages, turn }) => {
    const answers = calls === 0 || messages.at(-1)?.role === "tool";
    const toolCalls = Array.from({ length: calls }, (_, index) => ({
      id: `call_${turn}_${index}`,
      name: toolName,
      arguments: toolArguments(turn),
    }));
    return {
      type: "completed",
      reply: answers ? { content: longer(answerText(turn), characters) } : { toolCalls },
      finishReason: answers ? "stop" : "tool_calls",
      usage: { inputTokens: 100, outputTokens: 50, totalTokens: 150 },
    };
  };

const longer = (text: string, characters: number): string => text.padEnd(characters, " and so on");
