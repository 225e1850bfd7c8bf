import type {
  CallerTool,
  ToolCallDraft,
  ToolDeclaration,
  ExpectedOutput,
  Failure,
  FailureKind,
  LimitName,
  Limits,
  OutputIssue,
  Overlap,
  OverlapType,
  ReportedUsage,
  ToolFailed,
  AppendedResult,
  Content,
  ContentPart,
  DataPart,
  ImagePart,
  MessageDraft,
  OpaquePart,
  ReasoningPart,
  RefusalPart,
  ReplyDraft,
  SeedDraft,
  SystemDraft,
  TextPart,
} from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary, nameArbitrary, recordOf, textArbitrary, jsonArbitrary } from "./values.ts";

/** The declaration of a tool. */
export const toolDeclarationArbitrary: fc.Arbitrary<ToolDeclaration> = recordOf(
  { name: nameArbitrary },
  {
    version: fc.constantFrom("1", "2.0.1"),
    description: textArbitrary,
    parameters: jsonObjectArbitrary,
    recovery: fc.constantFrom("rerun", "interrupted", "once", "ask"),
    approval: fc.constantFrom("always", "conditional"),
    timeoutMs: fc.nat({ max: 60_000 }),
    concurrency: fc.integer({ min: 1, max: 4 }),
  },
);

/** Tools with different names. */
export const toolsArbitrary: fc.Arbitrary<readonly ToolDeclaration[]> = fc.uniqueArray(toolDeclarationArbitrary, {
  selector: ({ name }) => name,
  maxLength: 3,
});

/** The names of the tools that a model was offered. */
export type ToolNames = readonly string[];

/**
 * Returns an arbitrary of tool calls as a model writes them. The id is one of very few or null, since providers repeat
 * ids. The name is sometimes undeclared; the arguments are sometimes not JSON, or empty.
 */
export const toolCallDraftArbitrary = (tools: ToolNames): fc.Arbitrary<ToolCallDraft> =>
  recordOf(
    {
      id: fc.constantFrom("call_0", "call_0", "call_1", "", null),
      name:
        tools.length === 0
          ? nameArbitrary
          : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...tools) }, nameArbitrary),
      arguments: fc.oneof(
        jsonObjectArbitrary.map((value) => JSON.stringify(value)),
        fc.constantFrom("", "{", "null", "[]", '{"city":"Par', "\ud800"),
      ),
    },
    { provider: jsonObjectArbitrary },
  );

/** The names of the tools that callers pass with an ask. Replies call them whether or not they were offered. */
export const callerToolNames = ["ask_user", "pick_colour"] as const;

/** The tools of an ask: at most two from a small set, sometimes two with the same name, or one without a name. */
export const callerToolsArbitrary: fc.Arbitrary<readonly CallerTool[]> = fc.array(
  recordOf(
    { name: fc.constantFrom(...callerToolNames, ...callerToolNames, ...callerToolNames, "") },
    { description: textArbitrary, parameters: jsonObjectArbitrary },
  ),
  { minLength: 1, maxLength: 2 },
);

/** All kinds of failure. */
export const failureKinds: readonly FailureKind[] = [
  "rate_limit",
  "overloaded",
  "auth",
  "bad_request",
  "context_length",
  "content_filter",
  "timeout",
  "network",
  "truncated",
  "unknown",
];

/** The failure of a model call: any kind, retryable or not, with or without a wait that the server asked for. */
export const failureArbitrary: fc.Arbitrary<Failure> = recordOf(
  { kind: fc.constantFrom(...failureKinds), message: textArbitrary, retryable: fc.constantFrom(true, true, false) },
  {
    retryAfterMs: fc.constantFrom(0, 1, 1_500, 120_000, 120_001),
    status: fc.constantFrom(400, 401, 429, 500, 529),
    code: fc.constantFrom("rate_limit_exceeded", "insufficient_quota"),
  },
);

/** The usage that a provider reports for a call: any of the fields missing, zeros among the others. */
export const reportedUsageArbitrary: fc.Arbitrary<ReportedUsage> = recordOf(
  {},
  {
    inputTokens: fc.nat({ max: 2_000 }),
    outputTokens: fc.nat({ max: 500 }),
    totalTokens: fc.nat({ max: 2_500 }),
    cacheReadTokens: fc.nat({ max: 1_000 }),
    cacheWriteTokens: fc.nat({ max: 1_000 }),
    reasoningTokens: fc.nat({ max: 400 }),
    provider: jsonObjectArbitrary,
  },
);

