import {
  ConfigurationError,
  digestOf,
  type Json,
  type JsonObject,
  contentText,
  type Message,
  type ToolCallPart,
  type ToolDeclaration,
  toolCallsOf,
  toolResultOf,
} from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import { systemOf } from "../template/system-of.ts";
import type { RenderOptions, Template } from "../template/template.ts";
import { parseTemplate, type Program, runTemplate } from "./interpreter.ts";

export interface JinjaTemplateOptions {
  /** The template's `bos_token`. Default empty: most servers add it to a prompt themselves. */
  readonly bosToken?: string;
  /** The template's `eos_token`. Default empty. */
  readonly eosToken?: string;
  /** The ends of an answer, for servers that pass the model's end token through. Default: `eosToken`. */
  readonly stop?: readonly string[];
  /** Other variables of the template, such as `enable_thinking`. */
  readonly variables?: JsonObject;
}

/**
 * Creates a template from a model's chat template, as in `tokenizer_config.json` and GGUF files. It is rendered with
 * the settings of transformers: tool calls, tools and reasoning have its form. `strftime_now` uses the time given to
 * `render` (in UTC; undefined without one), and `raise_exception` gives a left. The content of messages is data, and
 * never evaluated.
 *
 * A template is foreign code. It reads only its variables. If it takes too many steps or makes too large a text, the
 * result is a left. Needs the optional peer `@huggingface/jinja`.
 *
 * @throws ConfigurationError for a text that is not a template, and for invalid options.
 */
export const jinjaTemplate = (text: string, options: JinjaTemplateOptions = {}): Template => {
  const {
    bosToken = "",
    eosToken = "",
    stop = eosToken === "" ? [] : [eosToken],
    variables = {},
  } = frozenCopy(checked(options));
  const program = programOf(text);
  const tokens = { bos_token: bosToken, eos_token: eosToken };
  const render = (ofCall: VariablesOfCall): string =>
    runTemplate(program, { ...constants, ...tokens, ...variables, ...ofCall });
  return {
    name: "jinja",
    version: 1,
    options: { digest: digestOf(text), bosToken, eosToken, variables },
    stop,
    opening: [],
    render: (messages, { system: instead, tools = [], addGenerationPrompt = true, at }: RenderOptions = {}) => {
      if (tools.length > 0 && !/\btools\b/u.test(text))
        return Either.left("the chat template renders no tools: declare none");
      const { system, rest } = systemOf(messages, instead);
      const shaped: Json[] = [];
      for (const message of [...system, ...rest]) {
        const each =
          typeof message === "string" ? Either.right({ role: "system", content: message }) : chatMessage(message);
        if (Either.isLeft(each)) return each;
        shaped.push(each.right);
      }
      return Either.tryCatch(
        () =>
          render({
            messages: shaped,
            tools: tools.length === 0 ? null : tools.map(chatTool),
            documents: null,
            add_generation_prompt: addGenerationPrompt,
            ...(at === undefined ? {} : { strftime_now: (format: string) => strftime(at, format) }),
          }),
        (thrown) => `the chat template can't render this conversation: ${reasonOf(thrown)}`,
      );
    },
  };
};

// The schema is strict, because the names of transformers (`eos_token`) are easily confused with these. Without a stop
// pattern an answer would not end.
const optionsSchema: z.ZodMiniType = z.strictObject({
  bosToken: z.optional(z.string()),
  eosToken: z.optional(z.string()),
  stop: z.optional(z.array(z.string())),
  variables: z.optional(z.record(z.string(), z.unknown())),
});

const checked = (options: JinjaTemplateOptions): JinjaTemplateOptions => {
  const parsed = optionsSchema.safeParse(options, { error: english.localeError });
  if (parsed.success) return options;
  const problems = parsed.error.issues.map(
    ({ path, message }) => (path.length > 0 ? `${path.join(".")}: ` : "") + message,
  );
  throw new ConfigurationError(
    `jinjaTemplate can't take its options: ${problems.join("; ")}. It takes bosToken, eosToken, stop and variables`,
  );
};

