import type { HostedThread } from "@colloquy/host";
import { costOf, counted, tokensOf } from "../text/figures.ts";
import { named } from "../text/printable.ts";

/** What the status line says of a thread: its id, turns and tokens, the share of the window, and what it cost. */
export const threadStatus = async (thread: HostedThread): Promise<readonly string[]> => {
  const figures = await thread.figures();
  const name = `thread ${named(thread.id)}`;
  if (figures === null || figures.turns.total === 0) return [name];
  const { turns, usage, share } = figures;
  const window = share === null ? "" : `${Math.round(share * 100)} % of the window`;
  return [name, counted(turns.total, "turn"), tokensOf(usage), window, costOf(usage)].filter((text) => text !== "");
};
