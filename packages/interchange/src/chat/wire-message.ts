import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import { jsonObject } from "../exchange/import-problem.ts";
import { excerpt } from "../exchange/json-object.ts";
import type { Json, JsonObject } from "@colloquy/machine";

/** A message of chat completions, loosely typed: the known fields, and any others. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: string | null | readonly JsonObject[];
  readonly name?: string;
  readonly refusal?: string;
  readonly tool_calls?: readonly JsonObject[];
  readonly tool_call_id?: string;
  readonly [field: string]: Json | undefined;
}

/** The schema of the fields that are read. All are optional, since every server leaves out some. */
const wireMessage = z.looseObject({
  role: z.nullish(z.string()),
  content: z.nullish(z.union([z.string(), z.array(z.union([z.string(), jsonObject]))])),
  name: z.nullish(z.string()),
  refusal: z.nullish(z.string()),
  tool_calls: z.nullish(z.array(jsonObject)),
  tool_call_id: z.nullish(z.string()),
});

export type WireMessage = z.infer<typeof wireMessage>;

/** Parses a message, or returns what is wrong with it. */
export const parseWireMessage = (wire: unknown): Either.Either<string, WireMessage> => {
  const parsed = wireMessage.safeParse(wire);
  if (parsed.success) return Either.right(parsed.data);
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "it" : issue.path.join(".");
  return Either.left(`not a chat message: ${where} is not as expected in ${excerpt(wire)}`);
};
