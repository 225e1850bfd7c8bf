import {
  type ContentPart,
  type Entry,
  type Message,
  type MessageDraft,
  type Part,
  type State,
  type SystemDraft,
  textOf,
  toArray,
  type Turn,
  turnsOf,
} from "@colloquy/machine";
import { foldVisiting } from "@colloquy/machine/journal";
import { redactedText } from "@colloquy/machine/storage";

/** A recorded turn with a question. */
export interface RecordedTurn {
  readonly turn: Turn;
  /**
   * The messages that were asked: all before the first reply. Messages that joined the turn later are not asked again.
   */
  readonly asked: readonly MessageDraft[];
  readonly question: string;
  /** The system prompt at the start of the turn; null for none. */
  readonly system: SystemDraft | null;
}

/** Returns the turns on the path of a journal that can be asked again, in order; `end` is its final state. */
export const recordedTurns = (entries: readonly Entry[], end: State): readonly RecordedTurn[] => {
  const systems = systemsOf(entries);
  return turnsOf(end).flatMap((turn) => {
    const messages = toArray(turn.messages);
    const replied = messages.findIndex(({ role }) => role === "assistant");
    const lead = messages.slice(0, replied === -1 ? messages.length : replied);
    // A turn without an ask that begins with an assistant message contains no question.
    if (!lead.some(({ role }) => role === "user") && turn.asks.length === 0) return [];
    // Redacted content cannot be asked again.
    if (JSON.stringify(lead).includes(redactedText)) return [];
    const question = lead.filter(({ role }) => role === "user").map((message) => textOf(message));
    const system = systemDraft(systems.get(turn.number) ?? null);
    return [{ turn, asked: lead.flatMap(draftOf), question: question.join("\n"), system }];
  });
};

/** Returns the system message at the start of each turn, by number. */
const systemsOf = (entries: readonly Entry[]): ReadonlyMap<number, Message | null> => {
  const systems = new Map<number, Message | null>();
  const newestIn = ({ context: { open, conversation } }: State): number => open?.number ?? conversation.turns.length;
  foldVisiting(entries, (_, before, after) => {
    const newest = newestIn(after);
    if (newest > newestIn(before)) systems.set(newest, before.context.conversation.system);
  });
  return systems;
};

const systemDraft = (system: Message | null): SystemDraft | null =>
  system === null ? null : { role: system.role === "developer" ? "developer" : "system", ...contentOf(system) };

const draftOf = (message: Message): readonly MessageDraft[] => {
  const { role, metadata } = message;
  if (role === "tool") return [];
  return [{ role, ...contentOf(message), ...(metadata === undefined ? {} : { metadata }) }];
};

const contentOf = ({ parts, name, provider }: Message): Pick<MessageDraft, "content" | "name" | "provider"> => ({
  content: parts.filter(isContent),
  ...(name === undefined ? {} : { name }),
  ...(provider === undefined ? {} : { provider }),
});

const isContent = (part: Part): part is ContentPart =>
  part.type === "text" || part.type === "data" || part.type === "image" || part.type === "opaque";
