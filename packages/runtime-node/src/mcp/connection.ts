import {
  type CallToolResult,
  Client,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";
import { redact } from "@colloquy/host/runtime";
import { messageOf } from "@colloquy/host/store";
import { McpError } from "./mcp-error.ts";
import { listTools, type Offered, type OfferedTool } from "./offered-tools.ts";
import { type McpTransport, openTransport, withoutSecrets } from "./transport.ts";

/** The options of a connection. */
export interface ConnectionOptions {
  readonly transport: McpTransport;
  /** The name of its server in errors. */
  readonly server: string;
  readonly timeoutMs: number;
  readonly maxTotalMs: number;
  readonly onListChanged: () => void;
}

/**
 * The connection to a server. It is opened when needed; if it was lost, each call that finds it lost opens it once.
 * Every request ends: with its answer, with an error, by its signal, or by a timeout. Errors contain no secrets.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #withoutSecrets: (text: string) => string;
  #client: Promise<Client> | null = null;
  #isFirst = true;
  /** The end of the server process's standard error output. */
  #errors = "";
  readonly #closing = new AbortController();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#withoutSecrets = withoutSecrets(options.transport);
  }

  list(): Promise<Offered> {
    return this.#use((client) => listTools(client, { timeout: this.#options.timeoutMs }));
  }

  /** Returns the server's instructions for a system prompt. */
  async instructions(): Promise<string | null> {
    return (await this.#client)?.getInstructions() ?? null;
  }

  call(
    { name, inputSchema }: OfferedTool,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const { timeoutMs: timeout, maxTotalMs: maxTotalTimeout } = this.#options;
    // Without a listener, the server is not asked to report progress.
    const onprogress = (): void => {};
    const waiting: RequestOptions = { signal, timeout, maxTotalTimeout, onprogress, resetTimeoutOnProgress: true };
    // Without the output schema: a server's regular expression over its own answer could block the process forever.
    const toolDefinition = { name, inputSchema };
    return this.#use(
      (client) => client.callTool({ name, arguments: { ...given } }, { ...waiting, toolDefinition }),
      signal,
    );
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#closing.abort();
    this.#client = null;
    // A connection that failed to open needs no closing.
    await client?.then((opened) => opened.close()).catch(() => {});
  }

  /** Makes the error for a failure: the server's own message, or a description of what happened to the request. */
  failure(thrown: unknown): McpError {
    const { server, timeoutMs } = this.#options;
    const code = thrown instanceof SdkError ? thrown.code : null;
    let words = messageOf(thrown);
    if (code === SdkErrorCode.RequestTimeout)
      words = `it was silent for ${timeoutMs} ms, or took too long. ${outcomeUnknown}`;
    if (code === SdkErrorCode.ConnectionClosed)
      words = `the connection was lost. ${outcomeUnknown}${this.#lastWords()}`;
    // Cut, because a server may send any length, and a failed schema check is described at length.
    return new McpError(`MCP server ${server}: ${redact(this.#withoutSecrets(words)).slice(0, charactersMax)}`);
  }

  #lastWords(): string {
    // Redacted before it is cut, because half of a key does not look like a key.
    const words = redact(this.#errors).slice(-lastWordsMax).trim();
    return words === "" ? "" : ` The last that it wrote to standard error: ${words}`;
  }

  async #use<Result>(work: (client: Client) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    try {
      const client = await orAborted(this.#opened(), signal);
      try {
        return await work(client);
      } catch (thrown) {
        if (!isSessionLost(thrown, client)) throw thrown;
        // The server did not process the request, so it is sent again in a new session.
        await this.#leave(client);
        return await work(await orAborted(this.#opened(), signal));
      }
    } catch (thrown) {
      // The client would report an abort as a timeout.
      signal?.throwIfAborted();
      throw thrown instanceof McpError ? thrown : this.failure(thrown);
    }
  }

  #opened(): Promise<Client> {
    if (this.#closing.signal.aborted)
      return Promise.reject(new McpError(`MCP server ${this.#options.server}: mcpTools was closed`));
    this.#client ??= this.#open().catch((thrown: unknown) => {
      this.#client = null;
      throw thrown;
    });
    return this.#client;
  }

  async #open(): Promise<Client> {
    const { transport: given, server, timeoutMs, onListChanged } = this.#options;
    this.#errors = "";
    const transport = await openTransport(given, this.#isFirst, (text) => {
      // Cut between words, well before the shown part, because half of a key would not be recognised.
      const errors = this.#withoutSecrets(this.#errors + text);
      this.#errors = errors.length > errorsMax ? errors.slice(-errorsMax).replace(/^\S{1,500}/, "") : errors;
    });
    this.#isFirst = false;
    if (transport === null)
      throw new McpError(
        `MCP server ${server}: the connection was lost, and this transport can't be opened again; give a function that makes one`,
      );
    const client = new Client(
      { name: "colloquy", version: "0" },
      {
        versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(timeoutMs, probeMs) } },
        listChanged: { tools: { autoRefresh: false, onChanged: onListChanged } },
      },
    );
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has no other way
    client.onclose = (): void => void this.#leave(client);
    try {
      const { signal } = this.#closing;
      await orAborted(client.connect(transport, { timeout: timeoutMs, signal }), signal);
    } catch (thrown) {
      // Not awaited: an unresponsive process is killed only after seconds.
      void client.close().catch(() => {});
      throw thrown;
    }
    return client;
  }

  /** Drops the client, so that the next request opens another connection. */
  async #leave(client: Client): Promise<void> {
    const current = this.#client;
    if ((await current?.catch(() => null)) !== client || this.#client !== current) return;
    this.#client = null;
    await client.close().catch(() => {});
  }
}

const outcomeUnknown = "It may or may not have taken effect.";
const charactersMax = 2_000;
const lastWordsMax = 1_000;
const errorsMax = 4_000;

/** The time limit of the version request, in milliseconds; old servers on standard output do not answer it. */
const probeMs = 15_000;

/**
 * Returns whether the session was lost. A restarted server does not know earlier sessions: the status is 404 by the
 * protocol, 400 from many servers.
 */
const isSessionLost = (thrown: unknown, { transport }: Client): boolean =>
  thrown instanceof SdkHttpError &&
  (thrown.status === 404 || thrown.status === 400) &&
  transport?.sessionId !== undefined;

const orAborted = async <Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> => {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { signal: over.signal });
  });
  return Promise.race([promise, aborted]).finally(() => over.abort());
};
