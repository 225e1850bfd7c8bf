import type { CallLlm, FailureKind, Json, ReportedUsage, CallTool, JsonObject } from "@colloquy/machine";
import {
  type FailureScript,
  reply,
  type ReplyOptions,
  type ScriptLine,
  toolCalls,
  type ToolCallScript,
} from "../../models/index.ts";
import { Random, type World } from "../world/world.ts";
import { type AskOptions, tool, type Tool, type ToolDefinition } from "@colloquy/host";

/** Makes the replies of the simulated model. The same call gets the same reply, from any process, however often. */
export const madeUpReply =
  (world: World, tools: readonly [string, ...string[]]) =>
  (call: CallLlm): ScriptLine => {
    if (call.purpose === "summary") return madeUpSummary(world, call);
    const random = new Random(world.seed, `reply ${call.id}`);
    const options = {
      delayMs: random.whole(0, 40),
      ...(random.chance(0.7) ? { usage: usageFrom(random) } : {}),
      ...(random.chance(0.2) ? { model: "simulated-1", responseId: `response of ${call.id}` } : {}),
    };
    const wantsTools = !world.calm && random.chance(chancesOfTools[call.step - 1] ?? 0);
    const callers = callersCallFrom(new Random(world.seed, `call of the caller's ${call.id}`), call);
    if (!wantsTools && callers.length > 0) return toolCalls(callers, options);
    if (!wantsTools && call.output !== undefined) return madeUpOutput(world, call, options);
    if (!wantsTools) return reply(`This is what I say to ${call.id}.`, { ...options, deltas: deltasOf(call, random) });
    const calls = Array.from({ length: random.whole(1, 3) }, (_, position) =>
      toolCallFrom(world, random, tools, position),
    );
    return toolCalls([...calls, ...callers], { ...options, ...(random.chance(0.3) ? { content: "Let me see." } : {}) });
  };

/** Returns an answer to a call that asks for an output: usually a valid one, otherwise one of each invalid kind. */
const madeUpOutput = (world: World, call: CallLlm, options: ReplyOptions): ScriptLine => {
  const random = new Random(world.seed, `output ${call.id}`);
  const text = JSON.stringify({ even: random.whole(0, 4) * 2 });
  if (random.chance(0.4)) return reply(text, { ...options, deltas: [text.slice(0, 6), text.slice(6)] });
  return random.pick<ScriptLine>([
    reply(`\`\`\`json\n${text}\n\`\`\``, options),
    reply(JSON.stringify({ even: 7 }), options),
    reply(JSON.stringify({ even: 7 }), options),
    reply(JSON.stringify({ even: "none" }), options),
    reply("I have no idea.", options),
    reply(text.slice(0, 5), { ...options, finishReason: "length" }),
    { ...reply("", options), pieces: [{ refusal: "That I won't say." }] },
  ]);
};

const madeUpSummary = (world: World, call: CallLlm): ScriptLine => {
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

/** The chance of tool calls in each of the first steps of a turn; later ones answer. */
const chancesOfTools = [0.5, 0.4, 0.25];

const deltasOf = ({ id }: CallLlm, random: Random): readonly string[] => {
  const pieces = ["This is what ", `I say to ${id}`, "."];
  return random.chance(0.5) ? pieces : [pieces.join("")];
};

const toolCallFrom = (
  world: World,
  random: Random,
  tools: readonly [string, ...string[]],
  position: number,
): ToolCallScript => ({
  name: world.hits("unknownTool", random) ? "guess" : random.pick(tools),
  arguments: argumentsFrom(world, random),
  id: world.hits("repeatedCallId", random)
    ? random.pick(["call_0", "", null])
    : `call_${position}_${random.whole(0, 999)}`,
});

const argumentsFrom = (world: World, random: Random): Json =>
  world.hits("invalidArguments", random)
    ? random.pick<Json>(['{"about": "half a st', { above: 1 }, "null", { about: 5 }, "[]"])
    : { about: `thing ${random.whole(1, 9)}` };

const usageFrom = (random: Random): ReportedUsage => ({
  inputTokens: random.whole(1, 200),
  ...(random.chance(0.8) ? { outputTokens: random.whole(0, 60) } : {}),
  ...(random.chance(0.2) ? { cacheReadTokens: random.whole(0, 20) } : {}),
});

/** Returns a failure of any kind. Most can be retried. */
export const failureFrom = (random: Random): FailureScript => {
  const kind = random.pick(failureKinds);
  return {
    kind,
    message: `simulated: ${kind}`,
    ...(random.chance(0.2) ? { retryAfterMs: random.whole(0, 150) } : {}),
    ...(random.chance(0.1) ? { retryable: random.chance(0.5) } : {}),
  };
};

const failureKinds: readonly [FailureKind, ...FailureKind[]] = [
  "rate_limit",
  "overloaded",
  "timeout",
  "network",
  "truncated",
  "unknown",
  "auth",
  "bad_request",
  "context_length",
  "content_filter",
];

const parameters = {
  type: "object",
  properties: { about: { type: "string" } },
  required: ["about"],
  additionalProperties: false,
};

const simulated = (
  name: string,
  options: Pick<
    ToolDefinition<{ readonly jsonSchema: JsonObject }>,
    "recovery" | "approval" | "timeoutMs" | "concurrency"
  >,
  found = "",
): Tool =>
  tool({
    name,
    description: `Does what "${name}" stands for.`,
    input: { jsonSchema: parameters },
    ...options,
    run: (_, { idempotencyKey }) => `${name} of ${idempotencyKey}${found}`,
  });

/**
 * One tool of each kind of recovery, one that always needs an approval, one that needs it for some arguments, and one
 * with a time limit, one call at a time and a result that may be too long for a prompt.
 */
export const simulatedTools: readonly Tool[] = [
  simulated("lookup", { recovery: "rerun" }),
  simulated("note", {}),
  simulated("pay", { recovery: "once" }),
  simulated("ship", { recovery: "ask" }),
  simulated("post", { recovery: "once", approval: "always" }),
  simulated("mail", { approval: (input) => JSON.stringify(input).includes("thing 1") }),
  simulated("search", { recovery: "rerun", timeoutMs: 60, concurrency: 1 }, `: ${"page after page ".repeat(20)}`),
];

/** The tool that some simulated asks have. Only the caller answers its calls. */
const name = "ask_user";

/** Returns the tools of an ask, from a random stream of their own. */
export const callersToolsFrom = (random: Random): { readonly tools?: NonNullable<AskOptions["tools"]> } =>
  random.chance(0.15)
    ? { tools: [{ name, description: "Asks the user.", input: { jsonSchema: { type: "object" } } }] }
    : {};

/** Returns a model's call of the tool, if it was offered; mostly none. */
const callersCallFrom = (random: Random, { tools, step }: CallLlm): readonly ToolCallScript[] => {
  const isOffered = tools?.some((tool) => tool.name === name) === true;
  if (!isOffered || step > 3 || random.chance(0.4)) return [];
  return [{ name, arguments: { what: "Which one?" }, id: "call_0" }];
};

export const callersAnswer = ({ id }: Pick<CallTool, "id">): string => `What was wanted for ${id}.`;
