import type { LlmOutcome } from "@colloquy/host";
import type { JsonObject, ReplyDraft } from "@colloquy/machine";
import { isObject } from "../reply/loose-json.ts";
import { hostOf } from "./dialects.ts";

/**
 * Returns where a reply comes from: the host of the server, and the family of the model (`gpt` of `openai/gpt-5-mini`). Fields
 * of a provider go back to the same origin only.
 */
export const originOf = (baseURL: string, model: string): string => {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return `${hostOf(baseURL)} ${/[a-z]+/.exec(name)?.[0] ?? name}`;
};

/** Returns an outcome whose reply says where it comes from, if it has anything that only its server can read. */
export const withOrigin = (outcome: LlmOutcome, origin: string): LlmOutcome =>
  outcome.type === "completed" && hasFields(outcome.reply)
    ? { ...outcome, reply: { ...outcome.reply, provider: { ...outcome.reply.provider, origin } } }
    : outcome;

/** Returns the origin that is recorded with a message; undefined if there is none. */
export const recordedOrigin = (provider: JsonObject | undefined): string | undefined => {
  const origin = provider?.["origin"];
  return typeof origin === "string" ? origin : undefined;
};

const hasFields = ({ content, toolCalls = [], provider }: ReplyDraft): boolean => {
  const parts = typeof content === "string" ? [] : (content ?? []);
  return [{ provider }, ...toolCalls, ...parts].some(hasOwnFields) || parts.some(isOfServer);
};

/** Where a call stood among the parts is no field of a server. */
const hasOwnFields = (part: object): boolean =>
  "provider" in part && isObject(part.provider) && Object.keys(part.provider).some((name) => name !== "aiPlace");

/** A part that only the server can read. Sources are for users, and sent to none. */
const isOfServer = (part: { readonly type: string; readonly value?: unknown }): boolean =>
  part.type === "opaque" && isObject(part.value) && part.value["type"] === "foreign" && part.value["format"] !== "ui";
