import { lastTurnOf, type Message, type State, toArray, toolResultOf, turnNumbered } from "@colloquy/machine";
import { textOfResult } from "@colloquy/machine/policies";
import { checkOptions, kinds } from "../boundary/option-kinds.ts";
import { type Tool, tool } from "./tool.ts";

/** The options of a tool that reads results back. */
export interface ResultReaderOptions {
  /** The tool's name for the model; the `tool` of the shrinking rule has the same. Default `read_result`. */
  readonly name?: string;
  /**
   * The longest text of one reading, in UTF-16 units, 200 or more. Not more than the rule leaves of a result, or the
   * text would be shortened again. Default 2,000.
   */
  readonly characters?: number;
}

/**
 * Makes a tool by which a model reads a result of which its prompt shows only the start (the rule `reference`). The
 * model reads the whole result, as the thread keeps it, in pieces of limited size. Only results on the path are found.
 * Reading changes nothing, so a call that a crash interrupted is made again.
 *
 * @throws ConfigurationError for invalid options.
 */
export const resultReader = (options: ResultReaderOptions = {}): Tool => {
  checkOptions("resultReader", options, { name: kinds.anything, characters: kinds.whole(charactersMin) });
  const { name = "read_result", characters = 2_000 } = options;
  return tool({
    name,
    description:
      "Reads the whole result of an earlier tool call of which only the beginning is shown, piece by piece. " +
      "The mark at the end of what is shown names the call.",
    input: {
      jsonSchema: {
        type: "object",
        properties: {
          callId: { type: "string", description: "The call, as the mark names it, such as 3.1.0." },
          from: { type: "integer", description: "The character to begin with, from 0. Default 0." },
          characters: { type: "integer", description: `How many characters to read, at most about ${characters}.` },
        },
        required: ["callId"],
        additionalProperties: false,
      },
    },
    recovery: "rerun",
    run: ({ callId, from = 0, characters: wanted = characters }, call) => {
      // The schema has checked their types.
      const text = textOfCall(call.state(), callId as string);
      return pieceOf(text, callId as string, from as number, Math.min(wanted as number, characters), characters);
    },
  });
};

/** Enough for a mark and some text. */
const charactersMin = 200;

/** Returns at most `most` characters with the mark, of them at most `wanted` of the text. */
const pieceOf = (text: string, callId: string, from: number, wanted: number, most: number): string => {
  if (wanted < 1) throw new RangeError(`characters is ${wanted}; it must be 1 or more`);
  if (from < 0 || from > Math.max(0, text.length - 1)) {
    throw new RangeError(`from is ${from}; the result of call ${callId} has ${text.length} characters, counted from 0`);
  }
  const begin = isWithin(text, from) ? from - 1 : from;
  const longest = markOf(callId, text.length, text.length, text.length).length;
  const length = Math.min(wanted, most - longest);
  // A mark is useless if the rest of the text needs no more room.
  if (text.length - begin <= length + longest) return text.slice(begin);
  const cut = begin + length;
  // A surrogate pair is not split. If half of one was wanted, the whole is returned, for progress.
  const end = isWithin(text, cut) ? (length > 1 ? cut - 1 : cut + 1) : cut;
  return `${text.slice(begin, end)}${markOf(callId, begin, end, text.length)}`;
};

const markOf = (callId: string, begin: number, end: number, length: number): string =>
  `\n[… characters ${begin} to ${end} of the ${length} of call ${callId}; the rest begins at from ${end} …]`;

/** Returns whether an index splits a surrogate pair. */
const isWithin = (text: string, index: number): boolean => Number(text.codePointAt(index - 1)) > 0xffff;

const textOfCall = (state: State, callId: string): string => {
  for (const message of messagesOfTurn(state, Number(callId.split(".")[0]))) {
    const result = toolResultOf(message);
    if (result?.callId === callId) return textOfResult(result);
  }
  throw new Error(
    `there is no result of a call "${callId}" in this conversation; a call is named by three numbers, such as 3.1.0, ` +
      "as the mark says that stands for the rest of its result",
  );
};

/** Returns the messages of a turn on the path, or of the open one; 0 is the seed. */
const messagesOfTurn = (state: State, number: number): readonly Message[] => {
  const { open, conversation } = state.context;
  if (number === 0) return conversation.seed;
  if (open?.number === number) {
    const results = open.stage.type === "running" ? open.stage.calls.flatMap(({ result }) => result ?? []) : [];
    return [...toArray(open.messages), ...results];
  }
  let turn = lastTurnOf(state);
  while (turn !== undefined && turn.number > number) turn = turnNumbered(state, turn.parent);
  return turn?.number === number ? toArray(turn.messages) : [];
};
