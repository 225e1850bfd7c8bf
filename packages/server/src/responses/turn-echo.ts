import { type AskRecord, canonicalText, digestOf, type JsonObject, type State, turnNumbered } from "@colloquy/machine";
import { isJsonObject } from "../items/item.ts";
import { callerToolsKey } from "../items/turn-items.ts";
import { echoOf, type ResponseRequest } from "./response-request.ts";

/** What a turn keeps of the request that opened it: what its responses say again, and what tells the same request from another. */
export const turnMetadata = (request: ResponseRequest): JsonObject => ({
  [echoKey]: echoOf(request),
  [digestKey]: digestOf(canonicalText(inputIn(request))),
  [callerToolsKey]: (request.tools ?? []).map(({ name }) => name),
});

/** What the request of a turn said, as its responses say it again; nothing for a turn that no response opened. */
export const echoIn = (state: State, turn: number): JsonObject => {
  const echo = metadataOf(state, turn)?.[echoKey];
  return isJsonObject(echo) ? echo : {};
};

/** The same of an ask that waits for its turn. */
export const echoOfQueued = (state: State, askId: string): JsonObject => {
  const echo = state.context.queue.find((ask) => ask.askId === askId)?.metadata?.[echoKey];
  return isJsonObject(echo) ? echo : {};
};

/** Whether an ask was made by just this request. Of one that was withdrawn before it had a turn, that is not known: true. */
export const isAskedBy = (
  state: State,
  { askId, turn }: Pick<AskRecord, "askId" | "turn">,
  request: ResponseRequest,
): boolean => {
  const queued = state.context.queue.find((ask) => ask.askId === askId);
  if (turn === null && queued === undefined) return true;
  const kept = (turn === null ? queued?.metadata : metadataOf(state, turn)) ?? {};
  const given = turnMetadata(request);
  return [echoKey, digestKey].every((key) => canonicalText(kept[key] ?? null) === canonicalText(given[key] ?? null));
};

const echoKey = "response";
const digestKey = "responseInput";

const inputIn = ({ input }: ResponseRequest) => input ?? null;

const metadataOf = (state: State, turn: number): JsonObject | null => {
  const { open } = state.context;
  return (open?.number === turn ? open.metadata : turnNumbered(state, turn)?.metadata) ?? null;
};
