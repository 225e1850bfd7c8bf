import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import type { Json, JsonObject } from "../thread/json.ts";

/** A message as chat completions write it. Loosely typed: the fields that Colloquy knows, and whatever else came. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: string | null | readonly JsonObject[];
  readonly name?: string;
  readonly refusal?: string;
  readonly tool_calls?: readonly JsonObject[];
  readonly tool_call_id?: string;
  readonly [field: string]: Json | undefined;
}

/** A JSON object, which a value parsed from JSON is unless it is a list, null or a scalar. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const jsonObject = z.custom<JsonObject>(isJsonObject, "expected an object");

/** What is read of a message. Everything may be missing, since every server leaves something out. */
const wireMessage = z.looseObject({
  role: z.string().nullish(),
  content: z.union([z.string(), z.array(z.union([z.string(), jsonObject]))]).nullish(),
  name: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(jsonObject).nullish(),
  tool_call_id: z.string().nullish(),
});

export type WireMessage = z.infer<typeof wireMessage>;

/** Reads a message of the wire, or says in words what is wrong with it. */
export const parseWireMessage = (wire: unknown): Either.Either<string, WireMessage> => {
  const parsed = wireMessage.safeParse(wire);
  if (parsed.success) return Either.right(parsed.data);
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "it" : issue.path.join(".");
  return Either.left(`not a chat message: ${where} is not as expected in ${excerpt(wire)}`);
};

/** The beginning of a value's JSON, for a message that names it. */
export const excerpt = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > excerptLength ? `${text.slice(0, excerptLength)}…` : text;
};

const excerptLength = 200;
