/// <reference lib="esnext.disposable" preserve="true" />
import { type Tool, tool } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError, type ContentPart, digestOf } from "@colloquy/machine";
import { wellFormed } from "@colloquy/machine/hosting";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { Connection } from "./connection.ts";
import { type McpToolProblem, type Offered, type OfferedTool, parametersOf } from "./offered-tools.ts";
import type { McpTransport } from "./transport.ts";

/** The options for a server's tools. */
export interface McpOptions {
  readonly transport: McpTransport;
  /**
   * The prefix of its tools' names (`files_read`), so that those of two servers differ; it also names the server in
   * errors. Default: none.
   */
  readonly name?: string;
  /**
   * Whether the server's hints about its tools are trusted. If so, `approval` receives them, and a call of a tool that
   * claims only to read (`readOnlyHint`) is repeated after a crash. Default false: hints have no effect.
   */
  readonly trust?: boolean;
  /**
   * The tools that need approval before each call: `"always"`, or a function of what you know about a tool, such as its
   * name. Default: none.
   */
  readonly approval?: "always" | ((offered: OfferedTool) => boolean);
  /** The longest silence of a request, in milliseconds; the server's progress reports restart it. Default 60,000. */
  readonly timeoutMs?: number;
  /** The time limit of a call in all, in milliseconds, even with progress reports. Default 600,000. */
  readonly maxTotalMs?: number;
  /** The largest result, in UTF-16 units of its texts and data URLs; a larger one is a failure. Default 1,000,000. */
  readonly maxCharacters?: number;
  /** Called with the present tools when the server has changed its list. */
  readonly onChanged?: (tools: readonly Tool[]) => void;
}

/** The tools of one server. */
export interface McpTools extends AsyncDisposable {
  /** For `createHost({ tools })`: the last listed tools. A host keeps the tools that it was created with. */
  readonly tools: readonly Tool[];
  /** The listed tools that cannot be declared, with the reason. */
  readonly problems: readonly McpToolProblem[];
  /** The server's instructions, a foreign text for a system prompt; null if it has none. */
  readonly instructions: string | null;
  /** Lists the tools again. Rejects with `McpError`; the list then stays unchanged. */
  refresh(): Promise<readonly Tool[]>;
  /** Ends the connection, and the server's process. Running calls fail. */
  close(): Promise<void>;
}

/**
 * Connects to an MCP server, of the newest protocol or an older one, and makes its tools tools of a host. A call that
 * fails for any reason gives a failed result that the model reads, and never hangs. A lost connection is opened again
 * at the next call. Texts from the server (names, descriptions, results) are foreign and untrusted.
 *
 * @throws ConfigurationError for invalid options.
 * @throws McpError if the server cannot be reached, or its list cannot be read.
 */
export const mcpTools = async (options: McpOptions): Promise<McpTools> => {
  checkOptions("mcpTools", options, optionKinds);
  const problem = problemOfTransport(options.transport);
  if (problem !== null) throw new ConfigurationError(problem);
  const server = new ServedTools(options);
  try {
    await server.begin();
    return server;
  } catch (thrown) {
    // Not awaited: an unresponsive process is killed only after seconds.
    void server.close();
    throw thrown;
  }
};

class ServedTools implements McpTools {
  readonly #options: McpOptions;
  readonly #connection: Connection;
  #offered: Offered = { tools: [], problems: [] };
  #tools: readonly Tool[] = [];
  #instructions: string | null = null;

