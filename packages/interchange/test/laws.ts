import {
  jsonArbitrary,
  messageDraftArbitrary,
  seedArbitrary,
  stateArbitrary,
  textArbitrary,
} from "@colloquy/runtime-test/arbitraries";
import { problemOfPrompt } from "@colloquy/runtime-test/laws";
import { fc, test as property } from "@fast-check/vitest";
import * as Either from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import { messagesOf, digestOfMessage, messageFromDraft, toolResultOf, messagesFromSeed } from "@colloquy/machine";
import { decodeEvent } from "@colloquy/machine/journal";
import type { Imported, ImportOptions } from "../src/exchange/import-conversation.ts";
import type { ImportProblem } from "../src/exchange/import-problem.ts";
import type { Exported } from "../src/exchange/export.ts";
import type { Message, SeedDraft } from "@colloquy/machine";

/** Checks the laws of a format as properties. */
export const keepsTheLaws = (format: Format): void => {
  property.prop([messagesArbitrary])("an export without loss comes back the same", (messages) =>
    keepsMessages(format, messages),
  );
  property.prop([plainMessagesArbitrary])("plain conversations go out without loss, and come back", (messages) => {
    expect(format.write(messages).losses.filter(({ why }) => !why.includes("one message with"))).toEqual([]);
    keepsMessages(format, messages);
  });
  property.prop([messagesArbitrary])("each message that comes back as another is reported", (messages) =>
    tellsAllLosses(format, messages),
  );
  property.prop([messagesArbitrary])("content is lost only once", (messages) => settles(format, messages));
  property.prop([fc.jsonValue()])("anything is read or refused", (items) => isTotal(format, items));
  property.prop([damagedArbitrary(format)])("a damaged export is read or refused", (items) => isTotal(format, items));
};

/** A format's export and import. */
export interface Format {
  readonly write: (messages: readonly Message[]) => Exported<unknown>;
  readonly read: (items: unknown, options?: ImportOptions) => Either.Either<ImportProblem, Imported>;
}

/** Returns the right value, or fails the test with the reason. */
export const right = <Value>(read: Either.Either<{ readonly reason: string }, Value>): Value => {
  if (Either.isLeft(read)) throw new Error(read.left.reason);
  return read.right;
};

/** Returns the messages of a thread that took an import. Fails if the thread refuses a part of it. */
export const threadOf = ({ system, turns }: Imported): readonly Message[] => {
  const said = turns.flatMap((messages, turn) => {
    const event = decodeEvent({ type: "turn.added", at: 0, messages });
    expect(event).toMatchObject({ _tag: "Right", right: { messages } });
    const made = messagesFromSeed(turn + 1, messages);
    if (Either.isLeft(made)) throw new Error(made.left);
    return made.right;
  });
  expect(decodeEvent({ type: "system.changed", at: 0, system })).toHaveProperty("_tag", "Right");
  if (system === null) return said;
  return [messageFromDraft("s1", typeof system === "string" ? { role: "system", content: system } : system), ...said];
};

/**
 * Checks that an export without loss imports as the same messages. Drafts cannot express a call's outcome and the
 * system prompt's metadata, which the import gives.
 */
const keepsMessages = ({ write, read }: Format, messages: readonly Message[]): void => {
  const exported = write(messages);
  expect(exported.losses.filter(({ index }) => index < 0 || index >= messages.length)).toEqual([]);
  if (exported.losses.length > 0) return;
  const imported = right(read(exported.value));
  const unreported = imported.losses.filter(({ what }) => what !== "metadata" && !what.startsWith("the outcome "));
  expect(unreported).toEqual([]);
  const back = threadOf(imported);
  expect(back.map(digestOfMessage)).toEqual(messages.map(({ digest }) => digest));
  if (imported.losses.length === 0) expect(back.map(kept)).toEqual(messages.map(kept));
  expect(problemsOf(back)).toEqual([]);
};

/** Returns the facts that a thread stores of a message, but a model does not see. */
const kept = (message: Message) => [message.role, message.metadata ?? null, toolResultOf(message)?.outcome ?? null];

/** Checks that each message that comes back changed is reported. */
const tellsAllLosses = ({ write, read }: Format, messages: readonly Message[]): void => {
  const { value, losses } = write(messages);
  const back = threadOf(right(read(value, { repair: true })));
  if (back.length !== messages.length) {
    expect(losses.length).toBeGreaterThan(0);
    return;
  }
  const lossy = losses.map(({ index }) => index);
  // If two messages merge and a result is synthesised, the count is the same, but messages move.
  const moved = losses.some(({ what }) => what === "where the message begins and ends") ? back : [];
  for (const [index, { digest }] of messages.entries())
    if ([back[index], ...moved].every((each) => each?.digest !== digest)) expect(lossy).toContain(index);
};

/**
 * Checks that content is lost only once: an export without loss is the same after an import, and after a loss the third
 * export equals the second.
 */
