/** The amount of replayed work, counted at the machine. */
export interface Figures {
  readonly conversations: number;
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly userMessages: number;
  /** The number of messages at the end of the conversations, the system message included. */
  readonly messagesFinal: number;
  /** The number of messages in all prompts. */
  readonly messagesSent: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** The figures of an empty replay. */
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

/** Adds the figures of two replays. */
export const addFigures = (left: Figures, right: Figures): Figures => {
  // `Object.keys` returns exactly the names of the figures.
  const names = Object.keys(noFigures) as (keyof Figures)[];
  return { ...noFigures, ...Object.fromEntries(names.map((name) => [name, left[name] + right[name]])) };
};
