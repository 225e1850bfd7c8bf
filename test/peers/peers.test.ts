import { describe, expect, test } from "vitest";
import { playHost } from "./host-player.ts";
import { type Player, tableOf } from "./table.ts";

const players: Readonly<Record<string, Player>> = { jido: playHost };

describe.each(Object.entries(players))("%s", (peer, play) => {
  const { rows } = tableOf(peer);

  test.each(rows)("$case", async ({ given, expect: expected }) => {
    expect(await play(given, Object.keys(expected))).toEqual(expected);
  });
});