const settles = ({ write, read }: Format, messages: readonly Message[]): void => {
  const first = write(renamed(messages));
  const imported = right(read(first.value, { repair: true }));
  const second = write(renamed(threadOf(imported)));
  if (first.losses.length + imported.losses.length === 0) expect(second.value).toEqual(first.value);
  const third = write(renamed(threadOf(right(read(second.value)))));
  expect(third.value).toEqual(second.value);
};

/** Checks that any input is read or refused with an error, and that a thread takes everything that is read. */
const isTotal = ({ read }: Format, items: unknown): void => {
  for (const repair of [false, true]) {
    const imported = read(items, { repair });
    if (Either.isLeft(imported)) expect(imported.left.reason).not.toBe("");
    else expect(problemsOf(threadOf(imported.right))).toEqual([]);
  }
};

const problemsOf = (messages: readonly Message[]): readonly string[] => {
  if (messages.length === 0) return [];
  const problem = problemOfPrompt(messages);
  return problem === null ? [] : [problem];
};

/** Renames the ids to those of one thread, so that values derived from them are equal. */
const renamed = (messages: readonly Message[]): readonly Message[] => {
  const ids = new Map<string, string>();
  let turn = 0;
  return messages.map((message) => {
    if (message.role !== "tool") turn++;
    const parts = message.parts.map((part) => {
      if (part.type === "toolCall") {
        const callId = `1.${turn}.${ids.size}`;
        ids.set(part.callId, callId);
        return { ...part, callId };
      }
      return part.type === "toolResult" ? { ...part, callId: ids.get(part.callId) ?? part.callId } : part;
    });
    const [result] = parts;
    return { ...message, parts, id: result?.type === "toolResult" ? result.callId : `1.${turn}` };
  });
};

const filledText = textArbitrary.filter((text) => text !== "");

/** Draws messages of threads: of earlier conversations, and of conversations under way. */
const messagesArbitrary: fc.Arbitrary<readonly Message[]> = fc.oneof(
  fc
    .tuple(fc.option(messageDraftArbitrary.filter(({ role }) => role === "system")), seedArbitrary(["f", "g"]))
    .map(([system, drafts]) => [...(system === null ? [] : [messageFromDraft("s1", system)]), ...messagesFrom(drafts)]),
  stateArbitrary().map((state) => {
    const { system } = state.context.conversation;
    return system === null ? messagesOf(state) : [system, ...messagesOf(state)];
  }),
);

/** Draws usual conversations: texts, and rounds whose calls have distinct ids, which later rounds use again. */
const plainMessagesArbitrary: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.oneof(
      fc
        .record({ role: fc.constantFrom("user" as const, "system" as const), content: filledText })
        .map((draft) => [draft]),
      fc
        .record({ said: textArbitrary, results: fc.array(filledText, { maxLength: 3 }) })
        .map(({ said, results }): readonly SeedDraft[] => [
          {
            role: "assistant",
            content: said,
            ...(results.length === 0
              ? {}
              : { toolCalls: results.map((_, index) => ({ id: `call_${index}`, name: "f", arguments: '{"a":1}' })) }),
          },
          ...results.map((content, index): SeedDraft => ({ role: "tool", toolCallId: `call_${index}`, content })),
        ]),
    ),
    { maxLength: 8 },
  )
  .map((units) => messagesFrom(units.flat()));

/** Draws an export with some members or items removed, doubled, or replaced by any value. */
const damagedArbitrary = ({ write }: Format): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      messagesArbitrary,
      fc.array(fc.tuple(fc.nat(), fc.constantFrom("leave out", "repeat", "replace"), jsonArbitrary), {
        minLength: 1,
        maxLength: 3,
      }),
    )
    .map(([messages, damages]) =>
      damages.reduce<unknown>(
        (value, [place, damage, json]) => damaged(value, place, damage, json),
        JSON.parse(JSON.stringify(write(messages).value)),
      ),
    );

const damaged = (value: unknown, place: number, damage: string, json: unknown): unknown => {
  if (typeof value !== "object" || value === null) return json;
  const members: [string, unknown][] = Object.entries(value);
  const chosen = members[place % (members.length + 1)];
  if (chosen === undefined) return json;
  const [key, member] = chosen;
  const inner = place >= members.length + 1;
  const changed = members.flatMap(([name, each]): [string, unknown][] => {
    if (name !== key) return [[name, each]];
    if (inner) return [[name, damaged(member, Math.floor(place / (members.length + 1)), damage, json)]];
    if (damage === "leave out") return [];
    return damage === "repeat"
      ? [
          [name, each],
          [name, each],
        ]
      : [[name, json]];
  });
  return Array.isArray(value) ? changed.map(([, each]) => each) : Object.fromEntries(changed);
};

const messagesFrom = (drafts: readonly SeedDraft[]): readonly Message[] => {
  const made = messagesFromSeed(1, drafts);
  if (Either.isLeft(made)) throw new Error(made.left);
  return made.right;
};
