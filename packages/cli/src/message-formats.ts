import {
  fromChatMessages,
  fromModelMessages,
  fromResponseItems,
  fromUiMessages,
  type Loss,
  toChatMessages,
  toModelMessages,
  toResponseItems,
  toUiMessages,
} from "@colloquy/interchange";
import type { Message } from "@colloquy/machine";
import { readDatasets, writtenDatasets } from "./dataset-formats.ts";

/** How messages are read and written that have the form of another library. */
interface MessageFormat {
  readonly read: (items: unknown, options: { readonly repair: boolean }) => ReturnType<typeof fromChatMessages>;
  readonly write: (messages: readonly Message[]) => { readonly value: unknown; readonly losses: readonly Loss[] };
}

/** The format that the value of an option names. @throws Error where it names none */
export const formatNamed = (option: "--as" | "--from", name: string): MessageFormat => {
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format !== undefined) return format;
  const rows = option === "--as" ? writtenDatasets : readDatasets;
  throw new Error(
    `${option} is "${name}"; it must be one of: ${["journal", ...Object.keys(formats), ...rows].join(", ")}`,
  );
};

const formats: Readonly<Record<string, MessageFormat>> = {
  chat: { read: fromChatMessages, write: (messages) => toChatMessages(messages) },
  responses: { read: fromResponseItems, write: (messages) => toResponseItems(messages) },
  model: { read: fromModelMessages, write: (messages) => toModelMessages(messages) },
  ui: { read: fromUiMessages, write: (messages) => toUiMessages(messages) },
};

/** What was not carried over, in a line. */
export const lossLine = (thing: "item" | "message", { index, path, what, why }: Loss): string =>
  `not carried: ${thing} ${index}${path === "" ? "" : `, ${path}`}: ${what}: ${asCommand(why)}`;

/** Advice of the library to its callers, as advice to the user of the command. */
export const asCommand = (advice: string): string => advice.replace("{ repair: true }", "--repair");
