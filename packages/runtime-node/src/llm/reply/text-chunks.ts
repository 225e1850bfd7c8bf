import type { JsonObject } from "@colloquy/machine";
import type { StopFilter } from "@colloquy/templates";
import type { ChatFormat } from "./chat-stream.ts";
import { isObject, isText, listOf, textOf } from "./loose-json.ts";

/**
 * Reads text completions as chat completions: their text, as far as it is the answer, as the message. A server that writes on
 * after a stop pattern sends nothing of use.
 *
 * @param filter What takes the answer out of the text.
 */
export const textChunks = (filter: StopFilter): ChatFormat => {
  let overrun = false;
  const choiceOf = ({ text: written, ...choice }: JsonObject, whole: boolean): JsonObject => {
    const text = textOf(written);
    overrun ||= filter.stopped() && text !== "";
    const reason = choice["finish_reason"];
    const content = filter.push(text) + (whole || isText(reason) ? filter.end() : "");
    return {
      ...choice,
      message: { role: "assistant", content },
      ...(filter.stopped() ? { finish_reason: "stop" } : {}),
    };
  };
  return {
    read: (value, whole = false) => {
      if (!isObject(value) || value["choices"] === undefined) return value;
      // There is one answer, the choice of index 0.
      const choices = listOf(value["choices"])
        .filter(isObject)
        .filter(({ index = 0 }) => index === 0);
      return { ...value, choices: choices.map((choice) => choiceOf(choice, whole)) };
    },
    isOver: () => overrun,
  };
};
