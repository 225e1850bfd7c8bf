import type { Json, JsonObject, Message } from "@colloquy/machine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import { chatMessages, responseItems } from "../../../src/llm/http-handlers.ts";
import { isList, isObject, listOf, parseJson, textOf } from "../../../src/llm/json/loose-json.ts";
import { type Dialect, dialects } from "../../../src/llm/wire/dialects.ts";
import { type Wire, wireMessages, WireState } from "../../../src/llm/wire/messages.ts";
import { threads } from "./threads.ts";

const all = Object.values(dialects);
const pairs = all.flatMap((to) => [...all.map((from) => from.name), null].map((from) => [from, to.name] as const));

const wireTo = (name: string): Wire => ({
  dialect: dialects[name] ?? expect.unreachable(),
  origin: name,
  format: null,
});

const sent = (messages: readonly Message[], wire: Wire, state = new WireState()): readonly JsonObject[] =>
  chatMessages(wireMessages(messages, wire, state), "", state);

/** Returns whether a message has anything but white space. */
const says = ({ content, tool_calls: calls, function_call: called, audio, refusal }: JsonObject): boolean =>
  [called, audio, refusal].some((value) => value !== undefined) ||
  listOf(calls).length > 0 ||
  (isList(content)
    ? content.some((part) => !isObject(part) || part["type"] !== "text" || textOf(part["text"]).trim() !== "")
    : textOf(content).trim() !== "");

/**
 * Returns the problem of a body's messages under a dialect, or null. Written without the code under test.
 *
 * @param from The origin of the replies; null if unknown.
 */
const problemOf = (messages: readonly JsonObject[], dialect: Dialect, from: string | null): string | null => {
  const isTaken = takenFrom(from, dialect);
  const ids = new Set<unknown>();
  const allowed = new Set(["role", "content", "name", "tool_calls", "tool_call_id"]);
  if (dialect.refusals === "field") allowed.add("refusal");
  let open: unknown[] = [];
  let hasCalled = false;
  for (const [index, message] of messages.entries()) {
    const { role, content, name } = message;
    const before = messages[index - 1]?.["role"];
    if (/\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])/i.test(JSON.stringify(message))) return "half of a surrogate pair";
    if (role === "tool" && message["tool_call_id"] !== open.shift()) return "a result without its call";
    if (role !== "tool" && open.length > 0) return "a call without its result";
    if (!says(message) && (role === "tool" ? dialect.blank === "left out" : dialect.blank !== "sent"))
      return `a blank message of role ${textOf(role)}`;
    if (!says(message) && role === "assistant" && message["content"] === null) return "a reply without anything";
    const isFirst = messages.slice(0, index).every((each) => each["role"] === "system" || each["role"] === "developer");
    if (dialect.firstReply === "marked" && role === "assistant" && isFirst) return "a reply before all questions";
    const follows = { taken: false, "without calls": message["tool_calls"] !== undefined, marked: true };
    if (role === "assistant" && before === "assistant" && follows[dialect.replyAfterReply])
      return "a reply after a reply";
    if (role === "user" && dialect.noUserAfter.some((each) => each === before))
      return `a user after a ${textOf(before)}`;
    if (
      name !== undefined &&
      (dialect.messageNames === null || !new RegExp(dialect.messageNames, "u").test(textOf(name)))
    )
      return `the name ${JSON.stringify(name)}`;
    const images = listOf(content).filter((part) => isObject(part) && part["type"] === "image_url");
    if (images.length > 0 && !(dialect.images === "everywhere" || (dialect.images === "of users" && role === "user")))
      return `an image in a message of role ${textOf(role)}`;
    if (role === "developer" && dialect.developers === "system") return "a developer";
    if ((role === "system" || role === "developer") && dialect.systems === "one" && index > 0)
      return "a second system message";
    if (role === "assistant" && isUnsigned(listOf(message["tool_calls"])[0], message, dialect)) return "no signature";
    if (
      isList(content) &&
      content.every((part) => isObject(part) && part["type"] === "text") &&
      dialect.texts === "joined"
    )
      return "a list of texts";
    const extra = Object.keys(message).find((key) => !allowed.has(key) && !isTaken(key));
    if (extra !== undefined) return `the field ${extra}`;
    if (listOf(message["tool_calls"]).length > 0) hasCalled = true;
    else if (role === "user") hasCalled = false;
    const owed = dialect.owedReasoning;
    if (owed !== null && hasCalled && role === "assistant" && message[owed] === undefined) return "no reasoning";
    open = role === "tool" ? open : listOf(message["tool_calls"]).map((call) => (isObject(call) ? call["id"] : null));
    for (const call of listOf(message["tool_calls"])) {
      const problem = problemOfCall(call as JsonObject, ids, dialect, isTaken);
      if (problem !== null) return problem;
    }
  }
  return null;
};

