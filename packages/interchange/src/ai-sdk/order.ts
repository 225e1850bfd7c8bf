import type { JsonObject, Part, ToolCallDraft, ToolCallPart } from "@colloquy/machine";
import { aiPlace } from "../exchange/foreign.ts";

// A reply has its content first and its calls last. If reasoning or a text came after a call, the call's `provider`
// records the part that it preceded.

/** Records the place of calls: before the part with that index. Calls with a place keep it. */
export const placedBefore = (index: number, calls: readonly ToolCallDraft[]): readonly ToolCallDraft[] =>
  calls.map((call) =>
    call.provider?.[aiPlace] === undefined ? { ...call, provider: { ...call.provider, [aiPlace]: index } } : call,
  );

/** Returns the parts of a reply in their order of arrival. */
export const inOrder = (parts: readonly Part[]): readonly Part[] => {
  const calls = parts.filter((part) => part.type === "toolCall");
  const said = parts.filter((part) => part.type !== "toolCall");
  return [...said.flatMap((part, index) => [...takenBefore(index, calls), part]), ...calls];
};

/** Returns a call's `provider` without its place; undefined if nothing else is left. */
export const withoutPlace = (provider: JsonObject | undefined): JsonObject | undefined => {
  const { [aiPlace]: _, ...others } = provider ?? {};
  return Object.keys(others).length === 0 ? undefined : others;
};

/** Removes and returns the leading calls that came before that part. */
const takenBefore = (index: number, calls: ToolCallPart[]): readonly Part[] => {
  const later = calls.findIndex(({ provider }) => {
    const place = provider?.[aiPlace];
    return typeof place !== "number" || place > index;
  });
  return calls.splice(0, later === -1 ? calls.length : later);
};
