import type { QueuedAsk } from "@colloquy/machine";
import type { HandledStep } from "../../arbitraries/trace.ts";

/** The asks that joined the open turn and that a step makes asks of it. */
export const deliveredBy = ({ before, transition }: HandledStep): readonly QueuedAsk[] => {
  const [was, is] = [before.context.open, transition.state.context.open];
  if (was === null || is?.number !== was.number) return [];
  return was.joining.filter(({ askId }) => is.asks.some((ask) => ask.askId === askId));
};
