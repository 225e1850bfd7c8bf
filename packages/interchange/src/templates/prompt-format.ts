import { ConfigurationError, type Message, contentText, type Part } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import { systemOf } from "./template/system-of.ts";
import type { RenderOptions, Template } from "./template/template.ts";

/**
 * A template of prefixes, suffixes and roles, as in the JSON file of retico's DialogueHistory. It cannot render tools
 * and images.
 */
export interface PromptFormat extends Template {
  /** Returns the announcement of a speaker, such as `Child : `; empty without a role. */
  readonly formatRole: (of: Formatted) => string;
  /** Returns a text after its role, between prefix and suffix. */
  readonly format: (of: Formatted, text: string) => string;
  /** The announcements of each speaker, in both spellings: `Child :` and `Child:`. */
  readonly stopPatterns: Readonly<Record<"user" | "agent", readonly string[]>>;
}

/** The parts of a prompt that have a prefix and a suffix. */
export type Formatted = "user" | "agent" | "system_prompt" | "prompt";

/**
 * Creates a prompt format from the JSON of its file. The rendered text is between `prompt.pre` and `prompt.suf`: the
 * system prompt, then each message after its speaker. A blank line and the agent's role follow. A prompt without a
 * system message has no `system_prompt`; an empty system message gives an empty one. Reasoning is left out.
 *
 * Other members of the file (retico's `interruption`) are ignored. A speaker without `role` is announced by its prefix
 * only.
 *
 * @throws ConfigurationError that lists all errors, each with its path.
 */
export const promptFormat = (file: unknown): PromptFormat => {
  const config = frozenCopy(configOf(file));
  const formatRole = (of: Formatted): string => {
    const { role, role_sep: separator } = roleOf(config, of);
    return role === undefined ? "" : `${role} ${separator} `;
  };
  const format = (of: Formatted, text: string): string => config[of].pre + formatRole(of) + text + config[of].suf;
  const stopPatterns = { user: stopsOf(config.user), agent: stopsOf(config.agent) };
  const asked = `\n\n${config.agent.pre}${formatRole("agent")}`;
  const render = (messages: readonly Message[], options: RenderOptions = {}): Rendered => {
    const { system, rest } = systemOf(messages, options.system);
    if (options.tools !== undefined && options.tools.length > 0) return noTools;
    let text = config.prompt.pre;
    for (const message of [...system, ...rest]) {
      const said = typeof message === "string" ? Either.right(message) : plainText(message);
      if (Either.isLeft(said)) return said;
      text += format(typeof message === "string" ? "system_prompt" : formattedAs[message.role], said.right);
    }
    return Either.right(text + config.prompt.suf + (options.addGenerationPrompt === false ? "" : asked));
  };
  return {
    name: "prompt-format",
    version: 1,
    options: config,
    stop: [...new Set([...stopPatterns.user, ...stopPatterns.agent])],
    opening: stopPatterns.agent,
    formatRole,
    format,
    stopPatterns,
    render,
  };
};

type Rendered = Either.Either<string, string>;

const around = { pre: z.string(), suf: z.string() };
const speaker = z.object({ role: z.optional(z.string()), role_sep: z.prefault(z.string(), ""), ...around });
const configSchema = z.object({
  user: speaker,
  agent: speaker,
  system_prompt: z.object(around),
  prompt: z.object(around),
});
type Config = z.output<typeof configSchema>;

const configOf = (file: unknown): Config => {
  const parsed = configSchema.safeParse(file, { error: english.localeError });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the whole"}: ${message}`);
  throw new ConfigurationError(
    `promptFormat can't read the format: ${problems.join("; ")}. It takes user and agent with role, role_sep, pre and suf, system_prompt and prompt with pre and suf`,
  );
};

/** Errors are in English, whichever language zod is set to elsewhere. */
const english = z.locales.en();

const roleOf = (config: Config, of: Formatted): Partial<Config["user"]> =>
  of === "user" || of === "agent" ? config[of] : {};

/**
 * Returns the stop patterns of a speaker. A blank role has none, because it would end an answer at its first blank.
 */
const stopsOf = ({ role = "", role_sep: separator }: Config["user"]): readonly string[] =>
  role.trim() === "" ? [] : [`${role} ${separator}`, `${role}${separator}`];

/** The part for each role. A tool's result is refused earlier, because of its parts. */
const formattedAs: Readonly<Record<Message["role"], Formatted>> = {
  system: "system_prompt",
  developer: "system_prompt",
  user: "user",
  assistant: "agent",
  tool: "user",
};

const noTools: Rendered = Either.left(
  "a prompt format has no place for tools: declare none, or take a chat template that renders them",
);

/** Returns a message as text, without its reasoning. Returns an error text if it has a part that is not text. */
const plainText = ({ id, parts }: Message): Either.Either<string, string> => {
  const other = parts.map(({ type }) => notText[type]).find((what) => what !== null);
  return other === undefined
    ? Either.right(contentText(parts))
    : Either.left(
        `message ${id} has ${other}, for which the template has no place: take a template that has one, or a policy that leaves it out`,
      );
};

/** The names of parts that cannot be written as text; null for those that can. */
const notText: Readonly<Record<Part["type"], string | null>> = {
  text: null,
  data: null,
  reasoning: null,
  refusal: null,
  image: "an image",
  opaque: "an attachment",
  toolCall: "a tool call",
  toolResult: "a tool's result",
};
