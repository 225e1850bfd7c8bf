import { readFileSync } from "node:fs";
import { join } from "node:path";

import type * as host from "@colloquy/host";
import type * as interchange from "@colloquy/interchange";
import type * as machine from "@colloquy/machine";
import type * as hosting from "@colloquy/machine/hosting";
import type * as inspect from "@colloquy/machine/inspect";
import type * as journal from "@colloquy/machine/journal";
import type * as policies from "@colloquy/machine/policies";
import type * as storage from "@colloquy/machine/storage";
import type * as node from "@colloquy/runtime-node";
import type * as testing from "@colloquy/runtime-test";
import type * as recordings from "@colloquy/runtime-test/recordings";
import type * as templates from "@colloquy/interchange/templates";
import type { Either } from "fp-ts/lib/Either.js";
import type { Monoid } from "fp-ts/lib/Monoid.js";
import { expect, expectTypeOf, test } from "vitest";

import type * as shipped from "../scripts/shipped-fp-ts.ts";

/** The functions of a module that return an `Either` or a promise of one. */
type Eithers<Module> = {
  [Name in keyof Module]: Module[Name] extends (...args: never[]) => infer Given
    ? [Given] extends [never]
      ? never
      : [Awaited<Given>] extends [Either<unknown, unknown>]
        ? Name
        : never
    : never;
}[keyof Module];

interface Modules {
  readonly machine: typeof machine;
  readonly policies: typeof policies;
  readonly journal: typeof journal;
  readonly inspect: typeof inspect;
  readonly storage: typeof storage;
  readonly hosting: typeof hosting;
  readonly host: typeof host;
  readonly interchange: typeof interchange;
  readonly node: typeof node;
  readonly testing: typeof testing;
  readonly recordings: typeof recordings;
  readonly templates: typeof templates;
}

type Names = { [Module in keyof Modules]: Eithers<Modules[Module]> }[keyof Modules];

/** All of them: the compiler rejects a missing name, and a function that returns no `Either`. */
const eithers = {
  decodeEntry: true,
  decodeEvent: true,
  decodeJournal: true,
  entriesToRedact: true,
  fold: true,
  foldVisiting: true,
  forkOf: true,
  fromChatMessage: true,
  fromChatExchanges: true,
  fromChatMessages: true,
  fromLangChainMessages: true,
  fromModelMessages: true,
  fromResponseItems: true,
  fromUiMessages: true,
  messagesFromSeed: true,
  parseCase: true,
  parseCommon: true,
  readEvent: true,
  readSnapshot: true,
  renderThread: true,
  replay: true,
  replyFromChatMessage: true,
  replyFromLangChainMessage: true,
  replyFromModelMessages: true,
  replyFromResponseItems: true,
  stateAt: true,
  toJournal: true,
} as const satisfies Record<Names, true>;

test.each(Object.keys(eithers))("docs/conversation.md says what the Either of %s is", (name) => {
  const page = readFileSync(join(import.meta.dirname, "../docs/conversation.md"), "utf8");
  const section = page.slice(page.indexOf("## What gives an `Either`"));
  expect(section).toMatch(new RegExp(String.raw`^\| .*\`${name}\``, "m"));
});

test("the types that packages ship in the place of those of fp-ts are the same", () => {
  expectTypeOf<shipped.Either<string, number>>().toEqualTypeOf<Either<string, number>>();
  expectTypeOf<shipped.Monoid<string>>().toEqualTypeOf<Monoid<string>>();
});
