import { type JsonObject, type Message, type MessageDraft, messageFromDraft } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { type Fields, fieldsGiven, partsOf } from "./fields.ts";

/** One recorded call of a program. */
export interface Exchange {
  /** The number of its turn; 0 for an exchange that the caller gave, as a seed or in place of the thread's own. */
  readonly turn: number;
  readonly inputs: Fields;
  readonly outputs: Fields;
  readonly messages: readonly Message[];
}

/** An exchange as a caller passes it. */
export interface GivenExchange {
  readonly inputs: object;
  readonly outputs: object;
}

/** A plain exchange, as the journal contains it if a caller gave it. */
export interface PlainExchange extends JsonObject {
  readonly inputs: Fields;
  readonly outputs: Fields;
}

/** Returns copies of a caller's exchanges. @throws TypeError for values that JSON cannot express */
export const exchangesGiven = (what: string, given: readonly GivenExchange[]): readonly PlainExchange[] => {
  if (!Array.isArray(given)) throw new TypeError(`${what}: the exchanges are no list, of { inputs, outputs } each`);
  // Callers in JavaScript may pass anything.
  return given.map((exchange: Partial<GivenExchange> | null | undefined, place) => ({
    inputs: fieldsGiven(`the inputs of exchange ${place + 1} of ${what}`, exchange?.inputs),
    outputs: fieldsGiven(`the outputs of exchange ${place + 1} of ${what}`, exchange?.outputs),
  }));
};

/** Returns the two messages of an exchange. */
export const draftsOf = ({ inputs, outputs }: PlainExchange): readonly MessageDraft[] => [
  { role: "user", content: partsOf(inputs) },
  { role: "assistant", content: partsOf(outputs) },
];

/** Converts given exchanges to messages of a prompt: all in one turn, or in turns from 1 on if no turn is named. */
export const messagesOfExchanges = (exchanges: readonly PlainExchange[], turn?: number): readonly Message[] =>
  exchanges.flatMap((exchange, place) =>
    draftsOf(exchange).map((draft, index) =>
      frozenCopy(
        messageFromDraft(turn === undefined ? `${place + 1}.${index}` : `${turn}.${2 * place + index}`, draft),
      ),
    ),
  );
