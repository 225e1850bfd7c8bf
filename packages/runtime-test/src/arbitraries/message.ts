import type {
  AppendedResult,
  Content,
  ContentPart,
  DataPart,
  ImagePart,
  MessageDraft,
  OpaquePart,
  ReasoningPart,
  RefusalPart,
  SeedDraft,
  SystemDraft,
  TextPart,
} from "@colloquy/machine";
import fc from "fast-check";
import { jsonArbitrary, jsonObjectArbitrary } from "./json.ts";
import { recordOf } from "./record.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";
import { type ToolNames, toolCallDraftArbitrary } from "./tool-call.ts";

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