/** Errors are in English, whichever language zod is set to elsewhere. */
const english = z.locales.en();

type VariablesOfCall = Readonly<Record<string, Json | ((format: string) => string)>>;

const programOf = (text: string): Program => {
  try {
    return parseTemplate(text);
  } catch (thrown) {
    throw new ConfigurationError(`jinjaTemplate can't read the template: ${reasonOf(thrown)}`);
  }
};

/** The largest number of entries of a range, as in Python's sandbox. */
const rangeMax = 100_000;

const range = (first: number, second?: number, step = 1): readonly number[] => {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  if (step === 0) throw new RangeError("range() must not have a step of 0");
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= rangeMax)) throw new RangeError(`range() has more than ${rangeMax} entries`);
  return Array.from({ length }, (_, index) => start + index * step);
};

const constants = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  range,
  raise_exception: (reason: unknown): never => {
    throw new Error(String(reason));
  },
};

const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Formats a time in UTC by a format of Python's `strftime`, in English. Unknown codes stay unchanged. */
export const strftime = (at: number, format: string): string => {
  const date = new Date(at);
  const long = (part: "month" | "weekday"): string =>
    new Intl.DateTimeFormat("en-US", { [part]: "long", timeZone: "UTC" }).format(date);
  const [weekday = "", day = "", month = "", year = "", time = ""] = date.toUTCString().replace(",", "").split(" ");
  const [hours = "", minutes = "", seconds = ""] = time.split(":");
  const number = date.toISOString().slice(5, 7);
  const of: Readonly<Record<string, string>> = {
    a: weekday,
    A: long("weekday"),
    b: month,
    B: long("month"),
    d: day,
    H: hours,
    m: number,
    M: minutes,
    S: seconds,
    y: year.slice(-2),
    Y: year,
    "%": "%",
  };
  return format.replaceAll(/%(.)/gu, (code, letter: string) =>
    Object.hasOwn(of, letter) ? (of[letter] ?? code) : code,
  );
};

/**
 * Converts a message to the form in which transformers passes it to a template. Returns an error text if it has none.
 */
export const chatMessage = (message: Message): Either.Either<string, JsonObject> => {
  const { id, role, name, parts } = message;
  const result = toolResultOf(message);
  const content = result?.content ?? parts;
  const other = content.find(({ type }) => type === "image" || type === "opaque");
  if (other !== undefined) {
    const what = other.type === "image" ? "an image" : "an attachment";
    return Either.left(
      `message ${id} has ${what}, which a model can't be sent as text: call it through chat completions, or leave such messages out by a policy`,
    );
  }
  const calls = toolCallsOf(message).map(toolCall);
  const reasoning = parts.flatMap((part) => (part.type === "reasoning" ? part.text : [])).join("\n");
  const text = contentText(content);
  return Either.right({
    // Few templates know the newer role.
    role: role === "developer" ? "system" : role,
    content: text,
    ...(result === undefined ? {} : { name: result.name, tool_call_id: result.providerCallId ?? result.callId }),
    ...(name === undefined ? {} : { name }),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  });
};

/** Returns a tool as transformers describes it to a template. */
export const chatTool = ({ name, description, parameters }: ToolDeclaration): JsonObject => ({
  type: "function",
  function: { name, description: description ?? "", parameters: parameters ?? { type: "object", properties: {} } },
});

const toolCall = ({ callId, providerCallId, name, arguments: written }: ToolCallPart): JsonObject => ({
  id: providerCallId ?? callId,
  type: "function",
  function: { name, arguments: argumentsOf(written) },
});

/**
 * Parses arguments to an object, because templates iterate over its members. Otherwise it returns the model's text.
 */
const argumentsOf = (written: string): Json => {
  try {
    const read: unknown = JSON.parse(written);
    // The result of JSON.parse is JSON.
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as JsonObject) : written;
  } catch {
    return written;
  }
};
