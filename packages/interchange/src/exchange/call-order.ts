import type { Json, JsonObject, Part, ToolCallDraft, ToolCallPart } from "@colloquy/machine";

// A reply has its content first and its calls last. If content came after a call, a member of the call's `provider`
// has the index of the part that it preceded: its place.

/** Reads and writes the place of a call in its `provider`. */
export interface CallPlace {
  readonly in: (provider: JsonObject | undefined) => Json | undefined;
  readonly added: (provider: JsonObject | undefined, place: number) => JsonObject;
}

/** Records the place of calls: before the part with that index. Calls with a place keep it. */
export const placedBefore = (
  index: number,
  calls: readonly ToolCallDraft[],
  place: CallPlace,
): readonly ToolCallDraft[] =>
  calls.map((call) =>
    place.in(call.provider) === undefined ? { ...call, provider: place.added(call.provider, index) } : call,
  );

/** Returns the parts of a reply in their order of arrival. Calls without a place come last. */
export const inOrder = (parts: readonly Part[], place: CallPlace): readonly Part[] => {
  const calls = parts.filter((part) => part.type === "toolCall");
  const said = parts.filter((part) => part.type !== "toolCall");
  return [...said.flatMap((part, index) => [...takenBefore(index, calls, place), part]), ...calls];
};

/** Removes and returns the leading calls that came before that part. */
const takenBefore = (index: number, calls: ToolCallPart[], place: CallPlace): readonly Part[] => {
  const later = calls.findIndex(({ provider }) => {
    const at = place.in(provider);
    return typeof at !== "number" || at > index;
  });
  return calls.splice(0, later === -1 ? calls.length : later);
};
