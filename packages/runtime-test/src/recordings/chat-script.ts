import { fromChatMessage, replyFromChatMessage } from "@colloquy/interchange";
import type { Json, JsonObject, Message, Phase, ReplyDraft, SeedDraft, SystemDraft } from "@colloquy/machine";
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
import { difference, type Ending, type Given, inexpressible, type Reply, type Script } from "./script.ts";

/** Reads a recorded conversation over chat completions. @throws Obstacle if no machine sends its prompts */
export const chatScript = (
  recorded: RecordedChatCase,
  common: CommonFile | null,
  { messages, prompts }: Transcript,
): Script => {
  if (recorded.system === "@common" && common === null)
    throw difference(null, "the system prompt stands in the common file, which was not handed in");
  // Results at the beginning complete the last round of the seed.
  const from = Math.max(
    recorded.steps.findIndex(({ type }) => type !== "tool"),
    0,
  );
  const before = messages.filter(({ step }) => step === null || step < from);
  requirePrompts({ messages, prompts });
  const broken = protocolProblemOf(before.map(({ message }) => message));
  if (broken !== null) throw inexpressible(null, `the seed is no conversation: ${broken.reason}`);
  const led = systemOf(recorded, common) === null ? 0 : 1;
  let k = 0;
  return {
    threadId: recorded.id,
    system: before.slice(0, led).map(({ wire }) => systemDraft(wire))[0] ?? null,
    seed: before.slice(led).map(({ wire }) => drafted(null, "a message of the seed: ", fromChatMessage(wire))),
    steps: recorded.steps.slice(from).map((step, place): Given | Reply => {
      const index = from + place;
      const wire = wireOfStep(step);
      if (step.type === "llm") return replyOf(recorded, { messages, prompts }, k++, index, step);
      return {
        type: "given",
        index,
        draft: () => drafted(index, "", fromChatMessage(wire)),
        asks: step.type === "user",
        ...(step.type === "tool" && typeof step.name === "string" ? { name: step.name } : {}),
      };
    }),
    end: endOf(recorded, messages),
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

/** Returns a draft that was read. @throws Obstacle if there is none */
const drafted = <Draft extends SeedDraft | ReplyDraft>(
  index: number | null,
  of: string,
  read: Either.Either<string, Draft>,
): Draft => {
  if (Either.isLeft(read)) throw inexpressible(index, `${of}${read.left}`);
  return read.right;
};

const systemDraft = (wire: JsonObject): SystemDraft => {
  const draft = drafted(null, "the system message: ", fromChatMessage(wire));
  if (draft.role === "system" || draft.role === "developer") return { ...draft, role: draft.role };
  throw inexpressible(null, `the system message: a system message became one of role ${draft.role}`);
};

const replyOf = (
  { expect }: RecordedChatCase,
  { messages, prompts }: Transcript,
  k: number,
  index: number,
  step: RecordedReply,
): Reply => ({
  type: "reply",
  index,
  promptDifference: (came) => {
    const expected = expect.calls[k];
    if (expected === undefined) return ` is one too many: ${expect.calls.length} were expected`;
    const words = messagesDifference(came, messages.slice(0, prompts[k]), expected.messages, expected.sha256);
    return words === null ? null : `: ${words}`;
  },
  draft: () => drafted(index, "the reply: ", replyFromChatMessage(wireOfStep(step))),
  finishReason: step.finish_reason ?? null,
  usage: step.usage,
});

const endOf = ({ end, steps, expect }: RecordedChatCase, spoken: readonly Spoken[]): Ending => {
  const received = steps.map((step) => (step.type === "llm" ? lengthOf(step.message["tool_calls"]) : 0));
  // If the client kept other calls than it received, it answers those that it kept.
  const kept = spoken.map(({ step, message }) =>
    step !== null && steps[step]?.type === "llm" ? lengthOf(message.tool_calls) : 0,
  );
  const isInserted = (step: RecordedStep | undefined): boolean =>
    step?.type === "message" || (step?.type === "tool" && step.placed === true);
  const broken = protocolProblemOf(spoken.map(({ message }) => message));
  return {
    phase: phaseAt(end, broken === null),
    // Calls may be outstanding at the end.
    unfit: broken === null || broken.index === spoken.length ? null : broken.reason,
    phaseOf: `a recording that ends "${end}"`,
    messagesDifference: (came) => messagesDifference(came, spoken, expect.messages_final, expect.final_sha256),
    contradiction:
      sum(received) === expect.tool_calls
        ? null
        : `the steps have ${sum(received)} tool calls, recorded ${expect.tool_calls}`,
    counts: [
      ["model calls", "llmCalls", expect.llm_calls],
      ["prompts", expect.calls.length, expect.llm_calls],
      ["tool calls", "toolCalls", sum(kept)],
      ["tool results", "toolResults", expect.tool_results],
      ["user messages", "userMessages", expect.user_messages],
    ],
    usage: expect.usage,
    usageNames: { inputTokens: "prompt_tokens", outputTokens: "completion_tokens", totalTokens: "total_tokens" },
    finishReasons: expect.finish_reasons,
    given: spoken.flatMap(({ step, wire }) => {
      const draft = step === null || isInserted(steps[step]) ? fromChatMessage(wire) : Either.left("");
      return Either.isRight(draft) ? [draft.right.role] : [];
    }),
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

/** @throws Obstacle if a recorded prompt is empty or splits a round, because a machine never sends such a prompt */
const requirePrompts = ({ messages, prompts }: Transcript): void => {
  for (const [k, length] of prompts.entries()) {
    if (length === 0) throw inexpressible(null, `model call ${k} was sent nothing at all, which no machine sends`);
    const problem = protocolProblemOf(messages.slice(0, length).map(({ message }) => message));
    if (problem === null) continue;
    const step = messages[problem.index]?.step ?? null;
    throw inexpressible(step, `model call ${k} was sent what no machine sends: ${problem.reason}`);
  }
};

const messagesDifference = (
  came: readonly Message[],
  recorded: readonly Spoken[],
  length: number,
  sha256: string,
): string | null =>
  firstDifference(
    came.map(canonicalOfMessage),
    recorded.map(({ message }) => message),
  ) ?? recordDifference(recorded, length, sha256);

/** Returns how a record contradicts its own hash; null if it does not. */
const recordDifference = (recorded: readonly Spoken[], length: number, sha256: string): string | null => {
  const came = recorded.map(({ message }) => message);
  if (came.length !== length) return `${came.length} messages came, as in the steps; ${length} are recorded`;
  const actual = sha256OfMessages(came);
  if (actual === sha256) return null;
  return `the ${length} messages are those of the steps, but their hash is ${actual.slice(0, 12)}…, recorded ${sha256.slice(0, 12)}…: ${suspects(recorded)} was changed after the recording, or the hash was`;
};

/** Describes the messages since the previous call, whose hash was right. */
const suspects = (recorded: readonly Spoken[]): string => {
  const call = recorded.findLastIndex(({ message, step }) => step !== null && message.role === "assistant");
  const fresh = recorded.slice(Math.max(call, 0)).map(({ message }) => glimpse(message));
  return `one of the last ${fresh.length} (${fresh.join("; ").slice(0, 300)})`;
};

const lengthOf = (value: Json | undefined): number => (Array.isArray(value) ? value.length : 0);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The messages of a recording, without any machine. Each prompt is a prefix of them. */
interface Transcript {
  readonly messages: readonly Spoken[];
  /** For each model call, the number of messages that it was sent. */
  readonly prompts: readonly number[];
}

interface Spoken {
  readonly wire: JsonObject;
  /** The same in canonical form. */
  readonly message: CanonicalMessage;
  /** The step that added it; null for the system message and the seed. */
  readonly step: number | null;
}

/** Returns the messages of a case, one for each step. */
export const transcriptOf = (recorded: RecordedChatCase, common: CommonFile | null): Transcript => {
  const { steps, seed = [], system_role: role = "system" } = recorded;
  const content = systemOf(recorded, common);
  const before = [...(content === null ? [] : [{ role, content }]), ...seed.map(wireOf)];
  return {
    messages: [...before, ...steps.map(wireOfStep)].map((wire, place) => ({
      wire,
      message: canonicalOf(wire),
      step: place < before.length ? null : place - before.length,
    })),
    prompts: steps.flatMap(({ type }, index) => (type === "llm" ? [before.length + index] : [])),
  };
};

/** Returns the resolved system message of a case; null for none. */
const systemOf = ({ system }: RecordedChatCase, common: CommonFile | null): Json =>
  system === "@common" ? (common?.system ?? null) : system;

/** Returns the message that a step adds; for a reply, the client's version of it. */
const wireOfStep = (step: RecordedStep): JsonObject => {
  switch (step.type) {
    case "user":
      return { role: "user", content: step.content, ...(step.name ? { name: step.name } : {}) };
    case "llm":
      return step.echo === undefined ? { ...step.message, role: "assistant" } : wireOf(step.echo);
    case "tool":
      return { role: "tool", tool_call_id: step.tool_call_id, content: step.content };
    case "message":
      return wireOf(step.message);
  }
};

const wireOf = (canonical: JsonObject): JsonObject => wireOfCanonical(canonicalOf(canonical));
