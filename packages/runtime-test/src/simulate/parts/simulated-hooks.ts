import { type Hooks, StoreError } from "@colloquy/host";
import { LeaseLostError } from "@colloquy/host/store";
import { Random } from "../world/random.ts";
import type { SimulatedProcess } from "../world/process.ts";
import { SimulatedFailure } from "../world/simulation-error.ts";
import type { World } from "../world/world.ts";

/** Makes hooks, in every fourth conversation: without any, a host waits for nothing before it performs an effect. */
export const hooksIn = (world: World, process: SimulatedProcess): Hooks => {
  if (!new Random(world.seed, "hooks").chance(0.25)) return {};
  const hook = async (...given: readonly unknown[]): Promise<void> => {
    if (!process.crosses("a hook")) return;
    world.scribbling.given(...given);
    if (world.hits("hookSlow")) await process.sleep(world.random.whole(1, 20));
    if (world.hits("hookThrows")) throw new SimulatedFailure("the hook is broken");
  };
  return {
    beforeTurn: hook,
    beforeStep: hook,
    beforeToolCall: hook,
    afterTurn: hook,
    afterStep: hook,
    afterToolCall: hook,
  };
};

/** Checks that an error which a host reports from the background was caused by a simulated fault. */
export const checkReported = (world: World, error: unknown, where: string): void => {
  if (error instanceof SimulatedFailure || error instanceof StoreError || error instanceof LeaseLostError) return;
  if (where === "snapshot" && (world.hit.has("snapshotDamaged") || world.hasRewritten)) return;
  world.breaks(
    "settles",
    `${where} failed with an error that no hook threw: ${error instanceof Error ? error.stack : String(error)}`,
  );
};
