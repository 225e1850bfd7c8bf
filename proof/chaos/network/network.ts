import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

import { type Random, randomOf } from "../../kit/random.ts";

/** A way to a server on 127.0.0.1 that does to connections what networks do. */
export interface Network {
  /** The server's, by this way. */
  readonly url: string;
  /** From now on new connections are sound. Earlier damage to the others stays. */
  readonly mend: () => void;
  /** How many connections met with each fate. */
  readonly fates: ReadonlyMap<FateName, number>;
  readonly close: () => Promise<void>;
}

/** The fates of a connection that is made while the network is bad. */
const fates = {
  refused: "it is reset at once",
  silent: "it is taken, and nothing ever comes through",
  cut: "it is reset after some bytes of one side",
  "half-closed": "after some bytes of one side the other sees its end, and may go on writing",
  dead: "after some bytes one side says nothing any more, and neither side notices",
  late: "what one side says comes later, also when that side is gone; then it is reset",
  torn: "what one side says comes in pieces; then it is reset",
} as const;

export type FateName = keyof typeof fates;

// The keys of the object above.
const fateNames = Object.keys(fates) as FateName[];

/** Returns a network that is bad until it is mended. Its faults follow from the seed and the order of connections. */
export const badNetwork = async (target: string, seed: number): Promise<Network> => {
  const url = new URL(target);
  const behind = { host: url.hostname, port: Number(url.port) };
  const random = randomOf(seed);
  const counts = new Map<FateName, number>();
  const sockets = new Set<Socket>();
  let isBad = true;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const fate = isBad ? fateOf(random) : null;
    if (fate !== null) counts.set(fate.name, (counts.get(fate.name) ?? 0) + 1);
    keep(client);
    if (fate?.name === "refused") client.resetAndDestroy();
    else if (fate?.name === "silent") client.resume();
    else join(client, keep(connect({ ...behind, allowHalfOpen: true })), fate);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens on a port.
  url.port = String((server.address() as { readonly port: number }).port);
  return {
    url: url.href,
    fates: counts,
    mend: () => {
      isBad = false;
    },
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

interface Fate {
  readonly name: FateName;
  /** Whose words it concerns. */
  readonly side: "client" | "server";
  /** After how many bytes of that side. */
  readonly bytes: number;
  readonly delayMs: number;
}

const fateOf = (random: Random): Fate => ({
  // The first two let nothing happen, so they are rarer.
  name: fateNames[random.percent(10) ? random.integer(0, 1) : random.integer(2, fateNames.length - 1)] ?? "cut",
  side: random.percent(50) ? "client" : "server",
  // Within the greeting as well as within the hundredth statement.
  bytes: Math.floor(10 ** (random.integer(100, 480) / 100)),
  delayMs: random.integer(1, delayMsMax),
});

/** Longer than a store waits for an answer. */
const delayMsMax = 1000;

const join = (client: Socket, server: Socket, fate: Fate | null): void => {
  const reset = (): void => {
    client.resetAndDestroy();
    server.resetAndDestroy();
  };
  passOn(client, server, fate?.side === "client" ? fate : null, reset);
  passOn(server, client, fate?.side === "server" ? fate : null, reset);
  // The other side notices when one dies, except over a dead network.
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on("close", () => {
      if (fate?.name === "dead") return;
      if (fate?.name === "late") setTimeout(() => other.destroy(), fate.delayMs).unref();
      else other.destroy();
    });
  }
};

const passOn = (from: Socket, to: Socket, fate: Fate | null, reset: () => void): void => {
  let left = fate?.bytes ?? Infinity;
  const spent = (): void => {
    if (fate?.name === "half-closed") to.end();
    else if (fate?.name !== "dead") reset();
  };
  from.on("data", (bytes: Buffer) => {
    if (left <= 0) return;
    // A dead network loses whole segments; all else may end within a message.
    const passed = fate?.name === "dead" ? bytes : bytes.subarray(0, Math.min(bytes.length, left));
    left -= passed.length;
    const isSpent = left <= 0;
    if (fate?.name === "late") {
      setTimeout(() => {
        write(to, passed);
        if (isSpent) spent();
      }, fate.delayMs).unref();
      return;
    }
    for (const piece of fate?.name === "torn" ? piecesOf(passed) : [passed]) write(to, piece);
    if (isSpent) spent();
  });
  from.on("end", () => {
    if (fate?.name !== "dead" && fate?.name !== "late") to.end();
  });
};

const write = (to: Socket, bytes: Buffer): void => {
  if (to.writable) to.write(bytes);
};

const piecesOf = (bytes: Buffer): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );

const pieceBytes = 7;
