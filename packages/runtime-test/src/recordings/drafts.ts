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

/** What a host would hand in for a recorded thing; or in words why it can't be handed in. */
export type Drafted<Draft> = Either.Either<string, Draft>;

/** The system message of a case. */
export const systemDraft = (role: "system" | "developer", content: Json): Drafted<SystemDraft> =>
  Either.chain((draft: SeedDraft): Drafted<SystemDraft> =>
    draft.role === "system" || draft.role === "developer"
      ? Either.right({ ...draft, role: draft.role })
      : Either.left(`a system message became one of role ${draft.role}`),
  )(fromChatMessage({ role, content }));

/** A message of the seed, in canonical form. */
export const seedDraft = (canonical: JsonObject): Drafted<SeedDraft> =>
  fromChatMessage(wireOfCanonical(canonicalOf(canonical)));

/** What a user said, or what the client put there without calling the model. */
export const messageDraft = (step: RecordedUser | RecordedMessage): Drafted<MessageDraft> =>
  Either.chain(appendable)(step.type === "user" ? userDraft(step) : seedDraft(step.message));

/** A round that the client put there: an assistant's message with calls, and one result for each. */
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

/** What a tool answered. */
export const resultContent = (step: RecordedResult): Drafted<Content> =>
  Either.map((draft: SeedDraft) => draft.content as Content)(
    // A tool's draft has content of no other kind; the union of all drafts can't say so.
    fromChatMessage({ role: "tool", tool_call_id: step.tool_call_id, content: step.content }),
  );

/** What a model replied; where the client kept something else, that. */
export const replyDraft = (step: RecordedReply): Drafted<ReplyDraft> =>
  replyFromChatMessage(step.echo === undefined ? wireOfReply(step.message) : wireOfCanonical(canonicalOf(step.echo)));

/** What a provider reported. What is no whole number of tokens is unknown. */
export const reportedUsage = (usage: JsonObject | null | undefined): ReportedUsage | undefined =>
  usage === null || usage === undefined
    ? undefined
    : {
        ...(isTokens(usage["prompt_tokens"]) ? { inputTokens: usage["prompt_tokens"] } : {}),
        ...(isTokens(usage["completion_tokens"]) ? { outputTokens: usage["completion_tokens"] } : {}),
        ...(isTokens(usage["total_tokens"]) ? { totalTokens: usage["total_tokens"] } : {}),
      };

/** Whether a reported figure is a number of tokens. */
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
