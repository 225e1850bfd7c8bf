import { type Message, type State, toArray, turnNumbered } from "@colloquy/machine";
import { redactedText } from "@colloquy/machine/storage";
import type { LeftOutBecause } from "./example.ts";
import type { RecordedCall } from "./recorded-calls.ts";

/** Returns why a call is not an example, given the thread's end; null if it is one. */
export const reasonAgainst = (call: RecordedCall, end: State): LeftOutBecause | null => {
  const turn = turnNumbered(end, call.turn);
  if (turn === undefined) return "open";
  if (turn.outcome.status !== "completed") return turn.outcome.status;
  const reply = toArray(turn.messages).find(({ id }) => id === call.reply.id);
  // A closed turn does not contain refused outputs.
  if (reply === undefined) return "refused";
  if (reply.incomplete === true) return "interrupted";
  if (reply.truncated !== undefined || cutOff.includes(call.finishReason ?? "")) return "truncated";
  if (call.isRedacted || [...call.prompt, call.reply].some(isRedacted)) return "redacted";
  if (!call.isAsSent) return "unrecorded";
  if (call.isRecovered) return "recovered";
  // The machine also makes the summary of other turns, but the model was shown that on purpose.
  if ([...call.prompt, call.reply].some(({ id, synthesised }) => synthesised === true && isOf(call.turn, id)))
    return "synthesised";
  if (call.reply.metadata?.["weight"] === 0) return "untrained";
  if (call.prompt.at(-1)?.role === "assistant") return "continues";
  return call.prompt.length === 0 || call.reply.parts.length === 0 ? "empty" : null;
};

/** The finish reasons by which providers report that the model did not end the reply. */
const cutOff: readonly string[] = ["length", "max_tokens", "max_output_tokens", "content_filter"];

const isOf = (turn: number, messageId: string): boolean => messageId.startsWith(`${turn}.`);

/**
 * Returns whether a message is redacted. One that quotes the replacement text counts too: that costs an example, but
 * reveals nothing.
 */
const isRedacted = ({ parts }: Message): boolean => JSON.stringify(parts).includes(redactedText);
