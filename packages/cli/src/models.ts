import type { LlmHandler } from "@colloquy/host";
import { openaiChat, openaiResponses, textCompletion } from "@colloquy/runtime-node";
import { reasonOf } from "@colloquy/cli/terminal";
import type { CommandContext } from "./command-context.ts";
import { ArgumentError } from "./exit-code.ts";
import { loaded } from "./optional-modules.ts";
import type { OptionValues } from "./options.ts";
import { readTextFile } from "./text-file.ts";

/** A source of models, and the handlers to call them. */
export interface Provider {
  /** The server or the package, for a person; empty if there is no model at all. */
  readonly name: string;
  readonly model: string;
  readonly handler: (model: string) => LlmHandler;
  /** Asks the server for the names of its models; none if it does not say. Never rejects. */
  readonly listed?: () => Promise<readonly string[]>;
}

type ModelOptions = Pick<OptionValues, "model" | "base-url" | "provider" | "template" | "no-stream">;

/**
 * Returns the provider that options, an agent and the environment name.
 *
 * @throws ArgumentError if they name none, or one that cannot be used
 */
export const providerOf = async (
  options: ModelOptions,
  agent: { readonly model: string | null } | null,
  environment: CommandContext["environment"],
): Promise<Provider> => {
  const { provider = "openai", template } = options;
  if (template !== undefined && provider !== "completion")
    throw new ArgumentError("--template is about text completion: give --provider completion as well");
  if (!isOpenAi(provider)) return aiSdkProvider(provider, options, agent);
  const { model, ...connection } = serverOf(options, agent, environment);
  const stream = options["no-stream"] !== true;
  const about = { name: withoutSecrets(connection.baseURL), model, listed: () => modelsOf(connection) };
  if (provider === "openai-responses")
    return { ...about, handler: (named) => openaiResponses({ ...connection, stream, model: named }) };
  if (provider === "openai")
    return { ...about, handler: (named) => openaiChat({ ...connection, stream, model: named }) };
  const given = { ...connection, stream, template: await templateOf(template) };
  return { ...about, handler: (named) => textCompletion({ ...given, model: named }) };
};

interface Server {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly model: string;
}

/**
 * Returns the OpenAI-compatible server that options, an agent and the environment name.
 *
 * @throws ArgumentError as above
 */
export const serverOf = (
  options: Pick<OptionValues, "model" | "base-url">,
  agent: { readonly model: string | null } | null,
  environment: CommandContext["environment"],
): Server => {
  const given = options["base-url"] ?? present(environment["OPENAI_BASE_URL"]);
  const apiKey = present(environment["OPENAI_API_KEY"]);
  if (apiKey === undefined && given === undefined) {
    throw new ArgumentError(
      "no model to talk to: set OPENAI_API_KEY, and with --model or OPENAI_MODEL say which; or give the --base-url of a server that needs no key, such as http://127.0.0.1:8080/v1; or another provider, such as --provider anthropic --model NAME, with its key. Without any of them, `pnpm start` in the repository of colloquy converses with a weather agent",
    );
  }
  if (given !== undefined && !(URL.canParse(given) && /^https?:$/.test(new URL(given).protocol))) {
    throw new ArgumentError(
      `the base URL ${URL.canParse(given) && !/[@?#]/.test(given) ? `"${given}" ` : ""}is not a URL of http or https; give one such as http://127.0.0.1:8080/v1`,
    );
  }
  return {
    // The client requires a key, even for a server without one.
    apiKey: apiKey ?? "none",
    baseURL: given ?? "https://api.openai.com/v1",
    model: options.model ?? agent?.model ?? present(environment["OPENAI_MODEL"]) ?? "gpt-4o-mini",
  };
};

const modelsOf = async ({ baseURL, apiKey }: Omit<Server, "model">): Promise<readonly string[]> => {
  try {
    const headers = { authorization: `Bearer ${apiKey}` };
    const answer = await fetch(`${baseURL.replace(/\/$/, "")}/models`, { headers, signal: AbortSignal.timeout(5_000) });
    // Cast: another answer throws below.
    const { data } = (await answer.json()) as { readonly data: readonly { readonly id: string }[] };
    return data.map(({ id }) => id).filter((id) => typeof id === "string");
  } catch {
    // It has no list, or none that can be read.
    return [];
  }
};

