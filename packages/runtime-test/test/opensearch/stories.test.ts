import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSearchServer, type OpenSearchServerOptions, openSearchVersions } from "../../src/opensearch/index.ts";
import { problemsOfStory } from "./run-story.ts";
import { type SchemaCheck, specificationIn, unchecked } from "./specification.ts";
import { appliesTo, storiesIn, type Story } from "./story.ts";

const given =
  process.env["COLLOQUY_OPENSEARCH_STORIES"] ?? join(import.meta.dirname, "../../../../../shared/opensearch-stories");
const absent = !existsSync(given);
const note = absent ? ` (skipped: ${given} does not exist; set COLLOQUY_OPENSEARCH_STORIES)` : "";

/** This repository's stories, which cover gaps of the specification's. */
const ours = storiesIn(join(import.meta.dirname, "stories"));
const check = absent ? unchecked : specificationIn(given);

const told = async (
  story: Story,
  options: OpenSearchServerOptions,
  by: SchemaCheck = check,
): Promise<readonly string[]> => {
  const server = await openSearchServer(options);
  onTestFinished(() => server.close());
  return problemsOfStory(story, server.url, by);
};

const holds = (stories: readonly Story[]): void => {
  for (const version of openSearchVersions) {
    const fitting = stories.filter((story) => appliesTo(story, version));
    const others = stories.length - fitting.length;
    describe(`${version}${others === 0 ? "" : `, which ${others} of ${stories.length} leave out, being about others`}`, () => {
      it("has stories, or is from before the memories that they are about", () => {
        expect(fitting.length > 0).toBe(!version.startsWith("2.1") || version === "2.12");
      });
      for (const story of fitting) {
        it(`${story.file}: ${story.description}`, async () => {
          expect(await told(story, { version })).toEqual([]);
        });
      }
    });
  }
};

describe("our stories", () => {
  holds(ours);
});

describe.skipIf(absent)(`the stories of the specification${note}`, () => {
  holds(absent ? [] : storiesIn(join(given, "memory")));
});

describe("a story fails", () => {
  const [list, messages] = ours;
  if (list === undefined || messages === undefined) throw new Error("our stories are gone");

  it("where orders are turned round, as on a clock that runs backwards", async () => {
    let at = 2_000_000_000_000;
    const clock = { now: () => at-- };
    expect(await told(list, { version: "3.0", clock })).toContainEqual(expect.stringContaining("The newest of two"));
    expect(await told(messages, { version: "3.0", clock })).toContainEqual(
      expect.stringContaining("The oldest of two"),
    );
  });

  it("where the API has other paths, or is switched off", async () => {
    expect(await told(list, { version: "2.11" })).toContainEqual(expect.stringContaining("no handler found"));
    expect(await told(list, { version: "3.0", memoryFeatureEnabled: false })).toContainEqual(
      expect.stringContaining("status 500"),
    );
  });

  it.skipIf(absent)("where a response has what its schema does not", () => {
    const path = "/_plugins/_ml/memory/{memory_id}";
    expect(check("GET", path, 200, { memory_id: "m1", name: "n" })).toEqual([]);
    expect(check("GET", path, 200, { memory_id: 1 })).toHaveLength(1);
    expect(check("GET", path, 200, { memory_id: "m1", updated: "now" })).toHaveLength(1);
    expect(check("PUT", path, 200, { _id: "m1" })).toHaveLength(1);
    expect(check("PATCH", path, 200, {})).toHaveLength(1);
  });
});
