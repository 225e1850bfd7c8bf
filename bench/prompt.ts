// Compares the cost of a prompt late in a long thread with an early one. A window shows as many messages of both.
import { type ConversationMachine, promptOf, type State, transition } from "@colloquy/machine";
import { longThread, windowMachine } from "./kit/long-thread.ts";
import { type Figure, figureOf, type Pair, pair, times } from "./kit/measure.ts";
import { answerText, userText } from "./kit/script.ts";

const long = 100_000;
const brief = 1_000;

export const benchmark = async (given: number): Promise<readonly Figure[]> => {
  // A round takes milliseconds, so that a single pause for garbage would decide a few of them.
  const rounds = 10 * given;
  const machine = windowMachine();
  const states = { ours: longThread(long), reference: longThread(brief) };
  const prompts = 500;
  const decided = await pair(
    rounds,
    prompts,
    () => times(prompts, () => promptOf(machine, states.ours)),
    () => times(prompts, () => promptOf(machine, states.reference)),
  );
  // Several collections of garbage fall into each round. With one in two rounds, they fell to the same side each time.
  const turns = 1_000;
  const taken = await pair(
    rounds,
    turns,
    () => takeTurns(machine, states.ours, turns),
    () => takeTurns(machine, states.reference, turns),
  );
  return [figure("promptOf", decided), figure("an ask and its reply", taken)];
};

const figure = (what: string, measured: Pair): Figure =>
  figureOf(`${what} at ${long} messages / at ${brief}`, measured, 1.5);

/** Runs consecutive turns from a state, at which the next round starts again. */
const takeTurns = (machine: ConversationMachine, from: State, turns: number): void => {
  let state = from;
  const first = from.context.conversation.turns.length + 1;
  for (let turn = first; turn < first + turns; turn++) {
    const asked = transition(machine, state, {
      type: "ask.received",
      at: turn,
      askId: `ask-${turn}`,
      input: userText(turn),
    });
    if (!asked.handled) throw new Error(asked.refusal.reason);
    const replied = transition(machine, asked.state, {
      type: "llm.completed",
      at: turn,
      effectId: `long/${turn}.1#1`,
      reply: { content: answerText(turn) },
      finishReason: "stop",
    });
    if (!replied.handled) throw new Error(replied.refusal.reason);
    state = replied.state;
  }
};