export const withoutSecrets = (address: string): string => {
  const url = new URL(address);
  return `${url.protocol}//${url.host}${url.pathname}`;
};

/**
 * Returns a text without a possible user and password in an address: everything between its scheme and its last `@`.
 */
export const withoutUser = (text: string): string => text.replaceAll(/\b([a-z][\w+.-]+:(?:\/\/)?)[^\s"']*@/gi, "$1");

const isOpenAi = (provider: string): boolean => ["openai", "openai-responses", "completion"].includes(provider);

const present = (value: string | undefined): string | undefined => (value === "" ? undefined : value);

const aiSdkProvider = async (
  given: string,
  options: ModelOptions,
  agent: { readonly model: string | null } | null,
): Promise<Provider> => {
  const name = given.replace(/^ai-sdk:/, "");
  // Never a path: the person who installed the command decides which code runs.
  if (!/^(?:@[a-z0-9-]+\/)?[a-z0-9][a-z0-9._-]*$/.test(name))
    throw new ArgumentError(
      `--provider is "${given}"; name a provider such as anthropic, or a package as ai-sdk:PACKAGE`,
    );
  const model = options.model ?? agent?.model;
  if (model == null) throw new ArgumentError(`--provider ${given} needs the --model that is to be called`);
  const isPackage = name.includes("/") || name.endsWith("-provider");
  const from = isPackage ? name : `@ai-sdk/${name}`;
  const needed = `--provider ${given}`;
  const exported = await loaded<object>(needed, [from, "ai"], () => import(from));
  const { aiSdkModel } = await loaded(needed, ["ai"], () => import("@colloquy/runtime-node/ai-sdk"));
  const provider = providerIn(Object.entries(exported), options["base-url"]);
  if (provider === null)
    throw new ArgumentError(
      `the package "${from}" has no provider of the AI SDK that can be used${options["base-url"] === undefined ? "" : " with --base-url"}`,
    );
  return {
    name: options["base-url"] === undefined ? from : withoutSecrets(options["base-url"]),
    model,
    handler: (named) => (call, context) => {
      const wanted = call.model["model"];
      const made = provider.languageModel(typeof wanted === "string" ? wanted : named);
      // `aiSdkModel` checks the provider's result.
      return aiSdkModel(made as Parameters<typeof aiSdkModel>[0])(call, context);
    },
  };
};

interface AiSdkProvider {
  readonly languageModel: (model: string) => unknown;
}

/** Returns a package's provider: its default one, or one made for an address. */
const providerIn = (
  exported: readonly (readonly [string, unknown])[],
  baseURL: string | undefined,
): AiSdkProvider | null => {
  if (baseURL === undefined) return exported.map(([, value]) => value).find(isProvider) ?? null;
  for (const [name, make] of exported) {
    if (!name.startsWith("create") || typeof make !== "function") continue;
    const made: unknown = Reflect.apply(make, undefined, [{ baseURL }]);
    if (isProvider(made)) return made;
  }
  return null;
};

const isProvider = (value: unknown): value is AiSdkProvider =>
  typeof value === "function" && "languageModel" in value && typeof value.languageModel === "function";

const templateOf = async (file: string | undefined) => {
  if (file === undefined)
    throw new ArgumentError("--provider completion needs a --template: how the model's prompt is written as one text");
  try {
    const text = readTextFile(file);
    if (file.endsWith(".json")) return (await import("@colloquy/interchange/templates")).promptFormat(JSON.parse(text));
    const { jinjaTemplate } = await loaded(
      "a Jinja template",
      ["@huggingface/jinja"],
      () => import("@colloquy/interchange/templates/jinja"),
    );
    return jinjaTemplate(text);
  } catch (thrown) {
    if (thrown instanceof ArgumentError) throw thrown;
    throw new ArgumentError(`the template "${file}" can't be used: ${reasonOf(thrown)}`, { cause: thrown });
  }
};