/** The outcome of a tool call that did not complete. */
export const toolOutcomeArbitrary: fc.Arbitrary<ToolFailed["outcome"]> = fc.constantFrom(
  "failed",
  "refused",
  "interrupted",
  "unknown",
);

export const limitNames: readonly LimitName[] = ["steps", "toolCalls", "tokens", "costNano", "deadlineMs"];

/** Limits that mostly a few steps can reach, sometimes 0. */
export const limitsArbitrary: fc.Arbitrary<Limits> = recordOf(
  {},
  {
    steps: fc.constantFrom(10, 2, 3, 1, 10, 5, 4, 0),
    toolCalls: fc.constantFrom(20, 5, 2, 10, 20, 3, 1, 0),
    tokens: fc.constantFrom(100_000, 20_000, 3_000, 1_000, 100_000, 5_000, 1, 0),
    costNano: fc.constantFrom(1_000_000, 5_000, 1_000_000, 10_000, 1_000_000, 2_000, 1, 0),
    deadlineMs: fc.constantFrom(600_000, 30_000, 600_000, 5_000, 600_000, 60_000, 1, 0),
  },
);

/** The expected output of an ask, with zero to two repairs. */
export const expectedOutputArbitrary: fc.Arbitrary<ExpectedOutput> = recordOf({
  name: fc.constantFrom("answer", "report"),
  schema: jsonObjectArbitrary,
  mode: fc.constantFrom("native", "tool", "prompted"),
  repairs: fc.constantFrom(2, 1, 0),
});

/** The issues of an invalid answer. */
export const issuesArbitrary: fc.Arbitrary<readonly OutputIssue[]> = fc.array(
  recordOf(
    { message: textArbitrary },
    { path: fc.array(fc.oneof(nameArbitrary, fc.nat({ max: 9 })), { maxLength: 2 }) },
  ),
  { maxLength: 3 },
);

/** All that can happen to an ask while a turn is open. */
export const overlapTypes: readonly OverlapType[] = ["reject", "queue", "merge", "latest", "interrupt", "steer"];

/** Any overlap policy; the bounded ones hold a few asks or none. */
export const overlapArbitrary: fc.Arbitrary<Overlap> = fc.oneof(
  fc.constantFrom<Overlap>({ type: "reject" }, { type: "latest" }, { type: "interrupt" }),
  fc
    .tuple(fc.constantFrom("queue" as const, "merge" as const, "steer" as const), fc.nat({ max: 3 }))
    .map(([type, max]): Overlap => ({ type, max })),
);

const textPart: fc.Arbitrary<TextPart> = recordOf({ type: fc.constant("text"), text: textArbitrary });

const dataPart: fc.Arbitrary<DataPart> = recordOf({
  type: fc.constant("data"),
  field: nameArbitrary,
  value: jsonArbitrary,
});

/** Nothing reads these URLs. They are constants because fast-check's URL generator takes a second to create. */
const imageUrl = fc.constantFrom("https://example.com/a.png", "http://x/ü?q=1#2", "data:image/png;base64,AA==");

const imagePart: fc.Arbitrary<ImagePart> = recordOf(
  { type: fc.constant("image"), url: imageUrl },
  { detail: fc.constantFrom("low", "high") },
);

const opaquePart: fc.Arbitrary<OpaquePart> = recordOf({ type: fc.constant("opaque"), value: jsonObjectArbitrary });

const reasoningPart: fc.Arbitrary<ReasoningPart> = recordOf(
  { type: fc.constant("reasoning"), text: textArbitrary },
  { provider: jsonObjectArbitrary },
);

const refusalPart: fc.Arbitrary<RefusalPart> = recordOf({ type: fc.constant("refusal"), text: textArbitrary });

/** A part that any message may contain. */
export const contentPartArbitrary: fc.Arbitrary<ContentPart> = fc.oneof(
  { weight: 4, arbitrary: textPart },
  dataPart,
  imagePart,
  opaquePart,
);

/** A part of a reply. */
export const replyPartArbitrary: fc.Arbitrary<ContentPart | ReasoningPart | RefusalPart> = fc.oneof(
  { weight: 4, arbitrary: contentPartArbitrary },
  { weight: 2, arbitrary: reasoningPart },
  refusalPart,
);

/** The content of a message draft: mostly a text. */
export const contentArbitrary: fc.Arbitrary<Content> = fc.oneof(
  { weight: 4, arbitrary: textArbitrary },
  { weight: 1, arbitrary: fc.array(contentPartArbitrary, { maxLength: 3 }) },
);

