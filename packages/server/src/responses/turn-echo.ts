import { type AskRecord, canonicalText, digestOf, type JsonObject, type State, turnNumbered } from "@colloquy/machine";
import { isJsonObject } from "../items/item.ts";
import { callerToolsKey } from "../items/turn-items.ts";
import { echoOf, type ResponseRequest } from "./response-request.ts";

/** Returns what a turn keeps of its request: the members that its responses repeat, and a digest. */
export const turnMetadata = (request: ResponseRequest): JsonObject => ({
  [echoKey]: echoOf(request),
  [digestKey]: digestOf(canonicalText(inputIn(request))),
  [callerToolsKey]: (request.tools ?? []).map(({ name }) => name),
});

/** Returns the members of a turn's request that its responses repeat; none if no response opened it. */
export const echoIn = (state: State, turn: number): JsonObject => {
  const echo = metadataOf(state, turn)?.[echoKey];
  return isJsonObject(echo) ? echo : {};
};

/** Returns the same for a queued ask. */
export const echoOfQueued = (state: State, askId: string): JsonObject => {
  const echo = state.context.queue.find((ask) => ask.askId === askId)?.metadata?.[echoKey];
  return isJsonObject(echo) ? echo : {};
};

/** Checks whether this request made an ask; true if unknown, as of an ask that was withdrawn before its turn. */
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