  constructor(options: McpOptions) {
    this.#options = options;
    const { transport, timeoutMs = 60_000, maxTotalMs = 600_000, onChanged } = options;
    // If the list cannot be read now, it is read at the next change.
    const onListChanged = (): void => void this.refresh().then(onChanged, () => {});
    this.#connection = new Connection({ transport, server: nameOf(options), timeoutMs, maxTotalMs, onListChanged });
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  get problems(): readonly McpToolProblem[] {
    return this.#offered.problems;
  }

  get instructions(): string | null {
    return this.#instructions;
  }

  async begin(): Promise<void> {
    await this.refresh();
    this.#instructions = await this.#connection.instructions();
  }

  async refresh(): Promise<readonly Tool[]> {
    const offered = await this.#connection.list();
    const prefix = this.#options.name === undefined ? "" : `${this.#options.name}_`;
    const names = toolNames(
      offered.tools.map(({ name }) => name),
      prefix,
    );
    const shown = new Map<string, OfferedTool>();
    const problems = [...offered.problems];
    for (const each of offered.tools) {
      const name = names.get(each.name) ?? each.name;
      if (shown.has(name)) problems.push({ name: each.name, problem: `another tool is shown as "${name}"` });
      else shown.set(name, each);
    }
    this.#offered = { tools: [...shown.values()], problems };
    this.#tools = Object.freeze([...shown].map(([name, each]) => this.#toolOf(each, name)));
    return this.#tools;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #toolOf(offered: OfferedTool, name: string): Tool {
    const { trust = false, approval } = this.#options;
    const { annotations, ...unhinted } = offered;
    const isApproved = approval === "always" || approval?.(trust ? offered : unhinted) === true;
    return tool({
      name,
      description: offered.description ?? offered.title ?? "",
      input: { jsonSchema: parametersOf(offered) },
      ...(trust && annotations?.readOnlyHint === true ? { recovery: "rerun" } : {}),
      ...(isApproved ? { approval: "always" } : {}),
      run: (input, { signal }) => this.#run(offered, input, signal),
    });
  }

  async #run(offered: OfferedTool, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> {
    const { maxCharacters = 1_000_000 } = this.#options;
    if (!this.#offered.tools.some(({ name }) => name === offered.name))
      throw this.#connection.failure(`it no longer offers "${offered.name}"`);
    const result = await this.#connection.call(offered, input, signal);
    if (result.isError === true) throw this.#connection.failure(textOfResult(result) || "it says that the call failed");
    const parts = partsOfResult(result);
    const size = sizeOf(parts);
    if (size <= maxCharacters) return parts.length === 0 ? null : parts;
    throw this.#connection.failure(`its result has ${size} characters; ${maxCharacters} are allowed. Ask for less.`);
  }
}

/** Returns the name of a server for errors, without possible secrets in its address. */
const nameOf = ({ name, transport }: McpOptions): string => {
  if (name !== undefined) return name;
  if ("command" in transport) return transport.command;
  return "url" in transport ? new URL(transport.url).host : "of the given transport";
};

/** The longest delay of a timer, in milliseconds. */
const timerMax = 2_147_483_647;

const problemOfTransport = (transport: McpTransport): string | null => {
  const name = "mcpTools: transport";
  const ways = "it must be { command, … }, { url, … }, a transport or a function that makes one";
  if (typeof transport === "function") return null;
  if (typeof transport !== "object") return `${name} is of type ${typeof transport}; ${ways}`;
  if ("command" in transport)
    return problemOfOptions(name, transport, {
      command: kinds.needed(kinds.anything),
      args: kinds.anything,
      env: kinds.anything,
      cwd: kinds.anything,
    });
  if (!("url" in transport)) return "start" in transport && "send" in transport ? null : `${name} is none; ${ways}`;
  // Not shown, because the address may contain a secret.
  if (!URL.canParse(String(transport.url))) return `${name}.url is not a URL`;
  return problemOfOptions(name, transport, {
    url: kinds.needed(kinds.anything),
    headers: kinds.anything,
    fetch: kinds.anything,
  });
};

const countKind = kinds.word(
  `a whole number from 1 to ${timerMax.toLocaleString("en")}`,
  (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= timerMax,
);

const optionKinds: OptionKinds<McpOptions> = {
  transport: kinds.needed(kinds.anything),
  name: kinds.word(
    '1 to 32 letters, digits, "_" or "-", since it stands before names of tools',
    (name) => typeof name === "string" && /^[a-zA-Z0-9_-]{1,32}$/.test(name),
  ),
  trust: kinds.anything,
  approval: kinds.anything,
  timeoutMs: countKind,
  maxTotalMs: countKind,
  maxCharacters: countKind,
  onChanged: kinds.anything,
};

/**
 * Returns the names of a server's tools for models, by the server's names. Providers allow at most 64 letters, digits,
 * `_` and `-`; other characters become `_`. If two names would be equal, or a name is cut, a digest of the server's
 * name distinguishes them. So the order of the list does not matter.
 */
const toolNames = (names: readonly string[], prefix: string): ReadonlyMap<string, string> => {
  const plain = new Map(names.map((name) => [name, prefix + name.replaceAll(/[^a-zA-Z0-9_-]/g, "_")]));
  const shared = new Map<string, number>();
  for (const name of plain.values()) shared.set(name, (shared.get(name) ?? 0) + 1);
  return new Map(
    [...plain].map(([name, shown]) => {
      const isOwn = shown === prefix + name || shared.get(shown) === 1;
      return [name, isOwn && shown.length <= lengthMax ? shown : withDigest(shown, name)];
    }),
  );
};

const lengthMax = 64;

const withDigest = (shown: string, name: string): string => {
  const digest = digestOf(name)
    .replaceAll(/[^a-zA-Z0-9]/g, "")
    .slice(0, 8);
  return `${shown.slice(0, lengthMax - digest.length - 1)}_${digest}`;
};

/**
 * Converts a result for the model: texts unchanged, images as data URLs, and all other parts as descriptions. A result
 * without text gets its structured content as a text.
 */
const partsOfResult = ({ content, structuredContent }: CallToolResult): readonly ContentPart[] => {
  const parts = content.map(partOf);
  const hasText = content.some(({ type }) => type === "text");
  return structuredContent === undefined || hasText
    ? parts
    : [...parts, { type: "text", text: JSON.stringify(wellFormed(structuredContent)) }];
};

/** Returns the texts of a result, for an error. */
const textOfResult = (result: CallToolResult): string =>
  partsOfResult(result)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");

/** Returns the size of a result, in UTF-16 units. */
const sizeOf = (parts: readonly ContentPart[]): number => {
  const texts = parts.map((part) => (part.type === "text" ? part.text : part.type === "image" ? part.url : ""));
  return texts.reduce((size, { length }) => size + length, 0);
};

const partOf = (block: ContentBlock): ContentPart => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return imageOf(block.mimeType, block.data);
    case "audio":
      return inWords(`audio, ${block.mimeType}, ${bytesOf(block.data)} bytes; it can't be shown`);
    case "resource_link": {
      const { uri, name, description, mimeType } = block;
      return inWords(["a resource", name, uri, mimeType, description].filter((word) => word !== undefined).join(", "));
    }
    case "resource": {
      const { resource } = block;
      const { uri, mimeType = "" } = resource;
      if ("text" in resource) return { type: "text", text: `[resource ${uri}]\n${resource.text}` };
      if (mimeType.startsWith("image/")) return imageOf(mimeType, resource.blob);
      return inWords(`resource ${uri}, ${mimeType || "binary"}, ${bytesOf(resource.blob)} bytes; it can't be shown`);
    }
  }
};

const inWords = (words: string): ContentPart => ({ type: "text", text: `[${words}]` });

const imageOf = (type: string, data: string): ContentPart => ({ type: "image", url: `data:${type};base64,${data}` });

/** Returns the number of bytes of base64: three for four characters. */
const bytesOf = (data: string): number => Math.floor((data.replace(/=+$/, "").length * 3) / 4);
