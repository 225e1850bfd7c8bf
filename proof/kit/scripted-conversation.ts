// A conversation in which everything follows from turn, step and attempt, so that two runs of it differ only by what a
// crash did to them.
import { type LlmOutcome, tool, type Tool, type ToolCall, type ToolDefinition } from "@colloquy/host";
import {
  type CallLlm,
  type JsonObject,
  type Message,
  messagesOf,
  outstanding,
  phaseOf,
  type State,
  toolResultOf,
  turnsOf,
} from "@colloquy/machine";

/** The tools that each step of each turn calls; a step without calls ends the turn. */
export type Script = readonly (readonly (readonly string[])[])[];

/** The text that ends a turn. */
export const answerOf = (turn: number): string => `answer ${turn}, ${"whole and unbroken, ".repeat(8)}to its end`;

/** Returns the model's reply to a call. The first attempt of each call of one turn is rejected. */
export const scriptedOutcome = (
  script: Script,
  turnedAway: number,
  { id, purpose, turn, step, attempt }: CallLlm,
): LlmOutcome => {
  if (purpose === "summary") {
    const usage = { inputTokens: 7, outputTokens: 3 };
    return { type: "completed", reply: { content: `summary of ${id}` }, finishReason: "stop", usage };
  }
  if (turn === turnedAway && attempt === 1)
    return { type: "failed", failure: { kind: "overloaded", message: "try again", retryable: true } };
  const names = script[turn - 1]?.[step - 1] ?? [];
  // The provider's ids come again and again, as they do in the wild.
  const toolCalls = names.map((name, index) => ({ id: `call_${index}`, name, arguments: `{"turn":${turn}}` }));
  return {
    type: "completed",
    reply: names.length === 0 ? { content: answerOf(turn) } : { toolCalls },
    finishReason: names.length === 0 ? "stop" : "tool_calls",
    usage: { inputTokens: 10 * turn, outputTokens: step },
  };
};

type Rules = Pick<ToolDefinition<{ readonly jsonSchema: JsonObject }>, "recovery" | "approval" | "version">;

/** Tools by their names and rules, whose functions call `run`. */
export const scriptedTools = (
  rules: Readonly<Record<string, Rules>>,
  run: (name: string, call: ToolCall) => Promise<string>,
): readonly Tool[] =>
  Object.entries(rules).map(([name, rule]) =>
    tool({
      name,
      description: `Does what "${name}" says.`,
      input: { jsonSchema: { type: "object", properties: { turn: { type: "integer" } } } },
      ...rule,
      run: (_, call) => run(name, call),
    }),
  );

/**
 * Returns the problems at the end of a conversation: each ask must have a completed turn of its own, and nothing may be
 * outstanding.
 */
export const endProblems = (state: State, asks: readonly string[]): readonly string[] => {
  const turns = turnsOf(state).map(({ asks, outcome }) => `${asks.map(({ askId }) => askId).join()} ${outcome.status}`);
  const isAtRest = phaseOf(state) === "completed" && outstanding(state).length === 0;
  return [
    ...(turns.join() === asks.map((askId) => `${askId} completed`).join() ? [] : [`the turns are ${turns.join(", ")}`]),
    ...(isAtRest ? [] : ["it is not at rest"]),
  ];
};

/** Message by message the same as without a crash, except for the results of calls that a crash came upon. */
export const messageProblems = (state: State, uncrashed: State): readonly string[] => {
  const [messages, expected] = [messagesOf(state), messagesOf(uncrashed)];
  if (messages.length !== expected.length)
    return [`there are ${messages.length} messages, and ${expected.length} without a crash`];
  return messages.flatMap((message, index) => {
    const other = expected[index];
    return other === undefined || JSON.stringify(message) === JSON.stringify(other) || isSwallowed(message, other)
      ? []
      : [`message ${message.id} is not as it is without a crash`];
  });
};

const isSwallowed = (message: Message, other: Message): boolean => {
  const result = toolResultOf(message);
  return result !== undefined && result.outcome !== "completed" && result.callId === toolResultOf(other)?.callId;
};
