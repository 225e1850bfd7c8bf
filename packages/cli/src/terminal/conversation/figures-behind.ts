import type { HostedThread } from "@colloquy/host";
import { turnNumbered } from "@colloquy/machine";
import type { Block } from "../blocks/block.ts";
import { agentFigures } from "../text/figures.ts";
import type { ExchangeSetting } from "./exchange-setting.ts";

/** Returns the figures of a turn and its notes; null if the turn does not exist. */
export const figuresBehind = async (
  thread: HostedThread,
  number: number,
  { name = "Agent", notes }: Pick<ExchangeSetting, "name" | "notes">,
): Promise<Block | null> => {
  const state = await thread.state();
  const turn = state === null ? undefined : turnNumbered(state, number);
  if (turn === undefined) return null;
  const others = (await notes?.(thread.id, turn.number)) ?? [];
  return { type: "figures", text: [agentFigures(name, turn), ...others].join("\n") };
};
