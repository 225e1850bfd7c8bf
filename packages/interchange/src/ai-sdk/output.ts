import * as z from "zod/mini";
import type { Json, JsonObject, ContentPart, Part, ToolOutcome, ToolResultPart } from "@colloquy/machine";
import { type AiFile, aiFileOf, dataUrlOf, partOfAiFile, typeOfDataUrl } from "./file.ts";
import { aiOptions, underName } from "./provider-options.ts";
import { parsedJson } from "./arguments.ts";
import { aiTextOf, partOfAiText } from "./text.ts";
import { foreignPart, foreignValue } from "../exchange/foreign.ts";
import { jsonValue } from "../exchange/import-problem.ts";
import { type Lose, loseRest } from "../exchange/loss.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { onlyText } from "../exchange/reply-draft.ts";

/** The schema of a tool's answer in the AI SDK. */
export const toolOutput = z.discriminatedUnion("type", [
  z.looseObject({ type: z.enum(["text", "error-text"]), value: z.string(), providerOptions: z.optional(aiOptions) }),
  z.looseObject({ type: z.enum(["json", "error-json"]), value: jsonValue, providerOptions: z.optional(aiOptions) }),
  z.looseObject({
    type: z.literal("execution-denied"),
    reason: z.optional(z.string()),
    providerOptions: z.optional(aiOptions),
  }),
  z.looseObject({
    type: z.literal("content"),
    value: z.array(
      z.custom<JsonObject>((part) => isJsonObject(part) && typeof part["type"] === "string", "expected a part"),
    ),
    providerOptions: z.optional(aiOptions),
  }),
]);

export type ToolOutput = z.infer<typeof toolOutput>;

/** Returns a result in the SDK's form. The type tells whether it is an error, a refusal, JSON, a text or parts. */
export const outputOf = ({ content, outcome }: ToolResultPart): JsonObject => {
  const parts = content.flatMap(outputPart);
  const text = markedText(content) ?? textOfParts(parts);
  if (text === undefined) return { type: "content", value: parts };
  const { type, value } = text;
  if (type === "execution-denied" && value === notRun) return { type };
  if (type === "execution-denied" || outcome === "refused") return { type: "execution-denied", reason: value };
  if (outcome !== "completed") return { type: "error-text", value };
  return { type, value: type.endsWith("json") ? (parsedJson(value) ?? value) : value };
};

/** Returns the content of a result, and the outcome of the call. */
export const contentOfOutput = (
  output: ToolOutput,
  ours: boolean,
  lose: Lose,
): { readonly content: string | readonly ContentPart[]; readonly outcome: ToolOutcome } => {
  const { type, providerOptions: _, ...rest } = output;
  if (output.providerOptions !== undefined)
    loseRest(lose, "output", { providerOptions: output.providerOptions }, keeps);
  if (output.type === "content") {
    loseRest(lose, "output", { ...rest, value: undefined }, keeps);
    const content = output.value.map((part, place) =>
      partOfOutput(part, (path, what, why) => lose(`output.value.${place}.${path}`, what, why)),
    );
    return { content, outcome: "completed" };
  }
  loseRest(lose, "output", { ...rest, value: undefined, reason: undefined }, keeps);
  const outcome = type === "execution-denied" ? "refused" : type.startsWith("error") ? "failed" : "completed";
  const text = output.type === "execution-denied" ? (output.reason ?? notRun) : wordsOf(output.type, output.value);
  // For a plain text only the text is kept, and also for a text that our own export wrote.
  if (type === "text" || ours) return { content: text, outcome };
  return { content: [{ type: "text", text, provider: { output: type } }], outcome };
};

/** The text of a result that was refused without a reason. */
export const notRun = "Tool call execution denied.";

const keeps = "a result keeps its call and its content";

const wordsOf = (type: string, value: Json): string =>
  type.endsWith("json") || typeof value !== "string" ? JSON.stringify(value) : value;

interface OutputText {
  readonly type: string;
  readonly value: string;
}

/** Returns the text of a result that was imported under another type, such as JSON. */
export const markedText = ([only, second]: readonly ContentPart[]): OutputText | undefined => {
  if (second !== undefined || only?.type !== "text") return undefined;
  const { output: type, ...others } = only.provider ?? {};
  if (typeof type !== "string" || !outputTypes.includes(type) || Object.keys(others).length > 0) return undefined;
  // JSON that is formatted differently would come back changed.
  const changed = type.endsWith("json") && JSON.stringify(parsedJson(only.text)) !== only.text;
  return changed ? undefined : { type, value: only.text };
};

/** Returns the text of a result that consists of one text; an empty text if it has no parts. */
const textOfParts = (parts: readonly JsonObject[]): OutputText | undefined => {
  const value = parts.length === 0 ? "" : onlyText(parts);
  return value === undefined ? undefined : { type: "text", value };
};

const outputTypes: readonly string[] = ["error-text", "json", "error-json", "execution-denied"];

const outputPart = (part: Part): readonly JsonObject[] => {
  const own = foreignValue(part, "model");
  if (own !== undefined) return [own];
  const text = aiTextOf(part);
  if (text !== undefined) return [{ type: "text", text: text.text, ...underName("providerOptions", text.options) }];
  const file = aiFileOf(part);
  return file === undefined ? [] : filePart(file);
};

/** Links use the older form, because the newer one needs a JavaScript object that is not JSON. */
const filePart = ({ mediaType, url, reference, filename, options }: AiFile): readonly JsonObject[] => {
  const named = { ...(filename === undefined ? {} : { filename }), ...underName("providerOptions", options) };
  if (reference !== undefined) return [{ type: "file", mediaType, data: { type: "reference", reference }, ...named }];
  if (url === undefined) return [];
  if (typeOfDataUrl(url) === undefined) return [{ type: "image-url", url, ...underName("providerOptions", options) }];
  const data = url.slice(url.indexOf(",") + 1);
  return [{ type: "file", mediaType, data: { type: "data", data }, ...named }];
};

const partOfOutput = (part: JsonObject, lose: Lose): ContentPart => {
  const options = aiOptions.safeParse(part["providerOptions"]).data;
  const { type, text, providerOptions: _, ...rest } = part;
  if (type === "text" && typeof text === "string") {
    loseRest(lose, "", rest, keeps);
    return partOfAiText(text, options);
  }
  const file = fileOfOutput(part);
  const read = file === undefined ? undefined : partOfAiFile({ ...file, options }, lose);
  return read ?? foreignPart("model", part);
};

const fileOfOutput = (part: JsonObject): AiFile | undefined => {
  const { type, mediaType: given, url, data, filename: name } = part;
  const mediaType = typeof given === "string" ? given : "image";
  const filename = typeof name === "string" ? { filename: name } : {};
  if ((type === "image-url" || type === "file-url") && typeof url === "string") return { mediaType, url, ...filename };
  const inner = isJsonObject(data) ? data : { type: "data", data };
  if (type === "file" && isJsonObject(inner["reference"]))
    return { mediaType, reference: inner["reference"], ...filename };
  if (type === "file" && typeof inner["url"] === "string") return { mediaType, url: inner["url"], ...filename };
  if (!bytesTypes.includes(type) || typeof inner["data"] !== "string") return undefined;
  const bytes = dataUrlOf(inner["data"], mediaType);
  return bytes === undefined ? undefined : { mediaType: typeOfDataUrl(bytes) ?? mediaType, url: bytes, ...filename };
};

const bytesTypes: readonly unknown[] = ["file", "file-data", "image-data"];
