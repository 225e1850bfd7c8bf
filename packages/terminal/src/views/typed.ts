import type { Key } from "../input/key.ts";
import { graphemesOf } from "../text/width.ts";

/** What a key makes of words that are typed in one line; null where it is no key for that. */
export const typed = (words: string, key: Key): string | null => {
  if (key.type !== "key") return words + key.text.replaceAll(/\s+/g, " ");
  switch (key.name) {
    case "space":
      return `${words} `;
    case "backspace":
      return graphemesOf(words).slice(0, -1).join("");
    case "ctrl+w":
      return words.replace(/\S+\s*$/, "");
    case "ctrl+u":
      return "";
    default:
      return null;
  }
};

/** The keys of a text one by one, where it is no words but commands. */
export const keysIn = (key: Key): readonly string[] => {
  if (key.type === "key") return [key.name];
  return key.type === "text" ? graphemesOf(key.text) : [];
};
