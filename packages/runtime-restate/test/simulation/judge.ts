import { decodeJournal } from "@colloquy/machine/journal";
import { replay } from "@colloquy/machine/inspect";
import type { Entry } from "@colloquy/machine";
import { differenceOf, lawRecovery } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";
import type { Held } from "./conversation.ts";
import type { Simulated } from "./engine.ts";

/**
 * Compares a conversation on the engine with the same one in memory: the journal must be the same, apart from times, or
 * differ as the law of recovery allows after an entry that is marked `recovered`.
 *
 * @throws LawBroken, or an Error with the problem
 */
export const judge = ({ journal, results, world, restate }: Simulated, expected: Held): void => {
  const decoded = decodeJournal(JSON.parse(JSON.stringify(journal)));
  if (Either.isLeft(decoded)) throw new Error(`it can't be read: ${JSON.stringify(decoded.left)}`);
  const replayed = replay(world.machine, decoded.right);
  if (Either.isLeft(replayed)) throw new Error(`it replays otherwise: ${JSON.stringify(replayed.left)}`);
  const [uncrashed, resumed] = [inOneOrder(expected.journal), inOneOrder(journal)];
  const tools = world.tools.map(({ declaration }) => declaration);
  // The shown text dies with its worker, and then the next prompts lack it.
  if (!world.isShown || restate.struck === 0) lawRecovery({ uncrashed, resumed, tools, ran: world.ran });
  const asked = journal.flatMap(({ event }) => (event.type === "ask.received" ? [event.askId] : []));
  if (new Set(asked).size < asked.length) throw new Error(`an ask is journalled twice: ${asked.join(", ")}`);
  if (!journal.some((entry) => "recovered" in entry)) {
    const difference = differenceOf(expected.results, results);
    if (difference !== null) throw new Error(`somebody had another result: ${difference}`);
  }
  const kept = journal.filter(({ event }) => event.type === "thread.redacted").length;
  const words = [...restate.stateOf("t").values()].filter((text) => text.includes("redact "));
  if (kept > 0 && words.length > 0) throw new Error(`what was redacted is still there: ${words[0]}`);
};

/** Sorts the answers of concurrent tools by their calls, as the order of their arrival is random. */
const inOneOrder = (journal: readonly Entry[]): readonly Entry[] => {
  const ordered = [...journal];
  for (let from = 0; from < ordered.length; from += 1) {
    let end = from;
    while (placeOf(ordered[end]) !== null) end += 1;
    const answers = ordered
      .slice(from, end)
      .sort((one, other) => ((placeOf(one) ?? "") < (placeOf(other) ?? "") ? -1 : 1));
    ordered.splice(from, answers.length, ...answers);
    from = Math.max(from, end);
  }
  // Another position does not change the entry, as its decision does not depend on the others.
  return ordered.map((entry, index) => ({ ...withoutDuration(entry), seq: journal[index]?.seq ?? index }) as Entry);
};

/** Removes how long a turn took until its deadline, like other times. */
const withoutDuration = (entry: Entry): object => {
  const decided = "decided" in entry ? entry.decided : undefined;
  return decided?.limit?.limit === "deadlineMs"
    ? { ...entry, decided: { ...decided, limit: { ...decided.limit, reached: 0 } } }
    : entry;
};

/** Groups the entries of one call before those of the next. */
const placeOf = (entry: Entry | undefined): string | null => {
  switch (entry?.event.type) {
    case "tool.started":
      return `${entry.event.effectId} 1`;
    case "tool.completed":
    case "tool.failed":
      return `${entry.event.effectId} 2`;
    default:
      return null;
  }
};
