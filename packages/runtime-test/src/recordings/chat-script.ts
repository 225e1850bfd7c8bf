import { fromChatMessage, replyFromChatMessage } from "@colloquy/interchange";
import type { Json, JsonObject, Message, Phase, SeedDraft, SystemDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import {
  type CanonicalMessage,
  canonicalOf,
  canonicalOfMessage,
  sha256OfMessages,
  wireOfCanonical,
  protocolProblemOf,
} from "./canonical.ts";
import type { CommonFile, RecordedChatCase, RecordedReply, RecordedStep } from "./case.ts";
import { firstDifference, glimpse } from "./difference.ts";
import {
  difference,
  type Drafted,
  type Ending,
  type Given,
  inexpressible,
  type Obstacle,
  type RecordedCount,
  type Reply,
  type Script,
} from "./script.ts";
import { chatNames, recordedUsage, reportedUsage } from "./usage.ts";

/** Reads a recorded conversation over chat completions. Returns an obstacle if no machine sends its prompts. */
export const chatScript = (
  recorded: RecordedChatCase,
  common: CommonFile | null,
  transcript: Transcript,
): Script | Obstacle => {
  if (recorded.system === "@common" && common === null)
    return difference(null, "the system prompt stands in the common file, which was not handed in");
  // Results at the beginning complete the last round of the seed.
  const first = recorded.steps.findIndex(({ type }) => type !== "tool");
  const from = Math.max(first, 0);
  const unsendable = problemOfPrompts(transcript) ?? problemOfSeed(transcript, from);
  if (unsendable !== null) return unsendable;
  const system = systemDraftOf(recorded, common);
  if (Either.isLeft(system)) return inexpressible(null, `the system message: ${system.left}`);
  const seed = [...(recorded.seed ?? []).map(seedDraft), ...recorded.steps.slice(0, from).map(draftOfStep)];
  const wrong = seed.find(Either.isLeft);
  if (wrong !== undefined) return inexpressible(null, `a message of the seed: ${wrong.left}`);
  return {
    threadId: recorded.id,
    system: system.right,
    seed: seed.flatMap((draft) => (Either.isRight(draft) ? draft.right : [])),
    steps: stepsOf(recorded, transcript, from),
    end: endOf(recorded, transcript),
    notes: recorded.steps.flatMap((step, index) =>
      step.type === "llm" && step.echo !== undefined
        ? [`step ${index}: the client kept another message than it received; what it kept was journalled`]
        : [],
    ),
  };
};

/** Returns whether the steps of a record have its hashes. A damaged record must not pass for one that no thread can express. */
export const isAsRecorded = ({ expect }: RecordedChatCase, { messages, prompts }: Transcript): boolean =>
  recordDifference(messages, expect.messages_final, expect.final_sha256) === null &&
  prompts.every((length, k) => {
    const expected = expect.calls[k];
    return (
      expected !== undefined && recordDifference(messages.slice(0, length), expected.messages, expected.sha256) === null
    );
  });

const stepsOf = (recorded: RecordedChatCase, transcript: Transcript, from: number): readonly (Given | Reply)[] => {
  let k = 0;
  return recorded.steps.slice(from).map((step, place): Given | Reply => {
    const index = from + place;
    if (step.type === "llm") return replyOf(recorded, transcript, k++, index, step);
    const given = { type: "given", index, draft: draftOfStep(step), asks: step.type === "user" } as const;
    return step.type === "tool" && typeof step.name === "string" ? { ...given, name: step.name } : given;
  });
};

const replyOf = (
  recorded: RecordedChatCase,
  { messages, prompts }: Transcript,
  k: number,
  index: number,
  step: RecordedReply,
): Reply => {
  const expected = recorded.expect.calls[k];
  const sent = messages.slice(0, prompts[k]);
  return {
    type: "reply",
    index,
    promptDifference: (came) => {
      if (expected === undefined) return ` is one too many: ${recorded.expect.calls.length} were expected`;
      const words = messagesDifference(came, sent, expected.messages, expected.sha256);
      return words === null ? null : `: ${words}`;
    },
    // The client's version of the reply, if it kept another than it received.
    draft: replyFromChatMessage(
      step.echo === undefined ? wireOfReply(step.message) : wireOfCanonical(canonicalOf(step.echo)),
    ),
    calls: canonicalOfStep(step).tool_calls ?? [],
    finishReason: step.finish_reason ?? null,
    usage: reportedUsage(step.usage, chatNames),
  };
};

const endOf = (recorded: RecordedChatCase, transcript: Transcript): Ending => {
  const { expect } = recorded;
  const replies = recorded.steps.filter((step) => step.type === "llm");
  const received = replies.reduce((sum, { message }) => sum + lengthOf(message["tool_calls"]), 0);
  // If the client kept other calls than it received, it answers those that it kept.
  const kept = replies.reduce((sum, step) => sum + (canonicalOfStep(step).tool_calls?.length ?? 0), 0);
  const broken = protocolProblemOf(transcript.messages.map(({ message }) => message));
  return {
    phase: phaseAt(recorded.end, broken === null),
    // Calls may be outstanding at the end.
    unfit: broken === null || broken.index === transcript.messages.length ? null : broken.reason,
    phaseOf: `a recording that ends "${recorded.end}"`,
    messagesDifference: (came) =>
      messagesDifference(came, transcript.messages, expect.messages_final, expect.final_sha256),
    contradiction:
      received === expect.tool_calls ? null : `the steps have ${received} tool calls, recorded ${expect.tool_calls}`,
    counts: [
      ["model calls", "llmCalls", expect.llm_calls],
      ["prompts", expect.calls.length, expect.llm_calls],
      ["tool calls", "toolCalls", kept],
      ["tool results", "toolResults", expect.tool_results],
      ["user messages", "userMessages", expect.user_messages],
    ] satisfies readonly RecordedCount[],
    usage: recordedUsage(
      expect.usage,
      replies.map(({ usage }) => usage),
      chatNames,
    ),
    finishReasons: expect.finish_reasons,
    given: [
      ...(recorded.seed ?? []).map(seedDraft),
      ...recorded.steps
        .filter((step) => step.type === "message" || (step.type === "tool" && step.placed))
        .map(draftOfStep),
    ].flatMap((draft) => (Either.isRight(draft) ? draft.right.role : [])),
  };
};

const phaseAt = (end: string | undefined, isWhole: boolean): Phase | null => {
  const phases: { readonly [end: string]: Phase | undefined } = {
    after_llm: "completed",
    after_llm_pending_tools: "awaiting_tool",
    after_user: "awaiting_llm",
    after_tool: isWhole ? "awaiting_llm" : "awaiting_tool",
  };
  return phases[end ?? ""] ?? null;
};

/** Returns an obstacle if a recorded prompt is empty or splits a round, because a machine never sends such a prompt. */
const problemOfPrompts = (transcript: Transcript): Obstacle | null => {
  const messages = transcript.messages.map(({ message }) => message);
  for (const [k, length] of transcript.prompts.entries()) {
    if (length === 0) return inexpressible(null, `model call ${k} was sent nothing at all, which no machine sends`);
    const problem = protocolProblemOf(messages.slice(0, length));
    if (problem === null) continue;
    const step = transcript.messages[problem.index]?.step ?? null;
    return inexpressible(step, `model call ${k} was sent what no machine sends: ${problem.reason}`);
  }
  return null;
};

const problemOfSeed = (transcript: Transcript, from: number): Obstacle | null => {
  const seeded = transcript.messages.filter(({ step }) => step === null || step < from);
  const problem = protocolProblemOf(seeded.map(({ message }) => message));
  return problem === null ? null : inexpressible(null, `the seed is no conversation: ${problem.reason}`);
};

const systemDraftOf = (recorded: RecordedChatCase, common: CommonFile | null): Drafted<SystemDraft | null> => {
  const content = systemOf(recorded, common);
  if (content === null) return Either.right(null);
  return Either.chain((draft: SeedDraft): Drafted<SystemDraft> =>
    draft.role === "system" || draft.role === "developer"
      ? Either.right({ ...draft, role: draft.role })
      : Either.left(`a system message became one of role ${draft.role}`),
  )(fromChatMessage({ role: recorded.system_role ?? "system", content }));
};

const seedDraft = (canonical: JsonObject): Drafted<SeedDraft> =>
  fromChatMessage(wireOfCanonical(canonicalOf(canonical)));

const draftOfStep = (step: RecordedStep): Drafted<SeedDraft> => {
  switch (step.type) {
    case "user":
      return fromChatMessage({ role: "user", content: step.content, ...(step.name ? { name: step.name } : {}) });
    case "tool":
      return fromChatMessage({ role: "tool", tool_call_id: step.tool_call_id, content: step.content });
    default:
      return seedDraft(step.message);
  }
};

const messagesDifference = (
  came: readonly Message[],
  transcript: readonly TranscriptMessage[],
  length: number,
  sha256: string,
): string | null =>
  firstDifference(
    came.map(canonicalOfMessage),
    transcript.map(({ message }) => message),
  ) ?? recordDifference(transcript, length, sha256);

/** Returns how a record contradicts its own hash; null if it does not. */
const recordDifference = (transcript: readonly TranscriptMessage[], length: number, sha256: string): string | null => {
  const came = transcript.map(({ message }) => message);
  if (came.length !== length) return `${came.length} messages came, as in the steps; ${length} are recorded`;
  const actual = sha256OfMessages(came);
  if (actual === sha256) return null;
  return `the ${length} messages are those of the steps, but their hash is ${actual.slice(0, 12)}…, recorded ${sha256.slice(0, 12)}…: ${suspects(transcript)} was changed after the recording, or the hash was`;
};

/** Describes the messages since the previous call, whose hash was right. */
const suspects = (transcript: readonly TranscriptMessage[]): string => {
  const call = transcript.findLastIndex(({ message, step }) => step !== null && message.role === "assistant");
  const fresh = transcript.slice(Math.max(call, 0)).map(({ message }) => glimpse(message));
  return `one of the last ${fresh.length} (${fresh.join("; ").slice(0, 300)})`;
};

const lengthOf = (value: Json | undefined): number => (Array.isArray(value) ? value.length : 0);

/** The messages of a recording in canonical form, without any machine. Each prompt is a prefix of them. */
interface Transcript {
  readonly messages: readonly TranscriptMessage[];
  /** For each model call, the number of messages that it was sent. */
  readonly prompts: readonly number[];
}

interface TranscriptMessage {
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
const systemOf = (recorded: RecordedChatCase, common: CommonFile | null): Json =>
  recorded.system === "@common" ? (common?.system ?? null) : recorded.system;

/** Returns the message that a step adds; for a reply, the client's version of it. */
const canonicalOfStep = (step: RecordedStep): CanonicalMessage => {
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

const wireOfReply = (message: JsonObject): JsonObject => ({ ...message, role: "assistant" });

const before = (recorded: RecordedChatCase, common: CommonFile | null): readonly CanonicalMessage[] => {
  const system = systemOf(recorded, common);
  const seed = (recorded.seed ?? []).map(canonicalOf);
  return system === null ? seed : [canonicalOf({ role: recorded.system_role ?? "system", content: system }), ...seed];
};
