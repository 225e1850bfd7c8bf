// Loaded before each test file that runs against a mutant. One failure is enough, so failing examples are not shrunk.
// Records the functions that the file reached while it loaded and while its tests ran. Properties always draw the same
// cases, so an unlucky draw never kills a mutant.
import "../../test/setup.ts";
import fc from "fast-check";
import { afterEach, beforeAll } from "vitest";

import { marks } from "./messages.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });

const functionsMax = 20_000;
// The files under test set the marks, and only know their name.
const shared = globalThis as unknown as Record<string, Uint8Array | undefined>;
shared[marks] ??= new Uint8Array(functionsMax);
const reached = shared[marks];
reached.fill(0);
let loaded: readonly number[] = [];

const taken = (): readonly number[] => [...reached.keys()].filter((index) => reached[index] === 1);

beforeAll(() => {
  loaded = taken();
  reached.fill(0);
});

afterEach(({ task }) => {
  Object.assign(task.file.meta, { loaded, reached: taken() });
});
