import type {
  AppendedResult,
  Content,
  ContentPart,
  Json,
  JsonObject,
  MessageDraft,
  ReplyDraft,
  ReportedUsage,
  RoundAppended,
  SeedDraft,
  SystemDraft,
} from "@colloquy/machine";
import { fromChatMessage, replyFromChatMessage } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { canonicalOf, wireOfCanonical } from "./canonical.ts";
import type { RecordedMessage, RecordedReply, RecordedResult, RecordedUser } from "./case.ts";
import { wireOfReply } from "./transcript.ts";

/** The draft that a host would pass for a recorded step, or a description of why there is none. */
export type Drafted<Draft> = Either.Either<string, Draft>;

/** Returns the system message of a case. */
export const systemDraft = (role: "system" | "developer", content: Json): Drafted<SystemDraft> =>
  Either.chain((draft: SeedDraft): Drafted<SystemDraft> =>
    draft.role === "system" || draft.role === "developer"
      ? Either.right({ ...draft, role: draft.role })
      : Either.left(`a system message became one of role ${draft.role}`),
  )(fromChatMessage({ role, content }));

/** Converts a message of the seed, in canonical form. */
export const seedDraft = (canonical: JsonObject): Drafted<SeedDraft> =>
  fromChatMessage(wireOfCanonical(canonicalOf(canonical)));

/** Converts a user's message, or one that the client inserted without calling the model. */
export const messageDraft = (step: RecordedUser | RecordedMessage): Drafted<MessageDraft> =>
  Either.chain(appendable)(step.type === "user" ? userDraft(step) : seedDraft(step.message));

/** Converts a round that the client inserted: an assistant's message with calls, and one result for each. */
export const roundDraft = (
  step: RecordedMessage,
  results: readonly RecordedResult[],
): Drafted<Pick<RoundAppended, "reply" | "results">> => {
  const said = replyFromChatMessage(wireOfCanonical(canonicalOf(step.message)));
  if (Either.isLeft(said)) return said;
  const calls = said.right.toolCalls ?? [];
  if (
    calls.some(({ id }, position) => id !== (results[position]?.tool_call_id ?? null)) ||
    calls.length !== results.length
  )
    return Either.left("an assistant message with calls that lacks a result for each, in the order of the calls");
  const answers: AppendedResult[] = [];
  for (const result of results) {
    const content = resultContent(result);
    if (Either.isLeft(content)) return content;
    answers.push({ outcome: "completed", content: content.right });
  }
  return Either.right({ reply: said.right, results: answers });
};

/** Converts a tool's result. */
export const resultContent = (step: RecordedResult): Drafted<Content> =>
  Either.map((draft: SeedDraft) => draft.content as Content)(
    // A tool's draft has no other content; the type of all drafts cannot express that.
    fromChatMessage({ role: "tool", tool_call_id: step.tool_call_id, content: step.content }),
  );

/** Converts a model's reply, or the client's version of it if that differs. */
export const replyDraft = (step: RecordedReply): Drafted<ReplyDraft> =>
  replyFromChatMessage(step.echo === undefined ? wireOfReply(step.message) : wireOfCanonical(canonicalOf(step.echo)));

/** Converts the provider's usage report. A figure that is not a whole number of tokens is unknown. */
export const reportedUsage = (usage: JsonObject | null | undefined): ReportedUsage | undefined =>
  usage === null || usage === undefined
    ? undefined
    : {
        ...(isTokens(usage["prompt_tokens"]) ? { inputTokens: usage["prompt_tokens"] } : {}),
        ...(isTokens(usage["completion_tokens"]) ? { outputTokens: usage["completion_tokens"] } : {}),
        ...(isTokens(usage["total_tokens"]) ? { totalTokens: usage["total_tokens"] } : {}),
      };

/** Returns whether a reported figure is a number of tokens. */
export const isTokens = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const userDraft = (step: RecordedUser): Drafted<SeedDraft> =>
  fromChatMessage({ role: "user", content: step.content, ...(step.name ? { name: step.name } : {}) });

export const appendable = (draft: SeedDraft): Drafted<MessageDraft> => {
  if (draft.role === "tool") return Either.left("a tool result can't be appended outside a round");
  if (draft.role !== "assistant") return Either.right(draft);
  if ("toolCalls" in draft && (draft.toolCalls?.length ?? 0) > 0)
    return Either.left("an assistant message with calls can't be appended: the calls would never be answered");
  const { name, provider } = draft;
  return Either.right({
    role: "assistant",
    content: contentOf(draft.content),
    ...(name === undefined ? {} : { name }),
    ...(provider === undefined ? {} : { provider }),
  });
};

const contentOf = (content: ReplyDraft["content"]): Content => {
  if (content === undefined || typeof content === "string") return content ?? "";
  return content.filter((part): part is ContentPart => part.type !== "reasoning" && part.type !== "refusal");
};
