import {
  checksOfModel,
  type MakeModel,
  type ModelCheck,
  modelChecks,
  modelSubject,
} from "@colloquy/runtime-test/contracts";
import { expect, test } from "vitest";
import { openaiChat } from "../../../src/llm/openai.ts";
import { faults, silentAboutTools } from "./faults.ts";

/** Returns the errors of the checks that a handler fails, by name. */
const brokenPromises = async (
  makeModel: MakeModel,
  checks: readonly ModelCheck[],
  // The default patience is short, to notice hanging faults soon. No sound handler runs here.
  options: Partial<Parameters<typeof modelSubject>[1]> = {},
): Promise<ReadonlyMap<string, unknown>> => {
  const broken = await Promise.all(
    checks.map(async ({ name, check }) => {
      const closers: (() => Promise<void>)[] = [];
      const subject = modelSubject(makeModel, { dialect: "chat", patienceMs: 300, ...options }, (close) =>
        closers.push(close),
      );
      try {
        await check(subject);
        return [];
      } catch (thrown) {
        return [[name, thrown] as const];
      } finally {
        for (const close of closers) await close();
      }
    }),
  );
  return new Map(broken.flat());
};

const named = (part: string): readonly ModelCheck[] => modelChecks.filter(({ name }) => name.includes(part));

test.each(Object.entries(faults))("the contract notices %s", async (_, [noticedBy, makeModel]) => {
  const checks = named(noticedBy);
  expect([...(await brokenPromises(makeModel, checks)).keys()]).toEqual(checks.map(({ name }) => name));
});

test("each promise has a fault that it notices", async () => {
  const parts = Object.values(faults).map(([noticedBy]) => noticedBy);
  const never = modelChecks.filter(({ name }) => !parts.some((part) => name.includes(part)));
  expect(never.map(({ name }) => name)).toEqual(["says that it can't offer tools, and asks nobody"]);
  expect((await brokenPromises(silentAboutTools, never)).size).toBe(1);
});

/** Longer than a test may take. */
const patienceMs = 1_000_000;

/** Makes a handler whose requests go to `/generate`. */
const elsewhere: MakeModel = ({ url, apiKey, stream }) =>
  openaiChat({
    baseURL: url,
    apiKey,
    stream,
    model: "any",
    fetch: (address, init) => fetch(new Request(address).url.replace("/chat/completions", "/generate"), init),
  });

test("a handler of another path passes where the contract knows the path", async () => {
  expect(await brokenPromises(elsewhere, checksOfModel([]), { patienceMs, path: "/generate" })).toEqual(new Map());
});

test("where the request is refused, what waits for an answer ends with the call, and says how that ended", async () => {
  const broken = [...(await brokenPromises(elsewhere, checksOfModel([]), { patienceMs })).values()].map(String);
  const waiting = broken.filter((why) => /no request came|was not shown/.test(why));
  expect(waiting).toHaveLength(5);
  for (const why of waiting) expect(why).toMatch(/, and the call ended: .*"status":404/);
});
