import { named } from "../text/printable.ts";

/** Parses a whole number. @throws Error with the command's usage */
export const numberIn = (argument: string, usage: string, fallback?: number): number => {
  if (argument === "" && fallback !== undefined) return fallback;
  if (/^\d+$/.test(argument) && Number.isSafeInteger(Number(argument))) return Number(argument);
  throw new Error(
    argument === "" ? `this takes a number: ${usage}` : `${named(argument)} is no whole number: ${usage}`,
  );
};

/** Returns the argument. @throws Error with the command's usage if it is empty */
export const textIn = (argument: string, usage: string): string => {
  if (argument === "") throw new Error(`this takes more: ${usage}`);
  return argument;
};

/** Returns whether the argument is "yes". Otherwise shows `question`, which says what the command would do. */
export const isConfirmed = (word: string, say: (text: string) => void, question: string): boolean => {
  if (word === "yes") return true;
  say(question);
  return false;
};
