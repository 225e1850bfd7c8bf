/** Counts a text for a model: returns the number of tokens, or the tokens. */
export type Tokenize = (text: string) => Tokens | Promise<Tokens>;

type Tokens = number | { readonly length: number };

/**
 * Returns the longest prompt that fits, among those that begin at one of the utterances or after the last. It searches
 * by bisection, so that a long history is counted only a few times.
 *
 * @throws RangeError if the prompt without utterances does not fit.
 */
export const largestWindow = async (
  utterances: number,
  promptFrom: (start: number) => string,
  tokenize: Tokenize,
  tokensMax: number,
): Promise<{ readonly start: number; readonly prompt: string; readonly tokens: number }> => {
  const windowFrom = async (start: number) => {
    const prompt = promptFrom(start);
    const counted = await tokenize(prompt);
    return { start, prompt, tokens: typeof counted === "number" ? counted : counted.length };
  };
  let fitting = await windowFrom(utterances);
  if (fitting.tokens > tokensMax)
    throw new RangeError(
      `the prompt has ${fitting.tokens} tokens without any utterance, and there is room for ${tokensMax}; shorten the system prompt, or raise contextSize`,
    );
  let first = 0;
  while (first < fitting.start) {
    const window = await windowFrom(Math.floor((first + fitting.start) / 2));
    if (window.tokens <= tokensMax) fitting = window;
    else first = window.start + 1;
  }
  return fitting;
};
