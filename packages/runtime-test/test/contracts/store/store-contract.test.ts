import { type Clock, memoryStore, type Store } from "@colloquy/host";
import { expect, test } from "vitest";

import { storeChecks, subjectOf } from "../../../src/contracts/index.ts";
import { derivedFaults } from "./faulty-stores/derived-faults.ts";
import { bound } from "./faulty-stores/fault.ts";
import { journalFaults } from "./faulty-stores/journal-faults.ts";
import { listingFaults } from "./faulty-stores/listing-faults.ts";
import { partsFaults } from "./faulty-stores/parts-faults.ts";

/** Returns the names of failed checks of a store, among those whose name contains `part`. */
const brokenPromises = async (makeStore: (clock: Clock) => Store, part = ""): Promise<readonly string[]> => {
  const broken: string[] = [];
  for (const { name, check } of storeChecks.filter(({ name }) => name.includes(part))) {
    const subject = await subjectOf(
      async ({ clock }) => ({ store: makeStore(clock) }),
      () => {},
    );
    await check(subject).catch(() => broken.push(name));
  }
  return broken;
};

const faults = [...journalFaults, ...listingFaults, ...derivedFaults, ...partsFaults];

test("a sound store breaks no promise", async () => {
  expect(await brokenPromises((clock) => memoryStore({ clock }))).toEqual([]);
});

test.each(faults)("the contract notices %s", async (_, noticedBy, fault) => {
  const makeStore = (clock: Clock): Store => {
    const sound = memoryStore({ clock });
    return { ...bound(sound), ...fault(sound, clock) };
  };
  expect(await brokenPromises(makeStore, noticedBy)).not.toEqual([]);
});

test("what a store need not have is checked where it has it, and asked for where it is expected", async () => {
  const plain = (clock: Clock): Store => {
    const store = bound(memoryStore({ clock }));
    Reflect.deleteProperty(store, "inbox");
    Reflect.deleteProperty(store, "search");
    Reflect.deleteProperty(store, "parts");
    return store;
  };
  const optional = storeChecks.filter(({ feature }) => feature !== undefined).map(({ name }) => name);
  expect(new Set(storeChecks.map(({ feature }) => feature))).toEqual(new Set([undefined, "inbox", "search", "parts"]));
  expect(await brokenPromises(plain)).toEqual(optional);
});
