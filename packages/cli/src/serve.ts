import { once } from "node:events";
import { isIPv4, isIPv6 } from "node:net";
import { threadServer, type ThreadServerOptions, type ThreadServer } from "@colloquy/server";
import { reasonOf } from "@colloquy/cli/terminal";
import type { CommandContext } from "./command-context.ts";
import { ArgumentError, exitCodes } from "./exit-code.ts";
import { openedHost, opening } from "./opened-host.ts";
import type { OptionValues } from "./options.ts";
import { settled } from "./settings.ts";
import { readTextFile } from "./text-file.ts";
import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";

/** Serves threads over HTTP until the process is asked to end. Returns the exit code. */
export const serve = async (_: readonly string[], given: OptionValues, context: CommandContext): Promise<number> => {
  const settings = settled(given, context);
  const place = placeOf(settings.options);
  const access = accessOf(settings.options, place.address);
  const { errors, printer, signal } = context;
  const opened = await opening(async (opens) => {
    const { host, agent, about } = await openedHost(settings, context, opens, { recovery: {} });
    if (agent !== null && agent.signature !== null)
      throw new ArgumentError(`the agent "${agent.name}" takes the inputs of its signature, and no messages`);
    const server = threadServer(host, {
      ...access,
      responses: { modelParameters: settings.options.provider === "openai-responses" ? "responses" : "chat" },
      onError: (error, id) => errors.line(`colloquy: request ${id}: ${reasonOf(error)}`),
    });
    const listening = await listen(server, place);
    opens(() => listening.close());
    return { host, about, url: listening.url };
  });
  try {
    errors.line(opened.about);
    printer.line(`listening at ${opened.url}`);
    opened.host.start();
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    await opened.close();
  }
  return exitCodes.done;
};

/** Where options say that a server is to listen. @throws ArgumentError for what is no port */
export const placeOf = ({
  port = "8080",
  host = "127.0.0.1",
}: Pick<OptionValues, "port" | "host">): Required<Pick<ListeningPlace, "port" | "address">> => {
  const number = /^\d{1,5}$/.test(port) ? Number(port) : Number.NaN;
  if (number <= 65_535) return { port: number, address: host };
  throw new ArgumentError(`--port is "${port}"; it must be a whole number from 0 to 65535, 0 for one that is free`);
};

/**
 * Returns who may ask: on a loopback address everybody, on any other the clients with the token.
 *
 * @throws ArgumentError for another address without a token
 */
export const accessOf = (
  { "token-file": file }: Pick<OptionValues, "token-file">,
  address: string,
): Pick<ThreadServerOptions, "authenticate" | "hosts"> => {
  // Any address of 127.0.0.0/8 may be given, and the server itself knows only the usual names.
  if (file === undefined && isLoopback(address))
    return { hosts: ["localhost", "127.0.0.1", "[::1]", ...(isIPv4(address) ? [address] : [])] };
  if (file === undefined)
    throw new ArgumentError(
      `--host ${address} is reached by other machines: give a --token-file, whose token they have to bear`,
    );
  const token = tokenIn(file);
  // No web page knows the token, whatever host name it uses.
  return { authenticate: { token }, hosts: ["*"] };
};

const tokenIn = (file: string): string => {
  let text: string;
  let mode = 0;
  try {
    text = readTextFile(file, (stats) => (mode = stats.mode & 0o777));
  } catch (thrown) {
    throw new ArgumentError(`--token-file: ${reasonOf(thrown)}; it must hold one token${howToMake}`);
  }
  // Windows does not keep permissions in the mode.
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw new ArgumentError(
      `--token-file "${file}" is open to other users (mode ${mode.toString(8)}); run: chmod 600 ${JSON.stringify(file)}`,
    );
  const token = text.trim();
  if (/^[\x21-\x7e]{16,}$/.test(token)) return token;
  const what = /[^\x21-\x7e]/.test(token)
    ? "holds spaces, or what is not ASCII"
    : `has ${token.length} characters, and a token has at least 16`;
  throw new ArgumentError(`--token-file "${file}" ${what}; it must hold one token${howToMake}`);
};

const howToMake = ": `(umask 077; openssl rand -hex 32 > FILE)` writes one";

export interface ListeningPlace {
  readonly port: number;
  readonly address?: string;
  /** The time limits of a request, in milliseconds: for its head, and for all of it. Default 10,000 and 30,000. */
  readonly headMs?: number;
  readonly requestMs?: number;
}

export interface Listening {
  /** The URL, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** Refuses new requests, waits for running ones as the server does, and closes all connections. */
  close(): Promise<void>;
}

/**
 * Lets a server listen on this machine. Slow requests are cut off, so that none holds a connection forever.
 *
 * @throws Error if the port is in use or not allowed, or the address is not this machine's; the message names it
 */
export const listen = async (server: ThreadServer, place: ListeningPlace): Promise<Listening> => {
  const { port, address = "127.0.0.1", headMs = 10_000, requestMs = 30_000 } = place;
  const answer = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
  const sockets = createServer(
    {
      headersTimeout: Math.min(headMs, requestMs),
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(headMs, 1_000),
    },
    (request, response) => void answer(request, response),
  );
  await begun(sockets, port, address);
  const bound = sockets.address();
  const boundPort = typeof bound === "object" && bound !== null ? bound.port : port;
  return {
    url: `http://${isIPv6(address) ? `[${address}]` : address}:${boundPort}`,
    port: boundPort,
    close: async () => {
      // New connections still get the answer 503, so that a proxy can try another server.
      await server.close();
      const closed = new Promise((resolve) => sockets.close(resolve));
      sockets.closeAllConnections();
      await closed;
    },
  };
};

const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address);

const begun = (sockets: Server, port: number, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    sockets.once("error", (cause: NodeJS.ErrnoException) => {
      const problem = problemOf(cause.code, port, address);
      reject(problem === null ? cause : new Error(problem, { cause }));
    });
    sockets.listen(port, address, resolve);
  });

const problemOf = (code: string | undefined, port: number, address: string): string | null => {
  if (code === "EADDRINUSE")
    return `port ${port} of ${address} is taken; give another as --port, or 0 for one that is free`;
  if (code === "EACCES")
    return `this user may not listen on port ${port}; give one from 1024 on as --port, or 0 for one that is free`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `"${address}" is no address of this machine; give one that is as --host, such as 127.0.0.1, or 0.0.0.0 for all`;
  return null;
};
