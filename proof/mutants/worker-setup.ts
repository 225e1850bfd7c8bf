// Loaded before each test file that is run against a mutant. One failure is enough, so the smallest example of it is
// not looked for. The functions that the file reached are noted with it: those while it was loaded, and those while its
// tests ran. Properties draw always the same cases, so a property that others fail now and then kills nothing here.
import "../../test/setup.ts";
import fc from "fast-check";
import { afterEach, beforeAll } from "vitest";

import { marks } from "./messages.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });

const functionsMax = 20_000;
// The marks are written by the files under test, which know their name and nothing of this file.
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
