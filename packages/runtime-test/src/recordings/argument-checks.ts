import { ConfigurationError, type ConversationMachine } from "@colloquy/machine";
import { isConversationMachine } from "@colloquy/machine/hosting";

/**
 * Returns the entries that a caller in JavaScript passed.
 *
 * @param of the function, as its caller knows it: `toReplay`.
 * @throws ConfigurationError for a value that is not a list
 */
export const checkedEntries = (of: string, value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw new ConfigurationError(`${of} takes the entries of a journal; this is ${described(value)}`);
};

export const checkedMachine = (of: string, value: unknown): ConversationMachine => {
  if (isConversationMachine(value)) return value;
  throw new ConfigurationError(`${of} takes what conversationMachine({ … }) made; this is ${kindOf(value)}`);
};

export const checkedCase = <Case extends object>(of: string, value: Case): Case => {
  if ("steps" in Object(value) && "expect" in Object(value)) return value;
  throw new ConfigurationError(`${of} takes a recorded case, as readRecordings gives it; this is ${described(value)}`);
};

const described = (value: unknown): string => {
  const tag: unknown = Reflect.get(Object(value), "_tag");
  if (tag === "Right") return "an Either: give its .right";
  if (tag === "Left") return "an Either without a value: its .left says why";
  if (typeof value === "string") return "a text: give journalLines(text)";
  return kindOf(value);
};

const kindOf = (value: unknown): string =>
  Array.isArray(value)
    ? "a list"
    : typeof value === "object" && value !== null
      ? "an object"
      : value === undefined || value === null
        ? String(value)
        : `a ${typeof value}`;
