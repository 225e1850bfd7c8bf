import type { AskPart } from "@colloquy/host";

/** Joins consecutive deltas into one, as a late reader sees them. */
export const joined = (parts: readonly AskPart[]): readonly AskPart[] => {
  const all: AskPart[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    const goesOn =
      last !== undefined &&
      JSON.stringify({ ...last, text: "", arguments: "", name: "", providerCallId: "" }) ===
        JSON.stringify({ ...part, text: "", arguments: "", name: "", providerCallId: "" });
    if (goesOn && "text" in part && "text" in last) all[all.length - 1] = { ...part, text: last.text + part.text };
    else if (goesOn && part.type === "toolCall.delta" && last.type === "toolCall.delta")
      all[all.length - 1] = { ...part, arguments: last.arguments + part.arguments };
    else all.push(part);
  }
  return all;
};
