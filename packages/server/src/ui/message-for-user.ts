import {
  AskReturnedError,
  AskSupersededError,
  ContextUnfitError,
  EventRefusedError,
  ImportRefusedError,
  LimitReachedError,
  OutputError,
  ThreadExistsError,
  ThreadHeldError,
  ThreadUnknownError,
  TurnCancelledError,
  TurnFailedError,
} from "@colloquy/host";
import { LeaseLostError } from "@colloquy/host/store";
import type { Failure, OutputFailure, Refusal } from "@colloquy/machine";
import { HttpError } from "../http/http-error.ts";

/**
 * The kind of an error, from the view of a page's user. `busy`: an earlier message has no answer yet. `held`: another
 * process holds the thread and cannot be reached. `limit`: a limit ended the turn. `refused`: the message or its answer
 * was declined. `too_long`: the input exceeds what the model can read. `changed`: the thread has changed since the page
 * loaded it. `denied`: the thread belongs to another user or does not exist. `unanswered`: another message replaced it.
 * `unavailable`: any other error.
 */
export type UserMessageKind =
  | "busy"
  | "held"
  | "limit"
  | "refused"
  | "too_long"
  | "changed"
  | "denied"
  | "unanswered"
  | "unavailable";

/** An error as a page's user should see it. */
export interface UserMessage {
  readonly kind: UserMessageKind;
  /** A sentence that contains no text of a provider, a store, a tool or a program. */
  readonly text: string;
}

/**
 * A function that returns the text that a page shows for an error. @param message the default: its `kind`, and its
 * `text` in English
 */
export type ErrorText = (error: unknown, message: UserMessage) => string;

/** Turns any error into a sentence for a page's user. Log the error itself for the operator. */
export const messageForUser = (error: unknown): UserMessage => {
  const kind = kindOf(error);
  return { kind, text: sentences[kind] };
};

export const textForUser = (error: unknown, errorText?: ErrorText): string => {
  const message = messageForUser(error);
  try {
    return errorText?.(error, message) ?? message.text;
  } catch {
    // An application's mistake must not hide the error from the user.
    return message.text;
  }
};

const sentences: { readonly [Kind in UserMessageKind]: string } = {
  busy: "This chat is still working on an earlier message. Wait for its answer, then try again.",
  held: "This chat is in use somewhere else. Try again in a moment.",
  limit: "The answer took more work than is allowed, so it was stopped. Try a smaller question.",
  refused: "This message was not accepted. Change it, then send it again.",
  too_long: "This is too long for the assistant. Shorten the message, or begin a new chat.",
  changed: "This chat has changed since it was loaded here. Load it again, then continue.",
  denied: "This chat is not available to you. Sign in, or open another chat.",
  unanswered: "This message was not answered. Send it again if you still need an answer.",
  unavailable: "The assistant is not available right now. Try again in a moment.",
};

const kindOf = (error: unknown): UserMessageKind => {
  if (error instanceof HttpError) return kindOfStatus(error);
  if (error instanceof EventRefusedError) return refusals[error.refusal.kind];
  if (error instanceof TurnFailedError) return failures[error.failure.kind];
  if (error instanceof OutputError) return outputFailures[error.failure.kind];
  return kinds.find(([is]) => error instanceof is)?.[1] ?? "unavailable";
};

const kinds: readonly (readonly [is: abstract new (...given: never) => Error, kind: UserMessageKind])[] = [
  [LimitReachedError, "limit"],
  [ContextUnfitError, "too_long"],
  [TurnCancelledError, "unanswered"],
  [AskSupersededError, "unanswered"],
  [AskReturnedError, "unanswered"],
  [ThreadHeldError, "held"],
  [LeaseLostError, "held"],
  [ThreadUnknownError, "denied"],
  [ThreadExistsError, "changed"],
  [ImportRefusedError, "refused"],
];

const refusals: { readonly [Kind in Refusal["kind"]]: UserMessageKind } = {
  busy: "busy",
  full: "busy",
  stale: "changed",
  unknown: "changed",
  invalid: "refused",
};

const failures: { readonly [Kind in Failure["kind"]]: UserMessageKind } = {
  rate_limit: "unavailable",
  overloaded: "unavailable",
  auth: "unavailable",
  bad_request: "unavailable",
  context_length: "too_long",
  content_filter: "refused",
  timeout: "unavailable",
  network: "unavailable",
  truncated: "unavailable",
  unknown: "unavailable",
};

const outputFailures: { readonly [Kind in OutputFailure["kind"]]: UserMessageKind } = {
  invalid: "unavailable",
  unchecked: "unavailable",
  refused: "refused",
  cut: "too_long",
};

const kindOfStatus = ({ status, code }: HttpError): UserMessageKind => {
  if (code === "messages_differ") return "changed";
  if (status === 413) return "too_long";
  if (status === 429) return "busy";
  if (status >= 500) return "unavailable";
  return [401, 403, 404].includes(status) ? "denied" : "refused";
};
