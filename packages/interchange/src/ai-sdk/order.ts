import type { JsonObject, Part, ToolCallDraft, ToolCallPart } from "@colloquy/machine";
import { aiPlace } from "../exchange/foreign.ts";

// A reply says what it says first, and calls last. Where reasoning or a text came behind a call, the call's `provider` says
// which part it stood before.

/** The calls with the place where they stood: before the part of that index. Those that have one keep it. */
export const placedBefore = (index: number, calls: readonly ToolCallDraft[]): readonly ToolCallDraft[] =>
  calls.map((call) =>
    call.provider?.[aiPlace] === undefined ? { ...call, provider: { ...call.provider, [aiPlace]: index } } : call,
  );

/** The parts of a reply in the order in which they came. */
export const inOrder = (parts: readonly Part[]): readonly Part[] => {
  const calls = parts.filter((part) => part.type === "toolCall");
  const said = parts.filter((part) => part.type !== "toolCall");
  return [...said.flatMap((part, index) => [...takenBefore(index, calls), part]), ...calls];
};

/** What a call's `provider` holds beside its place; undefined for nothing. */
export const withoutPlace = (provider: JsonObject | undefined): JsonObject | undefined => {
  const { [aiPlace]: _, ...others } = provider ?? {};
  return Object.keys(others).length === 0 ? undefined : others;
};

/** Takes the calls from the beginning of the list that stood before that part. */
const takenBefore = (index: number, calls: ToolCallPart[]): readonly Part[] => {
  const later = calls.findIndex(({ provider }) => {
    const place = provider?.[aiPlace];
    return typeof place !== "number" || place > index;
  });
  return calls.splice(0, later === -1 ? calls.length : later);
};
