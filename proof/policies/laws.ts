// The laws of pruning, as far as they can be seen on one thread: each checked by the plainest means, and with nothing
// of what decides, renders and counts prompts.
import type { Cut } from "@colloquy/machine/policies";
import { digestOfPrompt, type Message, type Prompt, textOf, toolCallsOf, toolResultOf } from "@colloquy/machine";
import { fixedOf, type Seen, withQuestions } from "./seen.ts";
import type { Subject } from "./subjects.ts";

/** The problem of a prompt, under the name of the law, or null. */
export type Problem = string | null;

/** A prompt, and what it was made of. */
export interface Made {
  readonly subject: Subject;
  readonly seen: Seen;
  /** Tokens that there is room for. */
  readonly room: number;
  readonly prompt: Prompt;
}

/** Each assistant message with calls is followed at once by exactly one result for each, in call order; and a user message begins it, behind what a system or a summary says. */
export const wellFormed = ({ seen, prompt: { messages, cut } }: Made): Problem => {
  let expected: readonly string[] = [];
  for (const [place, message] of messages.entries()) {
    const result = toolResultOf(message)?.callId;
    if (expected.length > 0 ? result !== expected[0] : result !== undefined || message.role === "tool") {
      return `message ${place} (${message.id}) is ${message.role} ${result ?? ""}, expected ${expected[0] ?? "no result"}`;
    }
    expected = expected.length > 0 ? expected.slice(1) : toolCallsOf(message).map(({ callId }) => callId);
  }
  if (messages.length === 0) return "it is empty";
  const first = messages.find(({ id, role, synthesised }) => !isAsideOf(id, role, synthesised === true));
  const before = seen.whole.slice(0, first === undefined ? 0 : (seen.places.get(first.id) ?? 0));
  if (
    first !== undefined &&
    first.role !== "user" &&
    cut.fields === undefined &&
    before.some(({ role }) => role === "user") &&
    cut.interrupted === "keep"
  )
    return `it begins with ${first.id} of ${first.role}, and a user spoke before`;
  return expected.length === 0 ? null : `no result of ${expected.join(", ")} at the end`;
};

/**
 * Checks that shown messages are of the thread, in its order, and changed only as the cut says. The summary must be
 * marked as synthesised.
 */
export const subsequence = ({ seen, prompt: { messages, cut } }: Made): Problem => {
  let last = -1;
  for (const [place, message] of messages.entries()) {
    const at = seen.places.get(message.id);
    if (at === undefined) {
      if (isSummary(message, cut) && last <= (seen.system === null ? -1 : 0)) continue;
      return `message ${place} (${message.id}) was never said`;
    }
    if (at <= last) return `message ${place} (${message.id}) stands behind what was said after it`;
    last = at;
    const original = seen.whole[at];
    const changed = original === undefined ? "is none" : changeOf(original, message, cut);
    if (changed !== null) return `message ${place} (${message.id}) ${changed}`;
  }
  return null;
};

/** All of the open turn is there, at the end; so is all that is pinned, as it was said, and the system message unless it is left out. */
export const openTurnWhole = ({ seen, prompt: { messages, cut } }: Made): Problem => {
  const tail = messages.slice(messages.length - seen.open.length);
  const lost = seen.open.find(({ id }, index) => tail[index]?.id !== id);
  if (lost !== undefined) return `${lost.id} of the open turn is not in its place`;
  const shown = new Map(messages.map((message) => [message.id, message]));
  for (const { pinned, messages: together } of seen.closed) {
    const missing = pinned ? together.find((message) => !isSame(shown.get(message.id), message)) : undefined;
    if (missing !== undefined) return `${missing.id} is pinned, and not shown as it is`;
  }
  const { system } = seen;
  return system === null || cut.system === "omit" || isSame(messages[0], system) ? null : "the system message is gone";
};

/** It says truly how many tokens it takes and whether that fits; and it fits where its policy can make it fit. */
export const fitsOrSaysSo = ({ subject, seen, room, prompt }: Made): Problem => {
  const tokens = tokensOf(subject, prompt.messages);
  if (prompt.tokens !== tokens) return `it takes ${tokens} tokens, and says ${String(prompt.tokens)}`;
  if (prompt.available !== room) return `there is room for ${room}, and it says ${String(prompt.available)}`;
  if (prompt.fits !== tokens <= room) return `${tokens} tokens, room for ${room}, and it says fits: ${prompt.fits}`;
  if (prompt.fits || !subject.fits) return null;
  const fixed = tokensOf(subject, fixedOf(seen, prompt.cut.interrupted));
  return fixed > room ? null : `${tokens} tokens do not fit into ${room}, and what must be shown takes ${fixed}`;
};

/** Of the closed turns, the newest that fit with their questions and no fewer: units are added one after the other until one is too much. */
export const roomFilled = ({ subject, seen, room, prompt: { messages, cut } }: Made): Problem => {
  if (!subject.fillsRoom) return null;
  const shown = new Set(seen.closed.filter(({ pinned }) => pinned));
  const asShown = () => withQuestions(seen, (unit) => shown.has(unit), cut.interrupted);
  let expected = new Set(asShown().map(({ id }) => id));
  for (const unit of seen.closed.toReversed()) {
    if (unit.pinned || (unit.interrupted && cut.interrupted === "omit")) continue;
    shown.add(unit);
    const tokens = tokensOf(subject, asShown());
    if (tokens > room) break;
    expected = new Set(asShown().map(({ id }) => id));
  }
  const missing = [...expected].find((id) => !messages.some((message) => message.id === id));
  const extra = messages.find(({ id }) => !expected.has(id));
  if (extra !== undefined) return `${extra.id} is shown, and there is no room for it`;
  return missing === undefined ? null : `${missing} is left out, and there is room for it`;
};

