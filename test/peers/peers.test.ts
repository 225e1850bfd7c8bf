import { describe, expect, test } from "vitest";
import { playHistory } from "./history-player.ts";
import { playHost } from "./host-player.ts";
import { playOpenSearch } from "./opensearch-player.ts";
import { playResponses } from "./responses-player.ts";
import { playSession } from "./session-player.ts";
import { type Player, tableOf } from "./table.ts";
import { playUi } from "./ui-player.ts";

const players: Readonly<Record<string, Player>> = {
  "ai-sdk": playUi,
  dipsy: playSession,
  dspy: playSession,
  "dspy-session": playSession,
  jido: playHost,
  langchain: playHistory,
  "open-responses": playResponses,
  opensearch: playOpenSearch,
  "opensearch-stories": playOpenSearch,
};

describe.each(Object.entries(players))("%s", (peer, play) => {
  const { rows } = tableOf(peer);

  test.each(rows)("$case", async ({ given, expect: expected }) => {
    expect(await play(given, Object.keys(expected))).toEqual(expected);
  });
});
