import type { Message } from "@colloquy/machine";
import { fromModelMessages, type Imported, toModelMessages } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import type { Answer, MemoryClient, MemoryMessage } from "../client/memory-client.ts";
import { inPlace, mirroredIn } from "./segment.ts";

/** The text of a message in a memory. */
export interface MemoryText {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/**
 * Returns the texts of any memory, in the order of their writing, whatever order the service uses and whatever is
 * written meanwhile. A missing half of a pair is left out.
 */
export const memoryTexts = async (
  memory: Pick<MemoryClient, "conversation">,
  memoryId: string,
): Answer<readonly MemoryText[]> =>
  Either.map((messages: readonly MemoryMessage[]) => messages.flatMap(textsOf))(await memory.conversation(memoryId));

/**
 * Converts a memory to a conversation for `host.importMessages`: each message is a turn. Messages from a mirror include
 * tool calls and all other parts; messages from others include only texts.
 */
export const importMemory = async (memory: Pick<MemoryClient, "conversation">, memoryId: string): Answer<Imported> => {
  const messages = await memory.conversation(memoryId);
  if (Either.isLeft(messages)) return messages;
  const mirrored = messages.right.map(({ info }) => mirroredIn(info));
  const own = mirrored.flatMap((each) => each ?? []);
  const isOwn = own.length > 0 && own.length === mirrored.length;
  if (isOwn) return ofMirror(inPlace(own).flatMap((each) => each.messages));
  const turns = messages.right.map((message) => textsOf(message).map(({ role, text }) => ({ role, content: text })));
  return Either.right({ system: null, turns: turns.filter((turn) => turn.length > 0), losses: [] });
};

const ofMirror = (messages: readonly Message[]): Either.Either<{ status: null; reason: string }, Imported> =>
  Either.mapLeft(({ reason }: { readonly reason: string }) => ({ status: null, reason }))(
    fromModelMessages(toModelMessages(messages).value, { repair: true }),
  );

const textsOf = ({ input, response }: MemoryMessage): readonly MemoryText[] => [
  ...(isSaid(input) ? [{ role: "user" as const, text: input }] : []),
  ...(isSaid(response) ? [{ role: "assistant" as const, text: response }] : []),
];

const isSaid = (text: string | undefined): text is string => text !== undefined && text.trim() !== "";
