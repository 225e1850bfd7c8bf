/**
 * Returns the JSON of an answer, without the code fence that a model may have put around it. Other text around it
 * stays: then the answer is not JSON.
 */
export const jsonTextIn = (text: string): string => {
  const trimmed = text.trim();
  const opening = fenceAt(trimmed);
  return opening === 0 || !trimmed.endsWith(fence) || trimmed.length < opening + fence.length
    ? trimmed
    : trimmed.slice(opening, -fence.length);
};

/** Returns the index after a code fence that opens the text; 0 if there is none. */
const fenceAt = (text: string): number => /^```[\w-]*\s*?\n?/.exec(text)?.[0].length ?? 0;

const fence = "```";

/** The deepest nesting of an answer: safely less than that of the event that contains it. */
export const answerLevels = 200;
