import { stopFilter, type StopFilter } from "./stop-filter.ts";
import type { Template } from "./template/template.ts";

/**
 * Extracts the answer from the text that a model writes after a rendered prompt. It ends at the first stop pattern,
 * and excludes a leading `opening` pattern and surrounding white space.
 *
 * @param stop Stop patterns beside those of the template.
 */
export const answerFilter = (
  template: Pick<Template, "stop" | "opening">,
  stop: readonly string[] = [],
): StopFilter => {
  const stops = stopFilter([...template.stop, ...stop]);
  const opening = template.opening.filter((pattern) => pattern !== "");
  let beginning: string | null = "";
  let blanks = "";
  let begun = false;
  /** Holds back white space until more text follows. */
  const trimmed = (text: string): string => {
    const all = blanks + (begun ? text : text.trimStart());
    const shown = all.trimEnd();
    if (shown === "") {
      blanks = begun ? all : "";
      return "";
    }
    begun = true;
    blanks = all.slice(shown.length);
    return shown;
  };
  /** Returns the text after the opening; null while an opening may still arrive. */
  const opened = (text: string): string | null => {
    const written = text.trimStart();
    if (written === "" || opening.some((pattern) => pattern !== written && pattern.startsWith(written))) return null;
    const found = opening.find((pattern) => written.startsWith(pattern));
    return found === undefined ? written : written.slice(found.length);
  };
  return {
    push: (piece) => {
      if (beginning === null) return trimmed(stops.push(piece));
      beginning += piece;
      const text = opened(beginning);
      if (text === null) return "";
      beginning = null;
      return trimmed(stops.push(text));
    },
    end: () => {
      const rest = beginning === null ? "" : stops.push(beginning.trimStart());
      beginning = null;
      return trimmed(rest + stops.end());
    },
    stopped: stops.stopped,
  };
};