/** The result of a call in a round that took place elsewhere. */
export const appendedResultArbitrary: fc.Arbitrary<AppendedResult> = recordOf({
  outcome: fc.constantFrom("completed", "completed", "failed", "refused", "interrupted", "unknown"),
  content: fc.option(contentArbitrary, { freq: 8 }),
});

/** A message draft from a host, in any allowed role. */
export const messageDraftArbitrary: fc.Arbitrary<MessageDraft> = recordOf(
  {
    role: fc.constantFrom("user", "user", "user", "assistant", "system", "developer"),
    content: contentArbitrary,
  },
  { name: nameArbitrary, metadata: jsonObjectArbitrary, provider: jsonObjectArbitrary },
);

/** A system prompt: its text, or a message. */
export const systemDraftArbitrary: fc.Arbitrary<SystemDraft> = fc.oneof(
  { weight: 3, arbitrary: textArbitrary },
  recordOf(
    { role: fc.constantFrom("system", "developer"), content: contentArbitrary },
    { name: nameArbitrary, provider: jsonObjectArbitrary },
  ),
);

/**
 * Returns an arbitrary of an earlier conversation's messages. They are well-formed: each round is complete, its results
 * in any order.
 */
export const seedArbitrary = (tools: ToolNames): fc.Arbitrary<readonly SeedDraft[]> =>
  fc
    .array(fc.oneof({ weight: 3, arbitrary: seedMessages }, seedRound(tools)), { maxLength: 4 })
    .map((units) => units.flat());

/**
 * Returns an arbitrary of message drafts of which most are not a valid conversation: results without calls, calls
 * without results.
 */
export const brokenSeedArbitrary = (tools: ToolNames): fc.Arbitrary<readonly SeedDraft[]> =>
  seedArbitrary(tools).chain((drafts) => fc.subarray([...drafts, strayResult]));

const strayResult: SeedDraft = { role: "tool", toolCallId: "nobody asked", content: "" };

const seedMessages: fc.Arbitrary<readonly SeedDraft[]> = messageDraftArbitrary.map((draft) => [draft]);

const seedRound = (tools: ToolNames): fc.Arbitrary<readonly SeedDraft[]> =>
  fc
    .record({
      content: textArbitrary,
      toolCalls: fc.array(toolCallDraftArbitrary(tools), { minLength: 1, maxLength: 3 }),
      results: fc.array(contentArbitrary, { minLength: 3, maxLength: 3 }),
      backwards: fc.boolean(),
    })
    .map(({ content, toolCalls, results, backwards }) => {
      const answers = toolCalls.map(({ id }, index): SeedDraft => ({
        role: "tool",
        toolCallId: id,
        content: results[index] ?? "",
      }));
      return [{ role: "assistant", content, toolCalls }, ...(backwards ? answers.reverse() : answers)];
    });

const replyContent: fc.Arbitrary<NonNullable<ReplyDraft["content"]>> = fc.oneof(
  { weight: 3, arbitrary: textArbitrary },
  fc.array(replyPartArbitrary, { maxLength: 3 }),
);

const said = { content: replyContent, name: nameArbitrary, provider: jsonObjectArbitrary };

/**
 * Returns an arbitrary of a model's replies. About half of them call tools, often several at once; some have an empty
 * list of calls.
 */
export const replyArbitrary = (tools: ToolNames): fc.Arbitrary<ReplyDraft> => {
  const toolCalls = fc.array(toolCallDraftArbitrary(tools), { minLength: 1, maxLength: 4 });
  return fc.oneof(
    { weight: 5, arbitrary: recordOf({}, said) },
    { weight: 6, arbitrary: recordOf({ toolCalls }, said) },
    { weight: 1, arbitrary: fc.constantFrom({}, { toolCalls: [] }, { content: "", toolCalls: [] }) },
  );
};

/** Returns an arbitrary of a foreign assistant's replies with tool calls. */
export const roundReplyArbitrary = (tools: ToolNames): fc.Arbitrary<ReplyDraft> =>
  recordOf({ toolCalls: fc.array(toolCallDraftArbitrary(tools), { minLength: 1, maxLength: 3 }) }, said);

/** The shown part of a reply that ended early. Some of it is half a tool call, which must not be kept. */
export const partialArbitrary: fc.Arbitrary<ReplyDraft> = replyArbitrary(["half"]);
