import { fromUiMessages } from "@colloquy/interchange";
import type { ToolAnswer } from "@colloquy/host";
import type { MessageDraft, SeedDraft } from "@colloquy/machine";
import { z } from "zod";
import { HttpError, invalid } from "../http/http-error.ts";
import { contentOfOutput } from "./steps.ts";

/** A UI message as a page sends it. */
export interface SentMessage {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly { readonly [member: string]: unknown; readonly type: string }[];
  readonly metadata?: unknown;
}

/** The body that a client of the AI SDK posts. Further members of an application are ignored. */
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

/** Converts a user's message, and keeps its id in the page. @throws HttpError 400 */
export const draftOf = (message: SentMessage): MessageDraft => {
  const [draft] = turnsOf([message], {}).flat();
  if (draft?.role !== "user" || message.parts.length === 0) throw refused("it says nothing");
  return { ...draft, role: draft.role };
};

/** Converts the conversation that a page brings along. @throws HttpError 400 */
export const historyOf = (messages: readonly SentMessage[]): readonly (readonly SeedDraft[])[] =>
  turnsOf(messages, { repair: true });

const turnsOf = (
  messages: readonly SentMessage[],
  options: { readonly repair?: boolean },
): readonly (readonly SeedDraft[])[] => {
  const said = messages.map(({ id, role, parts, metadata }) => ({
    id,
    role,
    // A page's provider fields would be sent to the provider.
    parts: parts.map(({ providerMetadata: _, ...part }) => part),
    ...(metadata == null ? {} : { metadata }),
  }));
  const read = fromUiMessages(said, options);
  if ("left" in read) throw refused(read.left.reason);
  return read.right.turns;
};

export const refused = (why: string): HttpError => invalid(`the last of messages: ${why}`, "messages");

/** Creates the error for a page whose messages do not fit the thread. */
export const differing = (why: string): HttpError =>
  invalid(`messages: ${why}; load the messages of the thread again`, "messages", "messages_differ");

export interface CallAnswer {
  readonly callId: string;
  /** The step of the turn, read from the call's id. */
  readonly step: number;
  /** The tool's output; undefined if the page has none. */
  readonly output: ToolAnswer | undefined;
  /** Undefined if no person has decided. */
  readonly approval: { readonly approved: boolean; readonly reason?: string; readonly digest?: string } | undefined;
}

/** Reads the answers to calls, given or missing, from a model's message in a page. */
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
