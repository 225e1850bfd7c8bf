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
import {
  type Dataset,
  type Linearised,
  pairsOf,
  type PromptsWithoutPairs,
  toDpo,
  toSft,
  toTrl,
  toTrlPreferences,
} from "@colloquy/sessions/datasets";

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

/** The data set formats for writing, by the values of `--as`. */
export type WrittenDataset = "sft" | "dpo" | "trl" | "trl-messages" | "trl-preferences";

/** Rows; for a format of pairs, also the prompts without a pair. */
interface WrittenRows {
  readonly dataset: Dataset;
  readonly pairs?: PromptsWithoutPairs;
}

/** Converts examples to rows of a format. */
export const rowsAs = (as: WrittenDataset, { examples }: Linearised): WrittenRows => {
  switch (as) {
    case "sft":
      return { dataset: toSft(examples) };
    case "trl":
      return { dataset: toTrl(examples) };
    case "trl-messages":
      return { dataset: toTrl(examples, { as: "messages" }) };
    case "dpo":
    case "trl-preferences": {
      const { pairs, leftOut } = pairsOf(examples);
      return { dataset: as === "dpo" ? toDpo(pairs) : toTrlPreferences(pairs), pairs: leftOut };
    }
  }
};

/** Returns whether a format consists of pairs, which need other branches. */
export const isOfPairs = (as: WrittenDataset): boolean => as === "dpo" || as === "trl-preferences";

export const writtenDatasets: readonly WrittenDataset[] = ["sft", "dpo", "trl", "trl-messages", "trl-preferences"];

export const isWrittenDataset = (name: string): name is WrittenDataset =>
  writtenDatasets.some((format) => format === name);
