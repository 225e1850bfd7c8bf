import { fromUiMessages } from "@colloquy/interchange";
import type { ToolAnswer } from "@colloquy/host";
import type { MessageDraft, SeedDraft } from "@colloquy/machine";
import { z } from "zod";
import { HttpError } from "../http/route.ts";
import { contentOfOutput } from "./steps.ts";

/** A UI message as a page sends it. */
export interface SentMessage {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly { readonly [member: string]: unknown; readonly type: string }[];
  readonly metadata?: unknown;
}

/** What a client of the AI SDK posts. What an application sends beside it is passed over. */
export interface ChatRequest {
  readonly id?: string | undefined;
  readonly messages: readonly SentMessage[];
  readonly trigger: "submit-message" | "regenerate-message";
  readonly messageId?: string | undefined;
}

const message = z.looseObject({
  id: z.string().min(1),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(z.looseObject({ type: z.string() })),
});

export const chatRequest: z.ZodType<ChatRequest> = z.object({
  id: z.string().optional(),
  messages: z.array(message).min(1),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: z.string().optional(),
});

/** What a user's message asks, under the id that it has in the page. @throws HttpError 400 */
export const draftOf = (message: SentMessage): MessageDraft => {
  const [draft] = turnsOf([message], {}).flat();
  if (draft?.role !== "user" || message.parts.length === 0) throw refused("it says nothing");
  return { ...draft, role: draft.role };
};

/** The turns of a conversation that a page brings along. @throws HttpError 400 */
export const historyOf = (messages: readonly SentMessage[]): readonly (readonly SeedDraft[])[] =>
  turnsOf(messages, { repair: true });

const turnsOf = (
  messages: readonly SentMessage[],
  options: { readonly repair?: boolean },
): readonly (readonly SeedDraft[])[] => {
  const said = messages.map(({ id, role, parts, metadata }) => ({
    id,
    role,
    // What a page says of providers would be sent to them.
    parts: parts.map(({ providerMetadata: _, ...part }) => part),
    ...(metadata == null ? {} : { metadata }),
  }));
  const read = fromUiMessages(said, options);
  if ("left" in read) throw refused(read.left.reason);
  return read.right.turns;
};

/** That the last message is not what can be taken. */
export const refused = (why: string): HttpError =>
  new HttpError(400, `the last of messages: ${why}`, { param: "messages" });

/** That the thread can't continue from what a page shows. */
export const differing = (why: string): HttpError =>
  new HttpError(400, `messages: ${why}; load the messages of the thread again`, {
    param: "messages",
    code: "messages_differ",
  });

/** What a page answers about a tool call. */
export interface CallAnswer {
  readonly callId: string;
  /** Of its turn, as the id of the call says. */
  readonly step: number;
  /** What its tool gave; undefined where the page has none. */
  readonly output: ToolAnswer | undefined;
  /** Undefined where nobody has answered. */
  readonly approval: { readonly approved: boolean; readonly reason?: string; readonly digest?: string } | undefined;
}

/** What a model's message in a page says of its calls, answered or not. */
export const answersIn = ({ parts }: SentMessage): readonly CallAnswer[] =>
  parts.flatMap((given): readonly CallAnswer[] => {
    const { data: part } = toolPart.safeParse(given);
    const step = Number(/^\d+\.(\d+)\.\d+$/u.exec(part?.toolCallId ?? "")?.[1]);
    if (part === undefined || !Number.isSafeInteger(step)) return [];
    const { state, approval: { approved, reason, signature: digest } = {} } = part;
    const output =
      state === "output-available"
        ? contentOfOutput(part.output)
        : state === "output-error"
          ? { failed: part.errorText }
          : undefined;
    const said = { ...(reason === undefined ? {} : { reason }), ...(digest === undefined ? {} : { digest }) };
    const approval = approved === undefined ? undefined : { approved, ...said };
    return [{ callId: part.toolCallId, step, output, approval }];
  });

const toolPart = z.looseObject({
  toolCallId: z.string(),
  state: z.string(),
  output: z.unknown().optional(),
  errorText: z.string().default(""),
  approval: z
    .looseObject({ approved: z.boolean().optional(), reason: z.string().optional(), signature: z.string().optional() })
    .optional(),
});
