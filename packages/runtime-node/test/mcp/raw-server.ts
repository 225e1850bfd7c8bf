import { InMemoryTransport, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";

/** Answers a request of a client: with a result, or null for silence. */
export type Answer = (params: Readonly<Record<string, unknown>>, server: RawServer) => unknown;

/** The controls of a server that does not keep to the protocol, and the methods that it received. */
export interface RawServer {
  readonly send: (message: object) => void;
  readonly close: () => Promise<void>;
  /** The methods of the received messages, in order. */
  readonly received: string[];
}

/** Makes a server in this process that gives these answers, even if they violate the protocol. */
export const rawServer = (answers: {
  readonly list?: Answer;
  readonly call?: Answer;
  readonly instructions?: string;
}): { readonly open: () => Transport; readonly servers: readonly RawServer[] } => {
  const servers: RawServer[] = [];
  const open = (): Transport => {
    const [client, other] = InMemoryTransport.createLinkedPair();
    const send = (message: object): void => {
      // The message violates the protocol on purpose, and is sent as it is. A closed client is ignored.
      void other.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage).catch(() => {});
    };
    const server: RawServer = { send, close: () => other.close(), received: [] };
    servers.push(server);
    // A transport has one listener.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    other.onmessage = (message): void => {
      if (!("method" in message)) return;
      server.received.push(message.method);
      if (!("id" in message)) return;
      const { id, method, params = {} } = message;
      const result = answerTo(method, params, server);
      if (result === undefined) send({ id, error: { code: -32601, message: "Method not found" } });
      else if (result !== null) send({ id, result });
    };
    void other.start();
    return client;
  };
  const answerTo = (method: string, params: Readonly<Record<string, unknown>>, server: RawServer): unknown => {
    if (method === "tools/list") return (answers.list ?? (() => ({ tools: [plainTool("work")] })))(params, server);
    if (method === "tools/call") return (answers.call ?? (() => says("done")))(params, server);
    if (method !== "initialize") return undefined;
    const capabilities = { tools: { listChanged: true } };
    const { instructions } = answers;
    const serverInfo = { name: "raw", version: "1" };
    return {
      protocolVersion: "2025-06-18",
      capabilities,
      serverInfo,
      ...(instructions !== undefined && { instructions }),
    };
  };
  return { open, servers };
};

export const plainTool = (name: string): object => ({ name, inputSchema: { type: "object" } });

export const says = (text: string): object => ({ content: [{ type: "text", text }] });
