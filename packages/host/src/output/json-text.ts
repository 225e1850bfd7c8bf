/** The JSON of an answer, which a model may have put into a code fence. Anything else around it is left where it is: then it is not JSON. */
export const jsonTextIn = (text: string): string => {
  const trimmed = text.trim();
  const opening = fenceAt(trimmed);
  return opening === 0 || !trimmed.endsWith(fence) || trimmed.length < opening + fence.length
    ? trimmed
    : trimmed.slice(opening, -fence.length);
};

/** Where what is in a code fence begins, which opens a text; 0 where none does. */
const fenceAt = (text: string): number => /^```[\w-]*\s*?\n?/.exec(text)?.[0].length ?? 0;

const fence = "```";

/** How deep an answer may be nested: safely less than the event that it stands in. */
export const answerLevels = 200;
