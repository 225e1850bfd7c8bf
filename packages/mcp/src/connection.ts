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

/** What a connection is made from. */
export interface ConnectionOptions {
  readonly transport: McpTransport;
  /** What its server is called in errors. */
  readonly server: string;
  readonly timeoutMs: number;
  readonly maxTotalMs: number;
  readonly onListChanged: () => void;
}

/**
 * The connection to a server: opened when it is needed, and after it was lost, once for each call that comes upon that.
 * Every request ends: with its answer, with an error, by its signal, or by the clock. What is thrown has no secrets.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #withoutSecrets: (text: string) => string;
  #client: Promise<Client> | null = null;
  #isFirst = true;
  /** The end of what the process of the server wrote to standard error. */
  #errors = "";
  readonly #closing = new AbortController();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#withoutSecrets = withoutSecrets(options.transport);
  }

  list(): Promise<Offered> {
    return this.#use((client) => listTools(client, { timeout: this.#options.timeoutMs }));
  }

  /** What the server says of itself, for a system prompt. */
  async instructions(): Promise<string | null> {
    return (await this.#client)?.getInstructions() ?? null;
  }

  call(
    { name, inputSchema }: OfferedTool,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const { timeoutMs: timeout, maxTotalMs: maxTotalTimeout } = this.#options;
    // Without a listener, a server is not asked to report progress.
    const onprogress = (): void => {};
    const waiting: RequestOptions = { signal, timeout, maxTotalTimeout, onprogress, resetTimeoutOnProgress: true };
    // Without the output's schema: a server's pattern over its own answer can block the process for ever.
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
    // One that could not be opened is closed.
    await client?.then((opened) => opened.close()).catch(() => {});
  }

  /** A failure in words: those of the server, or what became of the request. */
  failure(thrown: unknown): McpError {
    const { server, timeoutMs } = this.#options;
    const code = thrown instanceof SdkError ? thrown.code : null;
    const words =
      code === SdkErrorCode.RequestTimeout
        ? `it was silent for ${timeoutMs} ms, or took too long. ${outcomeUnknown}`
        : code === SdkErrorCode.ConnectionClosed
          ? `the connection was lost. ${outcomeUnknown}${this.#lastWords()}`
          : messageOf(thrown);
    // A server may send anything, and a schema that is not met is listed at length.
    return new McpError(`MCP server ${server}: ${redact(this.#withoutSecrets(words)).slice(0, charactersMax)}`);
  }

  #lastWords(): string {
    // Before it is cut: half of a key does not look like one.
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
        // The server did not look at it: it is sent again, on a session of its own.
        await this.#leave(client);
        return await work(await orAborted(this.#opened(), signal));
      }
    } catch (thrown) {
      // The client says of an abort that it took too long.
      signal?.throwIfAborted();
      throw thrown instanceof McpError ? thrown : this.failure(thrown);
    }
  }

  #opened(): Promise<Client> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closed());
    this.#client ??= this.#open().catch((thrown: unknown) => {
      this.#client = null;
      throw thrown;
    });
    return this.#client;
  }

  #closed(): McpError {
    return new McpError(`MCP server ${this.#options.server}: mcpTools was closed`);
  }

  async #open(): Promise<Client> {
    const { transport: given, server, timeoutMs, onListChanged } = this.#options;
    this.#errors = "";
    const transport = await openTransport(given, this.#isFirst, (text) => {
      // Cut between words, well before what is shown: nobody would know half of a key.
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
      // Not waited for: a process that does not react is killed after seconds.
      void client.close().catch(() => {});
      throw thrown;
    }
    return client;
  }

  /** The next request opens another connection. */
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

/** Old servers on standard output leave the question for their version unanswered. */
const probeMs = 15_000;

/** A server that was restarted does not know the sessions from before: 404 by the protocol, 400 by many. */
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
