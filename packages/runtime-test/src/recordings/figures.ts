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
export const addFigures = (left: Figures, right: Figures): Figures => {
  // The names of the figures are all that there are.
  const names = Object.keys(noFigures) as (keyof Figures)[];
  return { ...noFigures, ...Object.fromEntries(names.map((name) => [name, left[name] + right[name]])) };
};
