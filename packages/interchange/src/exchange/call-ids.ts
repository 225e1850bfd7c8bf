import { type Message, type ToolCallPart, toolCallsOf } from "@colloquy/machine";

/** The ids of calls in another format, by `callId`; null for no id. */
export type CallIds = ReadonlyMap<string, string | null>;

/**
 * Returns ids for the calls of messages, without duplicates: the provider's id if there is one, otherwise one derived
 * from the call's own. With `absent`, a call without a provider's id gets none.
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

/** Returns the id for a call without one. It consists of letters, digits and `_`, which all servers accept. */
export const derivedCallId = (callId: string): string => `call_${callId.replaceAll(/[^0-9A-Za-z]/g, "_")}`;
