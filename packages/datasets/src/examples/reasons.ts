import { type Message, type State, toArray, turnNumbered } from "@colloquy/machine";
import { redactedText } from "@colloquy/machine/storage";
import type { LeftOutBecause } from "./example.ts";
import type { RecordedCall } from "./recorded-calls.ts";

/** Why a call is no example, as its thread stands at the end; null where it is one. */
export const reasonAgainst = (call: RecordedCall, end: State): LeftOutBecause | null => {
  const turn = turnNumbered(end, call.turn);
  if (turn === undefined) return "open";
  if (turn.outcome.status !== "completed") return turn.outcome.status;
  const reply = toArray(turn.messages).find(({ id }) => id === call.reply.id);
  // Refused outputs are no part of a closed turn.
  if (reply === undefined) return "refused";
  if (reply.incomplete === true) return "interrupted";
  if (reply.truncated !== undefined || cutOff.includes(call.finishReason ?? "")) return "truncated";
  if (call.isRedacted || [...call.prompt, call.reply].some(isRedacted)) return "redacted";
  if (!call.isAsSent) return "unrecorded";
  if (call.isRecovered) return "recovered";
  // The summary of other turns is made by the machine too, and is what a model was shown on purpose.
  if ([...call.prompt, call.reply].some(({ id, synthesised }) => synthesised === true && isOf(call.turn, id)))
    return "synthesised";
  if (call.reply.metadata?.["weight"] === 0) return "untrained";
  if (call.prompt.at(-1)?.role === "assistant") return "continues";
  return call.prompt.length === 0 || call.reply.parts.length === 0 ? "empty" : null;
};

/** How providers say that a reply was not ended by the model. */
const cutOff: readonly string[] = ["length", "max_tokens", "max_output_tokens", "content_filter"];

const isOf = (turn: number, messageId: string): boolean => messageId.startsWith(`${turn}.`);

/** A message that quotes these words is taken for a redacted one: an example less, and nothing that was to be gone. */
const isRedacted = ({ parts }: Message): boolean => JSON.stringify(parts).includes(redactedText);