/** Returns which fields a dialect accepts: none of another server, except those that it requires of every reply. */
const takenFrom = (from: string | null, { name, fields, ownFields, owedReasoning, owedOfCall }: Dialect) => {
  if (from !== null && from !== name)
    return (key: string): boolean => key === owedReasoning || Object.keys(owedOfCall ?? {}).includes(key);
  return (key: string): boolean => fields === "all" || fields.includes(key) || (ownFields && from === name);
};

const isUnsigned = (call: Json | undefined, message: JsonObject, { owedOfCall }: Dialect): boolean => {
  if (owedOfCall === null || !isObject(call)) return false;
  if (listOf(message["reasoning_details"]).some((detail) => isObject(detail) && detail["data"] !== undefined))
    return false;
  const { extra_content: extra } = call;
  const google = isObject(extra) ? extra["google"] : undefined;
  return !isObject(google) || textOf(google["thought_signature"]) === "";
};

const problemOfCall = (
  call: JsonObject,
  ids: Set<unknown>,
  dialect: Dialect,
  isTaken: (key: string) => boolean,
): string | null => {
  const { id, type, function: called, extra_content: extra } = call;
  if (ids.has(id)) return `the id ${JSON.stringify(id)} twice`;
  ids.add(id);
  if (!new RegExp(dialect.callIds, "u").test(textOf(id))) return `the id ${JSON.stringify(id)}`;
  if (extra !== undefined && !isTaken("extra_content")) return "a thought signature";
  if (type === "custom" && !isTaken("type")) return "a custom call";
  if (!isObject(called)) return null;
  if (!new RegExp(dialect.toolNames, "u").test(textOf(called["name"])))
    return `the tool ${JSON.stringify(called["name"])}`;
  return isObject(parseJson(textOf(called["arguments"])))
    ? null
    : `the arguments ${JSON.stringify(called["arguments"])}`;
};

