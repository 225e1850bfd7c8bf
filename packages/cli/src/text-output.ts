import type { AskHandle, AskResult } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";

/** Returns a handle to the same ask whose answer is the text of one output field, without the JSON around it. */
export const withTextOutput = (asked: AskHandle<JsonObject>, field: string): AskHandle => {
  const result = async (): Promise<AskResult> => {
    const { output, ...turn } = await asked;
    const text = output[field];
    return typeof text === "string" ? { ...turn, text } : turn;
  };
  return {
    get threadId() {
      return asked.threadId;
    },
    askId: asked.askId,
    get cursor() {
      return asked.cursor;
    },
    abort: (reason) => asked.abort(reason),
    // oxlint-disable-next-line unicorn/no-thenable -- a handle is awaited
    then: (onFulfilled, onRejected) => result().then(onFulfilled, onRejected),
    catch: (onRejected) => result().catch(onRejected),
    finally: (onSettled) => result().finally(onSettled),
    async *[Symbol.asyncIterator]() {
      for await (const part of asked) if (part.type !== "text.delta" && part.type !== "output.partial") yield part;
    },
  };
};
