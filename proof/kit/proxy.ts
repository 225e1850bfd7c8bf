import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface Proxy {
  readonly url: string;
  /** Breaks all connections, and refuses new ones until `open`. */
  readonly shut: () => Promise<void>;
  readonly open: () => Promise<void>;
  /** Accepts all data but passes none on, in either direction, like a dead network. */
  readonly hold: () => void;
  /** Passes on the held data, even of clients that have left. Resolves when the server has answered it. */
  readonly deliver: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export const proxyTo = async (target: string): Promise<Proxy> => {
  const url = new URL(target);
  const [host, portBehind] = [url.hostname, Number(url.port)];
  const ways = new Set<Way>();
  let held = false;
  const take = (client: Socket): void => {
    const way: Way = { client, server: connect(portBehind, host), held: [] };
    ways.add(way);
    const pass = (from: Socket, to: Socket): void => {
      from.on("data", (bytes) => {
        if (held) way.held.push({ to, bytes });
        else to.write(bytes);
      });
      from.on("error", () => from.destroy());
    };
    client.on("close", () => {
      // Not destroyed: the server still does what was passed on.
      if (!held) way.server.end();
    });
    way.server.on("close", () => {
      client.destroy();
      ways.delete(way);
    });
    pass(client, way.server);
    pass(way.server, client);
  };
  let server = await listen(take, 0);
  const { port } = server.address() as { port: number };
  const shut = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    for (const way of ways) {
      way.client.destroy();
      way.server.destroy();
    }
    await closed;
  };
  url.port = String(port);
  return {
    url: url.href,
    shut,
    open: async () => {
      held = false;
      server = await listen(take, port);
    },
    hold: () => {
      held = true;
    },
    deliver: async () => {
      held = false;
      const answers = [...ways].filter((way) => way.held.some(({ to }) => to === way.server)).map(answered);
      for (const way of ways) {
        for (const { to, bytes } of way.held.splice(0)) to.write(bytes);
        if (way.client.destroyed) way.server.end();
      }
      await Promise.all(answers);
    },
    close: shut,
  };
};

interface Way {
  readonly client: Socket;
  readonly server: Socket;
  readonly held: { readonly to: Socket; readonly bytes: Buffer }[];
}

/** Resolves when the server sends data or closes the connection. */
const answered = async ({ server }: Way): Promise<void> => {
  // A connection outlives many waits, so the losing one of these two listeners must be removed.
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([once(server, "data", { signal }), once(server, "close", { signal })]);
  } finally {
    over.abort();
  }
};

const listen = async (take: (client: Socket) => void, port: number): Promise<Server> => {
  const server = createServer(take).listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
};
