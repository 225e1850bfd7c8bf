import type { AskOptions } from "./ask-event.ts";
import { AskRefusedError } from "../boundary/errors.ts";
import type { Ids } from "../ports/ids.ts";
import { Ask } from "./ask.ts";

/** The handle of an ask whose options can't be meant: nothing is told to the thread. */
export const refusedAsk = (threadId: string, ids: Ids, options: AskOptions | null, reason: string): Ask => {
  const ask = new Ask(threadId, options?.askId ?? ids.draw("ask"), undefined, () => true);
  ask.fail(new AskRefusedError(threadId, ask.askId, { kind: "invalid", reason }));
  return ask;
};
