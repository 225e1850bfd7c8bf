import type { Json, JsonObject } from "@colloquy/machine";
import { type CanonicalMessage, canonicalOf } from "./canonical.ts";
import type { CommonFile, RecordedChatCase, RecordedStep } from "./case.ts";

/** The messages of a recording in canonical form, without any machine. Each prompt is a prefix of them. */
export interface Transcript {
  readonly messages: readonly TranscriptMessage[];
  /** For each model call, the number of messages that it was sent. */
  readonly prompts: readonly number[];
}

export interface TranscriptMessage {
  readonly message: CanonicalMessage;
  /** The step that added it; null for the system message and the seed. */
  readonly step: number | null;
}

/** Folds the steps of a case into their messages. */
export const transcriptOf = (recorded: RecordedChatCase, common: CommonFile | null): Transcript => {
  const messages: TranscriptMessage[] = before(recorded, common).map((message) => ({ message, step: null }));
  const prompts: number[] = [];
  for (const [index, step] of recorded.steps.entries()) {
    if (step.type === "llm") prompts.push(messages.length);
    messages.push({ message: canonicalOfStep(step), step: index });
  }
  return { messages, prompts };
};

/** Returns the resolved system message of a case; null for none. */
export const systemOf = (recorded: RecordedChatCase, common: CommonFile | null): Json =>
  recorded.system === "@common" ? (common?.system ?? null) : recorded.system;

/** Returns the message that a step adds; for a reply, the client's version of it. */
export const canonicalOfStep = (step: RecordedStep): CanonicalMessage => {
  switch (step.type) {
    case "user":
      return canonicalOf({ role: "user", content: step.content, name: step.name ?? undefined });
    case "llm":
      return canonicalOf(step.echo ?? wireOfReply(step.message));
    case "tool":
      return canonicalOf({ role: "tool", tool_call_id: step.tool_call_id, content: step.content });
    case "message":
      return canonicalOf(step.message);
  }
};

/** Returns a recorded reply in the form of a request. */
export const wireOfReply = (message: JsonObject): JsonObject => ({ ...message, role: "assistant" });

const before = (recorded: RecordedChatCase, common: CommonFile | null): readonly CanonicalMessage[] => {
  const system = systemOf(recorded, common);
  const seed = (recorded.seed ?? []).map(canonicalOf);
  return system === null ? seed : [canonicalOf({ role: recorded.system_role ?? "system", content: system }), ...seed];
};