describe("what leaves", () => {
  const many = fc.sample(threads(null), { numRuns: 500, seed: 1 });
  const taken = many.map((messages) => sent(messages, wireTo("lenient")));

  test.each(pairs)("is taken, from %s to %s", (from, to) => {
    const wire = wireTo(to);
    fc.assert(
      fc.property(threads(from), (messages) => {
        expect(problemOf(sent(messages, wire), wire.dialect, from)).toBeNull();
      }),
      { numRuns: runs(15) },
    );
  });

  test.each<readonly [RegExp, Partial<Dialect>]>([
    [/^the id/, { callIds: "^[a-zA-Z0-9]{9}$" }],
    [/^the tool/, { toolNames: "^[a-z]+$" }],
    [/^the name/, { messageNames: "^[a-z]+$" }],
    [/^a list of texts/, { texts: "joined" }],
    [/^an image in a message of role tool/, { images: "of users" }],
    [/^an image in a message of role assistant/, { images: "of users" }],
    [/^an image in a message of role user/, { images: "none" }],
    [/^a developer/, { developers: "system" }],
    [/^a second system message/, { systems: "one" }],
    [/^no signature/, { owedOfCall: { extra_content: { google: { thought_signature: "skip" } } } }],
    [/^a blank message/, { blank: "left out" }],
    [/^no reasoning/, { owedReasoning: "reasoning_content" }],
    [/^a user after a tool/, { noUserAfter: ["tool"] }],
    [/^a user after a user/, { noUserAfter: ["user"] }],
    [/^a blank message of role tool/, { blank: "left out" }],
    [/^a reply before all questions/, { firstReply: "marked" }],
    [/^a reply after a reply/, { replyAfterReply: "marked" }],
    [/^a reply after a reply/, { replyAfterReply: "without calls" }],
    [/^a custom call/, { fields: [] }],
    [/^the field refusal/, { refusals: "text", fields: [] }],
    [/^the field reasoning_details|^a thought signature/, { fields: [] }],
  ])("would not be taken if one rule was not minded: %s", (problem, rule) => {
    const { dialect } = wireTo("lenient");
    const found = taken.map((messages) => problemOf(messages, { ...dialect, ...rule }, null) ?? "");
    expect(found.some((each) => problem.test(each))).toBe(true);
  });

  test("would not be taken as the thread has it: arguments, ids that repeat", () => {
    const found = many.map(
      (messages) => problemOf(chatMessages(messages, "", new WireState()), wireTo("lenient").dialect, null) ?? "",
    );
    for (const problem of [/^the arguments/, /^the id .* twice/])
      expect(found.some((each) => problem.test(each))).toBe(true);
  });

  test.each(all.map(({ name }) => name))(
    "under %s is the same in pieces and as a whole, and changes nothing later",
    (name) => {
      const wire = wireTo(name);
      fc.assert(
        fc.property(threads(name), fc.infiniteStream(fc.boolean()), (messages, cuts) => {
          const whole = sent(messages, wire);
          const state = new WireState();
          const pieces: JsonObject[] = [];
          let from = 0;
          for (const [index, { role }] of [...messages.entries(), [messages.length, { role: "user" }] as const]) {
            const isEnd = index === messages.length;
            if (!["user", "assistant"].includes(role) || (!isEnd && !cuts.next().value)) continue;
            pieces.push(...sent(messages.slice(from, index), wire, state));
            from = index;
            // A continued turn begins with the messages that were sent before.
            expect(sent(messages.slice(0, index), wire)).toEqual(whole.slice(0, pieces.length));
          }
          expect(pieces).toEqual(whole);
        }),
        { numRuns: runs(40) },
      );
    },
  );

  test("keeps what is as it must be: ids, names, arguments and texts, byte for byte", () => {
    fc.assert(
      fc.property(threads("lenient"), (messages) => {
        const wire = wireTo("lenient");
        const calls = sent(messages, wire).flatMap(({ tool_calls: each }) => listOf(each).filter(isObject));
        const given = messages.flatMap(({ parts }) => parts.filter((part) => part.type === "toolCall"));
        const seen = new Set<unknown>();
        const expected = given.map(({ providerCallId: id, arguments: text }, place) => {
          const { id: idSent, function: called } = calls[place] ?? {};
          const isFree = id !== null && id !== "" && !seen.has(id);
          seen.add(idSent);
          const isKept = isObject(called) && isObject(parseJson(text)) && text.isWellFormed();
          return {
            ...calls[place],
            ...(isFree ? { id } : {}),
            ...(isKept ? { function: { ...called, arguments: text } } : {}),
          };
        });
        expect(calls).toEqual(expected);
      }),
      { numRuns: runs(100) },
    );
  });

  test("has no reasoning item that nothing follows, and no id twice, in the Responses API", () => {
    const wire = { ...wireTo("openai-responses"), format: "responses" as const };
    fc.assert(
      fc.property(threads("openai-responses"), (messages) => {
        const state = new WireState();
        const items = responseItems(wireMessages(messages, wire, state), "", state);
        const ids = items.flatMap(({ id = null }) => id ?? []);
        expect(new Set(ids).size).toBe(ids.length);
        for (const [index, { type }] of items.entries()) {
          if (type !== "reasoning") continue;
          const next = items.slice(index).find((item) => item["type"] !== "reasoning");
          expect(next?.["role"] ?? "assistant").toBe("assistant");
          expect(textOf(next?.["type"])).not.toMatch(/_output$|^$/);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
