import type { HostOptions } from "@colloquy/host";
import { Random } from "../world/random.ts";

/** Returns the configuration of a seed's hosts: the same for all its processes. */
export const madeUpHost = (
  seed: number,
): Pick<HostOptions, "whenHeld" | "pollMs" | "progressMs" | "partials" | "snapshotEvery"> => {
  const random = new Random(seed, "host");
  return {
    whenHeld: random.chance(0.75) ? "enqueue" : "reject",
    pollMs: random.pick([20, 50]),
    progressMs: random.pick([null, null, 10]),
    partials: random.pick(["askAgain", "keep"]),
    snapshotEvery: random.pick([0, 1, 5, 512]),
  };
};
