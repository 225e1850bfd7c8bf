// Plays the scenes on an engine, with a worker in this process, and prints their outcomes.
import { connect, memoryHub, serve } from "@colloquy/runtime-restate";

import { type Played, playedOn, scenes } from "./scenes.ts";

/** The options of a player, as JSON in its first argument. */
export interface PlayerOptions {
  readonly url: string;
  readonly adminUrl: string;
  readonly snapshotEvery: number;
}

const main = async ({ url, adminUrl, snapshotEvery }: PlayerOptions): Promise<void> => {
  const played: Record<string, Played> = {};
  for (const [name, stage] of Object.entries(scenes)) {
    const { play, ...parts } = stage();
    const hub = memoryHub();
    const own = { hub, name: `scene-${Object.keys(played).length}` };
    const worker = await serve({ ...parts, ...own, port: 0, admin: adminUrl, snapshotEvery });
    const host = connect({ ...own, url });
    played[name] = await playedOn(host, play);
    await host.close();
    await worker.close();
  }
  process.stdout.write(JSON.stringify(played));
};

// `play-scenes.ts` writes these options.
if (import.meta.main) await main(JSON.parse(process.argv[2] ?? "") as PlayerOptions);
