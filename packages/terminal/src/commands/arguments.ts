import { named } from "../text/printable.ts";

/** A whole number. @throws Error that says how it is written */
export const numberIn = (argument: string, usage: string, fallback?: number): number => {
  if (argument === "" && fallback !== undefined) return fallback;
  if (/^\d+$/.test(argument) && Number.isSafeInteger(Number(argument))) return Number(argument);
  throw new Error(
    argument === "" ? `this takes a number: ${usage}` : `${named(argument)} is no whole number: ${usage}`,
  );
};

/** What was given. @throws Error that says how it is written */
export const textIn = (argument: string, usage: string): string => {
  if (argument === "") throw new Error(`this takes more: ${usage}`);
  return argument;
};

/** Whether a word of yes was given. Without it, `question` says what would be done, and nothing is. */
export const isConfirmed = (word: string, say: (text: string) => void, question: string): boolean => {
  if (word === "yes") return true;
  say(question);
  return false;
};