/** A larger room shows all that a smaller one does: as it was said, or at least as a summary where that was one. */
export const keepsMore = (smaller: Made, larger: Made): Problem => {
  if (!smaller.subject.policy.monotone) return null;
  const shown = new Set(larger.prompt.messages.map(({ id }) => id));
  const { places } = smaller.seen;
  const lost = smaller.prompt.messages.find(({ id }) => places.has(id) && !shown.has(id));
  if (lost !== undefined)
    return `${lost.id} is shown with room for ${smaller.room}, and not with room for ${larger.room}`;
  const gone = summarisedOf(smaller).find(
    (turn) => !summarisedOf(larger).includes(turn) && !isWhollyShown(smaller.seen, turn, shown),
  );
  return gone === undefined
    ? null
    : `turn ${gone} is summarised with room for ${smaller.room}, and gone with room for ${larger.room}`;
};

/** Two prompts that were sent one after the other, under one cut, begin alike. */
export const prefixKept = (before: Made, after: Made): Problem => {
  if (!before.subject.policy.stable || cutText(before.prompt.cut) !== cutText(after.prompt.cut)) return null;
  const place = before.prompt.messages.findIndex(
    ({ digest }, index) => after.prompt.messages[index]?.digest !== digest,
  );
  return place < 0 ? null : `the cut is the same, and message ${place} (${before.prompt.messages[place]?.id}) is not`;
};

/** Decided again behind its own cut, it is the same. */
export const settledAtOnce = (once: Made, again: Made): Problem => {
  if (cutText(once.prompt.cut) !== cutText(again.prompt.cut)) {
    return `decided again it is ${cutText(again.prompt.cut)}, and was ${cutText(once.prompt.cut)}`;
  }
  return digestOfPrompt(once.prompt.messages) === digestOfPrompt(again.prompt.messages)
    ? null
    : "decided again, the cut is the same and the prompt another";
};

/** The policy neither threw (threads are frozen here) nor decided what is invalid. */
export const usable = ({ prompt: { failed } }: Made): Problem => failed ?? null;

/** An ask that says nothing lives from the thread: where a policy shows nothing of that, the machine shows all. */
export const isOverruled = ({ seen, prompt: { failed } }: Made): boolean =>
  seen.open.length === 0 && failed?.includes("shows nothing of the thread") === true;

/** Returns a cut as text, without its calibration. */
export const cutText = ({ calibration: _, ...cut }: Cut): string => JSON.stringify(cut);

const tokensOf = ({ counter }: Subject, messages: readonly Message[]): number => {
  if (counter.countPrompt !== undefined) return counter.countPrompt(messages);
  let tokens = counter.perPrompt;
  for (const { parts } of messages) {
    tokens += counter.perMessage;
    for (const part of parts) tokens += counter.countPart(part);
  }
  return tokens;
};

const isAsideOf = (id: string, role: string, synthesised: boolean): boolean =>
  role === "system" || role === "developer" || (synthesised && id.startsWith("summary."));

const isSummary = ({ role, synthesised }: Message, { summarised }: Cut): boolean =>
  summarised !== undefined && role === "user" && synthesised === true;

/** How a shown message differs from what was said in a way that its cut does not allow; null for none. */
const changeOf = (original: Message, shown: Message, cut: Cut): Problem => {
  if (isSame(original, shown)) return null;
  if (cut.shrink === undefined && cut.fields === undefined) return "is another, and nothing was to be shrunk";
  if (shown.role !== original.role) return `is of ${shown.role}, and was of ${original.role}`;
  if (!isSame(toolCallsOf(shown), toolCallsOf(original))) return "makes other calls";
  if (toolResultOf(shown)?.callId !== toolResultOf(original)?.callId) return "answers another call";
  // A result that is not text is cleared too, and a mark replaces it.
  if (toolResultOf(original)?.content.some(({ type }) => type !== "text") === true) return null;
  const [now, before] = [textOf(shown).length, textOf(original).length];
  if (now > before) return `has ${now} characters, and had ${before}`;
  const limits =
    cut.shrink?.filter(({ before: until }) => until === undefined).map(({ characters }) => characters) ?? [];
  const most = Math.min(...limits);
  return toolResultOf(shown) !== undefined && now > most ? `has ${now} characters, and may have ${most}` : null;
};

const summarisedOf = ({ seen, prompt: { cut } }: Made): readonly number[] => {
  const { summarised } = cut;
  if (summarised === undefined) return [];
  const turns = new Set(seen.closed.map(({ turn }) => turn));
  return [...turns].filter((turn) => turn >= summarised.from && turn <= summarised.to);
};

const isWhollyShown = ({ closed }: Seen, turn: number, shown: ReadonlySet<string>): boolean =>
  closed.every((unit) => unit.turn !== turn || unit.messages.every(({ id }) => shown.has(id)));

const isSame = (left: unknown, right: unknown): boolean =>
  left === right || (left !== undefined && JSON.stringify(left) === JSON.stringify(right));
