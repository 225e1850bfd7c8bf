import { differenceOf, lawSameJournal } from "@colloquy/runtime-test/laws";

import { violationsOfLaw } from "../../kit/calls.ts";
import { runChild, withMistakes, withProgram } from "../../kit/program.ts";
import { startRestate } from "../../servers/restate.ts";
import { type Fault, mistakes } from "./faults.ts";
import type { PlayerOptions } from "./scene-player.ts";
import { hostInMemory, type Played, playedOn, scenes } from "./scenes.ts";

/** Plays all scenes on an engine in its own folder. Returns the differences from the host in memory. */
export const playScenes = async (
  folder: string,
  snapshotEvery: number,
  fault: Fault | null,
): Promise<readonly string[]> => {
  const { url, adminUrl, stop } = await startRestate({ folder });
  try {
    const options: PlayerOptions = { url, adminUrl, snapshotEvery };
    const plugins = fault === null ? [] : [withMistakes([mistakes[fault]])];
    const player = new URL(import.meta.resolve("./scene-player.ts"));
    const playing = withProgram(player, (program) => runChild(program, options, null), plugins);
    const [end, memory] = await Promise.all([playing, playInMemory()]);
    if (end.code !== 0) return [`the player ended with ${end.signal ?? end.code}: ${end.stderr}`];
    // The player below writes this JSON.
    const engine = JSON.parse(end.stdout) as Readonly<Record<string, Played>>;
    return Object.entries(memory).flatMap(([name, played]) => {
      const other = engine[name] ?? { shown: [], journal: [] };
      return differencesOf(played, other).map((difference) => `${name}: ${difference}`);
    });
  } finally {
    await stop();
  }
};

const differencesOf = (memory: Played, engine: Played): readonly string[] => {
  const shown = differenceOf(JSON.parse(JSON.stringify(memory.shown)), engine.shown);
  return [
    ...(shown === null ? [] : [`the shown parts differ from those in memory: ${shown}`]),
    ...violationsOfLaw(() => lawSameJournal({ memory: memory.journal, engine: engine.journal })),
  ];
};

const playInMemory = async (): Promise<Readonly<Record<string, Played>>> => {
  const played: Record<string, Played> = {};
  for (const [name, stage] of Object.entries(scenes)) {
    const { play, ...parts } = stage();
    const host = hostInMemory(parts);
    played[name] = await playedOn(host, play);
    await host.close();
  }
  return played;
};
