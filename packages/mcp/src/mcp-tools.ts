/// <reference lib="esnext.disposable" preserve="true" />
import { type Tool, tool } from "@colloquy/host";
import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { Connection } from "./connection.ts";
import { type McpToolProblem, type Offered, type OfferedTool, parametersOf } from "./offered-tools.ts";
import { partsOfResult, sizeOf, textOfResult } from "./result-content.ts";
import { toolNames } from "./tool-names.ts";
import type { McpTransport } from "./transport.ts";

/** How the tools of a server are used. */
export interface McpOptions {
  readonly transport: McpTransport;
  /** Stands before the names of its tools (`files_read`), so that those of two servers differ, and names it in errors. Default: none. */
  readonly name?: string;
  /**
   * Whether the server's hints about its tools are believed: `approval` is then shown them, and a call of a tool that claims
   * only to read (`readOnlyHint`) is repeated after a crash. Default false: no hint has an effect.
   */
  readonly trust?: boolean;
  /** Which tools need approval before each call: `"always"`, or a function of what you know of a tool, such as its name. Default: none. */
  readonly approval?: "always" | ((offered: OfferedTool) => boolean);
  /** How long a request may be silent, in milliseconds; progress that the server reports begins it anew. Default 60,000. */
  readonly timeoutMs?: number;
  /** How long a call may take in all, in milliseconds, however much progress is reported. Default 600,000. */
  readonly maxTotalMs?: number;
  /** The largest result, in UTF-16 units of its texts and data URLs; a larger one is a failure. Default 1,000,000. */
  readonly maxCharacters?: number;
  /** Called when the server changed its list, with the tools that there are now. */
  readonly onChanged?: (tools: readonly Tool[]) => void;
}

/** The tools of one server. */
export interface McpTools extends AsyncDisposable {
  /** For `createHost({ tools })`: as they were last listed. A host keeps those that it was made with. */
  readonly tools: readonly Tool[];
  /** What the server lists and can't be declared, and why. */
  readonly problems: readonly McpToolProblem[];
  /** What the server says about using it, foreign words for a system prompt; null where it says nothing. */
  readonly instructions: string | null;
  /** Lists the tools anew. Rejects with `McpError`; the list is then what it was. */
  refresh(): Promise<readonly Tool[]>;
  /** Ends the connection, and the process of the server. Calls that are out fail. */
  close(): Promise<void>;
}

/**
 * Connects to an MCP server, of the newest protocol or an older one, and has its tools as tools of a host. A call that goes
 * wrong, whatever the server does, is a failed result that the model reads, never a hang. A connection that was lost is opened again at the
 * next call. What a server says (names, descriptions, results) is foreign text.
 *
 * @throws ConfigurationError for options that are invalid.
 * @throws McpError where the server can't be reached, or its list can't be read.
 */
export const mcpTools = async (options: McpOptions): Promise<McpTools> => {
  checkOptions(options);
  const server = new ServedTools(options);
  try {
    await server.begin();
    return server;
  } catch (thrown) {
    // Not waited for: a process that does not react is killed after seconds.
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
    // A list that can't be read now is read with the next change.
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

/** How errors name a server, without what may be secret in its address. */
const nameOf = ({ name, transport }: McpOptions): string => {
  if (name !== undefined) return name;
  if (typeof transport === "function") return "of the given transport";
  if ("command" in transport) return transport.command;
  return "url" in transport ? new URL(transport.url).host : "of the given transport";
};

const checkOptions = (options: McpOptions): void => {
  const problem = problemOfOptions("mcpTools", options, optionNames) ?? problemOfTransport(options.transport);
  if (problem !== null) throw new ConfigurationError(problem);
  const { name, timeoutMs, maxTotalMs, maxCharacters } = options;
  if (name !== undefined && !/^[a-zA-Z0-9_-]{1,32}$/.test(name))
    throw new ConfigurationError(
      `mcpTools: name is ${JSON.stringify(name)}; it stands before names of tools, so it must be 1 to 32 letters, digits, "_" or "-"`,
    );
  for (const [option, value] of Object.entries({ timeoutMs, maxTotalMs, maxCharacters })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1 && value <= timerMax))
      throw new ConfigurationError(
        `mcpTools: ${option} is ${value}; it must be a whole number from 1 to ${timerMax.toLocaleString("en")}`,
      );
  }
};

/** A timer takes no more. */
const timerMax = 2_147_483_647;

const problemOfTransport = (transport: McpTransport): string | null => {
  if (typeof transport === "function") return null;
  if (typeof transport !== "object")
    return `mcpTools: transport is of type ${typeof transport}; it must be { command, … }, { url, … }, a transport or a function that makes one`;
  if ("command" in transport)
    return problemOfOptions("mcpTools: transport", transport, {
      command: "required",
      args: true,
      env: true,
      cwd: true,
    });
  if (!("url" in transport))
    return "start" in transport && "send" in transport
      ? null
      : "mcpTools: transport is none; it must be { command, … }, { url, … }, a transport or a function that makes one";
  // The address may hold a secret: it is not shown.
  if (!URL.canParse(String(transport.url))) return "mcpTools: transport.url is no URL";
  return problemOfOptions("mcpTools: transport", transport, { url: "required", headers: true, fetch: true });
};

const optionNames: OptionNames<McpOptions> = {
  transport: "required",
  name: true,
  trust: true,
  approval: true,
  timeoutMs: true,
  maxTotalMs: true,
  maxCharacters: true,
  onChanged: true,
};
