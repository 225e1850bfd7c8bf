import {
  type Exported,
  type Loss,
  toChatMessages,
  toLangChainMessages,
  toModelMessages,
  toResponseItems,
  toUiMessages,
} from "@colloquy/interchange";
import type { Message } from "@colloquy/machine";
import { writtenDatasets } from "./dataset-formats.ts";

/** Converts messages to the form of another library. */
type MessageWriter = (messages: readonly Message[]) => Exported<unknown>;

/** Returns the writer of the format that `--as` names. @throws Error for an unknown name */
export const messageWriter = (name: string): MessageWriter => {
  const writer = Object.hasOwn(writers, name) ? writers[name] : undefined;
  if (writer !== undefined) return writer;
  throw new Error(
    `--as is "${name}"; it must be one of: ${["journal", ...Object.keys(writers), ...writtenDatasets].join(", ")}`,
  );
};

const writers: Readonly<Record<string, MessageWriter>> = {
  chat: toChatMessages,
  responses: toResponseItems,
  model: toModelMessages,
  ui: toUiMessages,
  langchain: toLangChainMessages,
};

/** Describes a loss in one line. @param place where in the file the conversation is: `line 2: ` */
export const lossLine = (thing: "item" | "message", { index, path, what, why }: Loss, place = ""): string =>
  `not carried: ${place}${thing} ${index}${path === "" ? "" : `, ${path}`}: ${what}: ${why.replace("{ repair: true }", "--repair")}`;

/** Converts advice of the library for its callers to advice for the user of a command. */
export const asCommand = (advice: string): string => advice.replace("import with { repair: true }", "give --repair");
