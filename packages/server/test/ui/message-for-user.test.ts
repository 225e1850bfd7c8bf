import * as host from "@colloquy/host";
import * as hostStore from "@colloquy/host/store";
import * as machine from "@colloquy/machine";
import { type Failure, noUsage, type OutputFailure, type Refusal } from "@colloquy/machine";
import * as machineStorage from "@colloquy/machine/storage";
import { fails, reply, type ScriptLine } from "@colloquy/runtime-test/models";
import { describe, expect, test } from "vitest";
import * as server from "../../src/index.ts";
import { type ErrorText, HttpError, messageForUser, type UserMessageKind } from "../../src/index.ts";
import { at, post } from "../serving.ts";
import { Chat, pageErrorOf, stage, watchedServer } from "./page.ts";

/** The classes of errors that a module exports. */
type ErrorsOf<Module> = {
  [Name in keyof Module]: Module[Name] extends abstract new (...given: never) => Error ? Name : never;
}[keyof Module];

type Examples<Module> = { readonly [Name in ErrorsOf<Module>]: readonly (readonly [UserMessageKind, Error])[] };

const secret = "sk-secret";
const summary = { threadId: secret, askId: secret, turn: 1, text: secret, messages: [], usage: noUsage };

const refusals: { readonly [Kind in Refusal["kind"]]: UserMessageKind } = {
  busy: "busy",
  full: "busy",
  stale: "changed",
  unknown: "changed",
  invalid: "refused",
};

const failures: { readonly [Kind in Failure["kind"]]: UserMessageKind } = {
  rate_limit: "unavailable",
  overloaded: "unavailable",
  auth: "unavailable",
  bad_request: "unavailable",
  context_length: "too_long",
  content_filter: "refused",
  timeout: "unavailable",
  network: "unavailable",
  truncated: "unavailable",
  unknown: "unavailable",
};

const outputs: { readonly [Kind in OutputFailure["kind"]]: UserMessageKind } = {
  invalid: "unavailable",
  unchecked: "unavailable",
  refused: "refused",
  cut: "too_long",
};

/** Makes an example for each key of a table. */
const each = <Kind extends string>(
  table: Readonly<Record<Kind, UserMessageKind>>,
  make: (kind: Kind) => Error,
): readonly (readonly [UserMessageKind, Error])[] =>
  // Cast: a record has the keys of its type.
  (Object.keys(table) as Kind[]).map((kind) => [table[kind], make(kind)]);

const hostErrors: Examples<typeof host> = {
  AskRefusedError: each(refusals, (kind) => new host.AskRefusedError(secret, secret, { kind, reason: secret })),
  EventRefusedError: each(refusals, (kind) => new host.EventRefusedError(secret, { kind, reason: secret })),
  TurnFailedError: each(
    failures,
    (kind) => new host.TurnFailedError(summary, { kind, message: secret, retryable: false }),
  ),
  OutputError: each(outputs, (kind) => new host.OutputError(summary, { kind, message: secret }, [], secret)),
  TurnError: [["unavailable", new host.TurnError(summary, secret)]],
  LimitReachedError: [["limit", new host.LimitReachedError(summary, { limit: "steps", allowed: 1, reached: 2 })]],
  ContextUnfitError: [
    [
      "too_long",
      new host.ContextUnfitError(summary, {
        tokens: 9,
        available: 8,
        budget: 8,
        reserve: 0,
        fixed: 9,
        largest: { message: secret, tokens: 9 },
      }),
    ],
  ],
  TurnCancelledError: [["unanswered", new host.TurnCancelledError(summary, secret)]],
  AskSupersededError: [["unanswered", new host.AskSupersededError(summary, secret)]],
  AskReturnedError: [["unanswered", new host.AskReturnedError(summary, 1)]],
  ThreadHeldError: [["held", new host.ThreadHeldError(secret)]],
  ThreadUnknownError: [["denied", new host.ThreadUnknownError(secret)]],
  ThreadExistsError: [["changed", new host.ThreadExistsError(secret)]],
  ThreadClosedError: [["unavailable", new host.ThreadClosedError(secret)]],
  JournalUnreadableError: [["unavailable", new host.JournalUnreadableError(secret, secret)]],
  ImportRefusedError: [["refused", new host.ImportRefusedError(secret, 0, secret)]],
  SearchUnavailableError: [["unavailable", new host.SearchUnavailableError()]],
  StoreError: [["unavailable", new host.StoreError(secret, secret, secret)]],
  StoreTimeoutError: [["unavailable", new host.StoreTimeoutError(secret, 1)]],
};

