import * as z from "zod/mini";
import type { Json, JsonObject, ContentPart, Part, ToolOutcome, ToolResultPart } from "@colloquy/machine";
import { foreignPart, foreignValue } from "../exchange/foreign.ts";
import { jsonValue } from "../exchange/import-problem.ts";
import { defined, isEmpty, isJsonObject, parsedJson } from "../exchange/json.ts";
import { type Lose, loseIn, loseRest, onlyText } from "../exchange/reading.ts";
import { type AiFile, aiFileIn, aiFileOf, partOfAiFile, typeOfDataUrl } from "./file.ts";
import { aiOptions, underName } from "./provider-options.ts";
import { modelTextOf, partOfAiText } from "./text.ts";

const providerOptions = z.optional(aiOptions);
const typedPart = z.custom<JsonObject>(
  (part) => isJsonObject(part) && typeof part["type"] === "string",
  "expected a part",
);

/** The schema of a tool's answer in the AI SDK. */
export const toolOutput = z.discriminatedUnion("type", [
  z.looseObject({ type: z.enum(["text", "error-text"]), value: z.string(), providerOptions }),
  z.looseObject({ type: z.enum(["json", "error-json"]), value: jsonValue, providerOptions }),
  z.looseObject({ type: z.literal("execution-denied"), reason: z.optional(z.string()), providerOptions }),
  z.looseObject({ type: z.literal("content"), value: z.array(typedPart), providerOptions }),
]);

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
  output: z.infer<typeof toolOutput>,
  ours: boolean,
  lose: Lose,
): { readonly content: string | readonly ContentPart[]; readonly outcome: ToolOutcome } => {
  const { type, providerOptions: options, ...rest } = output;
  const isDenied = output.type === "execution-denied";
  if (options !== undefined) lose("output.providerOptions", 'the field "providerOptions"', keeps);
  loseRest(
    lose,
    "output",
    { ...rest, value: undefined, ...(output.type === "content" ? {} : { reason: undefined }) },
    keeps,
  );
  if (output.type === "content") {
    const content = output.value.map((part, place) => partOfOutput(part, loseIn(lose, `output.value.${place}`)));
    return { content, outcome: "completed" };
  }
  const outcome = isDenied ? "refused" : type.startsWith("error") ? "failed" : "completed";
  const text = output.type === "execution-denied" ? (output.reason ?? notRun) : textOfValue(output.type, output.value);
  // For a plain text only the text is kept, and also for a text that our own export wrote.
  if (type === "text" || ours) return { content: text, outcome };
  return { content: [{ type: "text", text, provider: { output: type } }], outcome };
};

/** The text of a result that was refused without a reason. */
export const notRun = "Tool call execution denied.";

const keeps = "a result keeps its call and its content";

const textOfValue = (type: string, value: Json): string =>
  type.endsWith("json") || typeof value !== "string" ? JSON.stringify(value) : value;

interface OutputText {
  readonly type: string;
  readonly value: string;
}

/** Returns the text of a result that was imported under another type, such as JSON. */
export const markedText = ([only, second]: readonly ContentPart[]): OutputText | undefined => {
  if (second !== undefined || only?.type !== "text") return undefined;
  const { output: type, ...others } = only.provider ?? {};
  if (typeof type !== "string" || !outputTypes.includes(type) || !isEmpty(others)) return undefined;
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
  const text = modelTextOf(part);
  if (text !== undefined) return [text];
  const file = aiFileOf(part);
  return file === undefined ? [] : filePart(file);
};

/** Links use the older form, because the newer one needs a JavaScript object that is not JSON. */
const filePart = ({ mediaType, url, reference, filename, options }: AiFile): readonly JsonObject[] => {
  const more = underName("providerOptions", options);
  const named = { ...defined({ filename }), ...more };
  if (reference !== undefined) return [{ type: "file", mediaType, data: { type: "reference", reference }, ...named }];
  if (url === undefined) return [];
  if (typeOfDataUrl(url) === undefined) return [{ type: "image-url", url, ...more }];
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

const fileOfOutput = ({ type, mediaType: given, url, data, filename: name }: JsonObject): AiFile | undefined => {
  const mediaType = typeof given === "string" ? given : "image";
  const filename = typeof name === "string" ? name : undefined;
  if (type === "image-url" || type === "file-url") return aiFileIn({ url }, mediaType, filename);
  if (type === "file") return aiFileIn(isJsonObject(data) ? data : { data }, mediaType, filename);
  const bytes = isJsonObject(data) ? data["data"] : data;
  return type === "file-data" || type === "image-data" ? aiFileIn({ bytes }, mediaType, filename) : undefined;
};
