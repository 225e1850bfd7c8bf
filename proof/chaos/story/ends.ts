import { type Message, messagesOf, outstanding, phaseOf, type State, toolResultOf, turnsOf } from "@colloquy/machine";

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
