/** How much was replayed, counted at the machine. */
export interface Figures {
  readonly conversations: number;
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly userMessages: number;
  /** Messages of the conversations as they end, the system message included. */
  readonly messagesFinal: number;
  /** Messages of all prompts. */
  readonly messagesSent: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** Nothing was replayed. */
export const noFigures: Figures = {
  conversations: 0,
  llmCalls: 0,
  toolCalls: 0,
  toolResults: 0,
  userMessages: 0,
  messagesFinal: 0,
  messagesSent: 0,
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
};

/** The figures of two replays together. */
export const addFigures = (left: Figures, right: Figures): Figures => ({
  conversations: left.conversations + right.conversations,
  llmCalls: left.llmCalls + right.llmCalls,
  toolCalls: left.toolCalls + right.toolCalls,
  toolResults: left.toolResults + right.toolResults,
  userMessages: left.userMessages + right.userMessages,
  messagesFinal: left.messagesFinal + right.messagesFinal,
  messagesSent: left.messagesSent + right.messagesSent,
  promptTokens: left.promptTokens + right.promptTokens,
  completionTokens: left.completionTokens + right.completionTokens,
  totalTokens: left.totalTokens + right.totalTokens,
});
