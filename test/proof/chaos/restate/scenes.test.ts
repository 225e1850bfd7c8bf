import { lawSameJournal } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";

import { hostInMemory, type Played, playedOn, scenes } from "../../../../proof/chaos/restate/scenes.ts";

test.each(Object.entries(scenes))("a scene is the same whenever it is played %s", async (_, stage) => {
  const played = async (): Promise<Played> => {
    const { play, ...parts } = stage();
    const host = hostInMemory(parts);
    const played = await playedOn(host, play);
    await host.close();
    return played;
  };
  const [one, other] = [await played(), await played()];
  expect(one.shown).toEqual(other.shown);
  lawSameJournal({ one: one.journal, other: other.journal });
});