const storeErrors: Examples<typeof hostStore> = {
  StorageError: [["unavailable", new hostStore.StorageError("failed", secret)]],
  SequenceConflictError: [["unavailable", new hostStore.SequenceConflictError(secret, 1, 2)]],
  LeaseLostError: [["held", new hostStore.LeaseLostError({ threadId: secret, owner: secret, token: 1 })]],
};

const machineErrors: Examples<typeof machine> = {
  ConfigurationError: [["unavailable", new machine.ConfigurationError(secret)]],
  SeedError: [["unavailable", new machine.SeedError(secret)]],
};

const machineStorageErrors: Examples<typeof machineStorage> = {
  SnapshotDamagedError: [["unavailable", new machineStorage.SnapshotDamagedError(secret, secret)]],
};

const serverErrors: Examples<typeof server> = {
  HttpError: (
    [
      [400, "refused"],
      [401, "denied"],
      [403, "denied"],
      [404, "denied"],
      [405, "refused"],
      [413, "too_long"],
      [415, "refused"],
      [429, "busy"],
      [500, "unavailable"],
      [503, "unavailable"],
    ] as const
  ).map(([status, kind]) => [kind, new HttpError(status, secret)]),
};

describe("every error that may reach a page", () => {
  const all = Object.entries({
    ...hostErrors,
    ...storeErrors,
    ...machineErrors,
    ...machineStorageErrors,
    ...serverErrors,
  }).flatMap(([name, examples]) => examples.map(([kind, error]) => ({ name, kind, error })));

  test.each(all)("is a sentence for its user: $name, $kind", ({ kind, error }) => {
    const message = messageForUser(error);
    expect(message.kind).toBe(kind);
    expect(message.text).toMatch(/^[A-Z][^.]+\. [A-Z][^.]+\.$/u);
    expect(message.text).not.toContain(secret);
    expect(message.text).not.toMatch(/thread|turn|ask|model|tool|store|host|machine|token/iu);
  });

  test.each([undefined, null, secret, { message: secret }, new TypeError(secret)])(
    "is a sentence for its user, whatever was thrown: %s",
    (thrown) => {
      expect(messageForUser(thrown)).toEqual({ kind: "unavailable", text: expect.not.stringContaining(secret) });
    },
  );
});

describe("what a page reads in chat.error.message, and the operator is told", () => {
  const asked = async (script: readonly ScriptLine[], errorText?: ErrorText) => {
    const on = stage(script, { machine: { retry: { attempts: 1 } } });
    const ui = errorText === undefined ? {} : { errorText };
    const { server: served, reported } = watchedServer(on, { ui });
    const chat = new Chat({ server: served });
    await chat.sendMessage({ text: "Hello?" });
    await on.host.close();
    return { text: chat.error?.message, reported };
  };
  const failing = [fails({ kind: "auth", message: "no such key" })];

  test("is a sentence for a failed call, and its reason", async () => {
    const { text, reported } = await asked(failing);
    expect(text).toBe("The assistant is not available right now. Try again in a moment.");
    expect(reported).toEqual([expect.stringContaining("the model call failed (auth): no such key")]);
  });

  test("is a sentence, as the whole body, for a request that is refused", async () => {
    const on = stage([reply("Hi.")]);
    const { server: served, reported } = watchedServer(on, { authenticate: () => null });
    const chat = new Chat({ server: served });
    await chat.sendMessage({ text: "Hello?" });
    expect(chat.error?.message).toBe("This chat is not available to you. Sign in, or open another chat.");
    expect(reported).toEqual([expect.stringContaining("the cookie or key of the request is missing")]);
    for (const request of [at("/ui/t/messages"), at("/ui/t/stream"), post("/ui/t/stop", {}), at("/ui/t/nothing")])
      expect(await pageErrorOf(await served.fetch(request))).toEqual({
        status: 401,
        kind: "denied",
        text: chat.error?.message,
      });
    // Other routes answer programs.
    expect(await (await served.fetch(at("/v1/responses/x"))).json()).toMatchObject({
      error: { type: "authentication_error" },
    });
    await on.host.close();
  });
});
