import { stopFilter, type StopFilter } from "./stop-filter.ts";
import type { Template } from "./template/template.ts";

/**
 * Takes an answer out of what a model writes behind a rendered prompt: up to the first stop pattern, without the
 * pattern of `opening` that it may begin with, and without white space around it.
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
  /** Lets white space wait for what follows it. */
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
  /** What follows the opening; null while that may still come. */
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
