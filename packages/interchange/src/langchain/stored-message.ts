import * as z from "zod/mini";
import type { Json, JsonObject } from "@colloquy/machine";
import { jsonObject, jsonValue } from "../exchange/import-problem.ts";
import { isJsonObject } from "../exchange/json-object.ts";

/** A message in LangChain's stored form (`StoredMessage`, the output of `toDict`), as plain JSON. */
export interface LangChainMessage {
  readonly type: "human" | "ai" | "system" | "tool";
  readonly data: LangChainData;
}

interface LangChainData {
  readonly content: string | readonly JsonObject[];
  readonly id?: string;
  readonly name?: string;
  readonly additional_kwargs: JsonObject;
  readonly response_metadata: JsonObject;
  readonly tool_calls?: readonly JsonObject[];
  readonly invalid_tool_calls?: readonly JsonObject[];
  readonly tool_call_id?: string;
  readonly status?: "success" | "error";
  readonly [field: string]: Json | undefined;
}

const text = z.nullish(z.string());

/** The schema of the data that is read. Versions and integrations differ in what they leave out. */
const data = z.looseObject({
  content: z.nullish(z.union([z.string(), z.array(z.union([z.string(), jsonObject]))])),
  name: text,
  role: text,
  additional_kwargs: z.nullish(jsonObject),
  tool_calls: z.nullish(z.array(z.looseObject({ id: text, name: z.string(), args: z.nullish(jsonValue) }))),
  invalid_tool_calls: z.nullish(z.array(z.looseObject({ id: text, name: text, args: text, error: text }))),
  tool_call_id: text,
  status: text,
});

/**
 * The schema of a message in LangChain's stored form, or in one of two other serialised forms: `{ lc: 1, id: […,
 * "HumanMessage"], kwargs }` (`JSON.stringify` in JavaScript, `dumpd` in Python), and one flat object (`model_dump` in
 * Python, and LangGraph's server).
 */
export const storedMessage = z.pipe(
  z.transform((value: unknown) => (isJsonObject(value) ? asStored(value) : value)),
  z.looseObject({ type: z.string(), data }),
);

const asStored = (message: JsonObject): unknown => {
  const { lc, id, kwargs, ...flat } = message;
  if (lc === 1 && Array.isArray(id) && isJsonObject(kwargs)) return flatAsStored(kwargs, String(id.at(-1)));
  return "data" in flat || typeof flat["type"] !== "string" ? message : flatAsStored(message, flat["type"]);
};

/** `className` may be a type already. */
const flatAsStored = ({ type: _, ...fields }: JsonObject, className: string) => ({
  type: className.replace(/Message(?:Chunk)?$/, "").toLowerCase(),
  data: fields,
});

/** The calls as our export writes them beside LangChain's, if those cannot hold all of their fields. */
export const exactCalls = z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }));

export type StoredMessageRead = z.infer<typeof storedMessage>;
export type StoredData = z.infer<typeof data>;

/** The key in `additional_kwargs` of fields that LangChain has no place for. */
export const ourName = "colloquy";

/** LangChain's own mark of a system message that goes to OpenAI as a developer message. */
export const roleMark = "__openai_role__";
