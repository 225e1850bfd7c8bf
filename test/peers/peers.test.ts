import type { JsonObject } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { z } from "zod";
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

  // A sample, for the time that it takes.
  const shorter = rows.flatMap(({ given, ...row }, index) =>
    index % 9 === 0 ? withoutLast(given).map((left) => ({ ...row, given: left })) : [],
  );
  test.each(shorter)("$case: without its last step it has another outcome", async ({ given, expect: expected }) => {
    const outcome = await play(given, Object.keys(expected)).catch(String);
    expect(outcome).not.toEqual(expected);
  });
});

/** Returns a case without its last step; nothing if it has none, or would wait for that step for ever. */
const withoutLast = (given: JsonObject): readonly JsonObject[] => {
  const name = "posts" in given ? "posts" : "steps";
  const steps = z.array(z.json()).parse(given[name]);
  const waits = /"(?:decide|cancel)"/u.test(JSON.stringify(steps.slice(-1)));
  return steps.length === 0 || waits ? [] : [{ ...given, [name]: steps.slice(0, -1) }];
};
