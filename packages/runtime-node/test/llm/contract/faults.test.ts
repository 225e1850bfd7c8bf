import { type MakeModel, type ModelCheck, modelChecks, modelSubject } from "@colloquy/runtime-test/contracts";
import { expect, test } from "vitest";
import { faults, silentAboutTools } from "./faults.ts";

/** The names of the checks that a handler does not pass, of those given. */
const brokenPromises = async (makeModel: MakeModel, checks: readonly ModelCheck[]): Promise<readonly string[]> => {
  const broken = await Promise.all(
    checks.map(async ({ name, check }) => {
      const closers: (() => Promise<void>)[] = [];
      // A fault that hangs is noticed soon: a sound handler is not asked here.
      const subject = modelSubject(makeModel, { dialect: "chat", patienceMs: 300 }, (close) => closers.push(close));
      try {
        await check(subject);
        return [];
      } catch {
        return [name];
      } finally {
        for (const close of closers) await close();
      }
    }),
  );
  return broken.flat();
};

const named = (part: string): readonly ModelCheck[] => modelChecks.filter(({ name }) => name.includes(part));

test.each(Object.entries(faults))("the contract notices %s", async (_, [noticedBy, makeModel]) => {
  const checks = named(noticedBy);
  expect(await brokenPromises(makeModel, checks)).toEqual(checks.map(({ name }) => name));
});

test("each promise has a fault that it notices", async () => {
  const parts = Object.values(faults).map(([noticedBy]) => noticedBy);
  const never = modelChecks.filter(({ name }) => !parts.some((part) => name.includes(part)));
  expect(never.map(({ name }) => name)).toEqual(["says that it can't offer tools, and asks nobody"]);
  expect(await brokenPromises(silentAboutTools, never)).toHaveLength(1);
});
