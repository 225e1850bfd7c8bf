import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";

/** The kinds of rows with a published schema of OpenAI. */
export type RowKind = "FineTuneChatRequestInput" | "FineTunePreferenceRequestInput" | "FineTuneCompletionRequestInput";

/** Returns the problem of a row by the schema of its kind, or null. */
export type CheckRow = (kind: RowKind, row: unknown) => string | null;

/** Returns a check by OpenAI's schemas of fine-tuning files. Without the schemas it prints a line and returns null. */
export const fineTuneSchemas = (): CheckRow | null => {
  const folder = process.env["COLLOQUY_SCHEMAS"] ?? join(import.meta.dirname, "../../../../../shared/schemas");
  const file = join(folder, "fine-tune.json");
  if (!existsSync(file)) {
    console.log(`skipped: no schemas at ${file} (set COLLOQUY_SCHEMAS to the folder where they are)`);
    return null;
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "api", ...asJsonSchema(JSON.parse(readFileSync(file, "utf8"))) });
  const checks = new Map<RowKind, ReturnType<typeof ajv.compile>>();
  return (kind, row) => {
    const check = checks.get(kind) ?? ajv.compile({ $ref: `api#/components/schemas/${kind}` });
    checks.set(kind, check);
    return check(row) ? null : ajv.errorsText(check.errors);
  };
};

/** Converts OpenAPI 3.0 to JSON Schema: `nullable` becomes a type, and references change. */
const asJsonSchema = (value: unknown): object => {
  const walked = walk(value);
  return typeof walked === "object" && walked !== null ? walked : {};
};

const walk = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value === "string") return value.startsWith("#/components") ? `api${value}` : value;
  if (typeof value !== "object" || value === null) return value;
  const { nullable, ...rest } = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, walk(member)]));
  return nullable === true ? { anyOf: [rest, { type: "null" }] } : rest;
};

/** Runs the checks of OpenAI's cookbook ("Data preparation and analysis for chat model fine-tuning"), also on tools. */
export const cookbookProblems = (row: unknown): readonly string[] => {
  if (!isRecord(row)) return ["data_type"];
  const { messages } = row;
  if (!Array.isArray(messages) || messages.length === 0) return ["missing_messages_list"];
  const problems: string[] = [];
  for (const message of messages as readonly unknown[]) {
    if (!isRecord(message)) return ["data_type"];
    if (!("role" in message && "content" in message)) problems.push("message_missing_key");
    if (Object.keys(message).some((key) => !knownKeys.includes(key))) problems.push("message_unrecognized_key");
    if (!["system", "user", "assistant", "tool"].includes(String(message["role"]))) problems.push("unrecognized_role");
    const { content, tool_calls: calls, role } = message;
    const says = content !== "" || calls !== undefined || role === "tool";
    if (!says || !(typeof content === "string" || isImages(content))) problems.push("missing_content");
  }
  if (!messages.some((message: unknown) => isRecord(message) && message["role"] === "assistant"))
    problems.push("example_missing_assistant_message");
  return problems;
};

const knownKeys = ["role", "content", "name", "tool_calls", "tool_call_id", "weight"];

/** Returns whether a content has images, which the cookbook predates. */
const isImages = (content: unknown): boolean =>
  Array.isArray(content) && content.some((part: unknown) => isRecord(part) && part["type"] === "image_url");

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
