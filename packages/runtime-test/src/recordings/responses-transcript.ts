import type { Json, JsonObject } from "@colloquy/machine";
import { type CanonicalItem, canonicalItemOf, sha256OfItems } from "./canonical-item.ts";
import { glimpseOfItem } from "./difference.ts";
import { difference, inexpressible, type Obstacle } from "./obstacle.ts";
import type { RecordedResponsesCase } from "./responses-case.ts";

/** The content of a recording of the Responses API, without any machine. */
export interface ResponsesTranscript {
  /** All items in order, as the client kept them. */
  readonly items: readonly CanonicalItem[];
  /** For each model call, the number of items before its reply. */
  readonly prompts: readonly number[];
  /** The client's version of each response, by the index of its step. */
  readonly kept: ReadonlyMap<number, readonly CanonicalItem[]>;
}

/**
 * Folds the steps of a case. The recorded hash of the next call determines the client's version of a response. If it
 * matches no possible version, the recording was changed.
 */
export const responsesTranscript = (recorded: RecordedResponsesCase): ResponsesTranscript | Obstacle => {
  let items: readonly CanonicalItem[] = [];
  let last: { readonly index: number; readonly output: readonly CanonicalItem[] } | null = null;
  const prompts: number[] = [];
  const kept = new Map<number, readonly CanonicalItem[]>();
  let added: readonly CanonicalItem[] = [];
  for (const [index, step] of recorded.steps.entries()) {
    if (step.type === "input") {
      added = [...added, ...step.items.map(canonicalItemOf)];
      continue;
    }
    const sent = sentAt(recorded, prompts.length, { before: items, output: last?.output ?? [], added });
    if (sent === null) return changed(index, prompts.length, recorded, [...(last?.output ?? []), ...added]);
    if (last !== null) kept.set(last.index, sent);
    items = [...items, ...sent, ...added];
    prompts.push(items.length);
    last = { index, output: step.output.map(canonicalItemOf) };
    added = [];
  }
  if (last !== null) kept.set(last.index, last.output);
  items = [...items, ...(last?.output ?? []), ...added];
  return problemOfIds(items) ?? problemOfRounds(items, prompts.at(-1) ?? 0) ?? { items, prompts, kept };
};

interface Sendable {
  readonly before: readonly CanonicalItem[];
  readonly output: readonly CanonicalItem[];
  readonly added: readonly CanonicalItem[];
}

/** Finds the client's version of the previous response. */
const sentAt = (
  recorded: RecordedResponsesCase,
  k: number,
  { before, output, added }: Sendable,
): readonly CanonicalItem[] | null => {
  const expected = recorded.expect.calls[k];
  if (expected === undefined) return null;
  const isWhole = expected.previous_response_id === null || before.length + output.length === 0;
  const choices = isWhole ? keptChoices(output) : [output];
  const kept = choices.find((choice) => {
    const sent = isWhole ? [...before, ...choice, ...added] : added;
    return sent.length === expected.input_items && sha256OfItems(sent) === expected.sha256;
  });
  return kept ?? null;
};

/**
 * Returns the possible client versions of a response. A client may leave out, or send back without ids, any kind of
 * item that it does not need to continue (reasoning, items of built-in tools).
 */
const keptChoices = (output: readonly CanonicalItem[]): readonly (readonly CanonicalItem[])[] => {
  const types = new Set(output.map(({ type }) => type).filter((type) => !isNeeded(type)));
  return [...types].reduce<readonly (readonly CanonicalItem[])[]>(
    (choices, type) => [
      ...choices,
      ...choices.map((items) => items.map((item) => (item.type === type ? { ...item, id: null } : item))),
      ...choices.map((items) => items.filter((item) => item.type !== type)),
    ],
    [output],
  );
};

/**
 * Returns whether a conversation needs this type of item to continue: messages and calls. Their canonical form has no
 * id that could be left out.
 */
const isNeeded = (type: string): boolean =>
  type === "message" || type === "function_call" || type === "function_call_output";

const changed = (
  index: number,
  k: number,
  recorded: RecordedResponsesCase,
  fresh: readonly CanonicalItem[],
): Obstacle => {
  const expected = recorded.expect.calls[k];
  if (expected === undefined)
    return difference(index, `model call ${k} is one too many: ${recorded.expect.calls.length} were expected`);
  const suspects = fresh.map(glimpseOfItem).join("; ").slice(0, 300);
  return difference(
    index,
    `model call ${k} was sent ${expected.input_items} items of the hash ${expected.sha256.slice(0, 12)}…, which those of the steps do not have: one of the last ${fresh.length} (${suspects}) was changed after the recording, or the hash was`,
  );
};

/** Returns an obstacle for calls that no output can identify: the machine gives such calls new ids. */
const problemOfIds = (items: readonly CanonicalItem[]): Obstacle | null => {
  let ids = new Set<Json | undefined>();
  for (const [place, item] of items.entries()) {
    if (item.type === "function_call_output" || item["role"] === "user") ids = new Set();
    if (item.type !== "function_call") continue;
    const id = item["call_id"];
    if (id === null || ids.has(id)) return unsendable(`item ${place} is a call without an id of its own`);
    ids.add(id);
  }
  return null;
};

/**
 * Returns an obstacle for calls without results inside a prompt, or results in another order, which no machine sends.
 * Only the recording is checked.
 */
const problemOfRounds = (items: readonly CanonicalItem[], end: number): Obstacle | null => {
  let open: readonly JsonObject[] = [];
  let answering = false;
  for (const [place, item] of items.slice(0, end).entries()) {
    const isReply = item.type !== "message" || item["role"] === "assistant";
    if (item.type === "function_call_output") {
      const [call, ...rest] = open;
      if (call === undefined) return unsendable(`item ${place} is an output that no call just before it asked for`);
      if (call["call_id"] !== item["call_id"])
        return unsendable(`item ${place} is an output where that of another call should stand`);
      open = rest;
      answering = true;
    } else if (open.length > 0 && (answering || !isReply)) {
      return unsendable(`item ${place} (${item.type}) stands where the output of a call should`);
    } else if (item.type === "function_call") {
      open = [...open, item];
      answering = false;
    } else if (open.length === 0) answering = false;
  }
  return open.length === 0 ? null : unsendable("the output of a call is missing at its end");
};

const unsendable = (reason: string): Obstacle => inexpressible(null, `it was sent what no machine sends: ${reason}`);
