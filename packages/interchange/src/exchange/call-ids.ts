import { type Message, type ToolCallPart, toolCallsOf } from "@colloquy/machine";

/** What each call goes by in another format, by `callId`; null for no id. */
export type CallIds = ReadonlyMap<string, string | null>;

/**
 * Ids for the calls of some messages, no two the same: the provider's where there is one, else one made from the call's
 * own. With `absent` a call that came without an id has none.
 */
export const callIdsOf = (messages: readonly Message[], missing: "derived" | "absent" = "derived"): CallIds => {
  const calls = messages.flatMap(toolCallsOf);
  const given = new Map<string, ToolCallPart>();
  for (const call of calls) {
    const id = call.providerCallId;
    if (id !== null && !given.has(id)) given.set(id, call);
  }
  const taken = new Set(given.keys());
  const ids = new Map<string, string | null>();
  for (const call of calls) {
    const { callId, providerCallId } = call;
    if (providerCallId === null ? missing === "absent" : given.get(providerCallId) === call) {
      ids.set(callId, providerCallId);
      continue;
    }
    let id = derivedCallId(callId);
    while (taken.has(id)) id += "_";
    taken.add(id);
    ids.set(callId, id);
  }
  return ids;
};

/** The id that a call without one goes by. Made of letters, digits and `_`, which all servers take. */
export const derivedCallId = (callId: string): string => `call_${callId.replaceAll(/[^0-9A-Za-z]/g, "_")}`;
