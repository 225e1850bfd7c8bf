import { connect, type Socket } from "node:net";

import { relay, type Take } from "../../kit/proxy.ts";
import { type Random, randomOf } from "../../kit/random.ts";

/** A proxy to a server on 127.0.0.1 that damages connections as networks do. */
export interface Network {
  readonly url: string;
  /** Makes new connections sound. Earlier damage to others stays. */
  readonly mend: () => void;
  readonly fates: ReadonlyMap<FateName, number>;
  readonly close: () => Promise<void>;
}

const fates = {
  refused: "it is reset at once",
  silent: "it is accepted, but passes nothing on",
  cut: "it is reset after some bytes of one side",
  "half-closed": "after some bytes of one side the other sees its end, but may continue to write",
  dead: "after some bytes one side goes silent, and neither side notices",
  late: "one side's data arrives late, even if that side is gone; then it is reset",
  torn: "one side's data arrives in pieces; then it is reset",
} as const;

export type FateName = keyof typeof fates;

// The keys of the object above.
const fateNames = Object.keys(fates) as FateName[];

/**
 * Starts a network that is bad until it is mended. Its faults follow from the seed and the order of connections.
 *
 * @param delayMsMax longer than a store waits for an answer
 */
export const badNetwork = async (target: string, seed: number, delayMsMax: number): Promise<Network> => {
  const url = new URL(target);
  const behind = { host: url.hostname, port: Number(url.port) };
  const random = randomOf(seed);
  const counts = new Map<FateName, number>();
  let isBad = true;
  const take: Take = (client, keep) => {
    const fate = isBad ? fateOf(random, delayMsMax) : null;
    if (fate !== null) counts.set(fate.name, (counts.get(fate.name) ?? 0) + 1);
    if (fate?.name === "refused") client.resetAndDestroy();
    else if (fate?.name === "silent") client.resume();
    else join(client, keep(connect({ ...behind, allowHalfOpen: true })), fate);
  };
  const { port, close } = await relay(take, { allowHalfOpen: true });
  url.port = String(port);
  return {
    url: url.href,
    fates: counts,
    mend: () => {
      isBad = false;
    },
    close,
  };
};

interface Fate {
  readonly name: FateName;
  readonly side: "client" | "server";
  readonly bytes: number;
  readonly delayMs: number;
}

const fateOf = (random: Random, delayMsMax: number): Fate => ({
  // The first two let nothing through, so they are rarer.
  name: fateNames[random.percent(10) ? random.integer(0, 1) : random.integer(2, fateNames.length - 1)] ?? "cut",
  side: random.percent(50) ? "client" : "server",
  // From within the greeting up to about the hundredth statement.
  bytes: Math.floor(10 ** (random.integer(100, 480) / 100)),
  delayMs: random.integer(1, delayMsMax),
});

const join = (client: Socket, server: Socket, fate: Fate | null): void => {
  const reset = (): void => {
    client.resetAndDestroy();
    server.resetAndDestroy();
  };
  passOn(client, server, fate?.side === "client" ? fate : null, reset);
  passOn(server, client, fate?.side === "server" ? fate : null, reset);
  // When one side ends, the other learns of it, except over a dead network.
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
    // A dead network loses whole segments; other fates may end within a message.
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
