import type { LlmDelta } from "@colloquy/host";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";

/** What LangChain knows to be secret of a model (`lc_secrets`). Shorter ones would be found in ordinary words. */
export const secretsOf = (model: BaseChatModel): readonly string[] =>
  Object.keys(model.lc_secrets ?? {})
    .map((field): unknown => Reflect.get(model, field) ?? model.lc_kwargs[field])
    .filter((secret) => typeof secret === "string")
    .filter((secret) => secret.length >= shortestSecret);

const shortestSecret = 8;

/** Plain JSON with its texts without secrets. */
export const withoutSecrets = <Value>(secrets: readonly string[], value: Value): Value => {
  const cleaned = (each: unknown): unknown => {
    if (typeof each === "string") return secrets.reduce((text, secret) => text.replaceAll(secret, "[redacted]"), each);
    if (Array.isArray(each)) return each.map(cleaned);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, member]) => [name, cleaned(member)]));
  };
  // Only texts within it are others.
  return cleaned(value) as Value;
};

/**
 * Shows pieces without secrets, also those that are cut apart: what may begin one is held back until more of the same
 * text has come. `end` shows what is held back then.
 */
export const piecesWithoutSecrets = (
  secrets: readonly string[],
  show: (delta: LlmDelta) => void,
): { readonly onDelta: (delta: LlmDelta) => void; readonly end: () => void } => {
  const held = new Map<string, { readonly delta: LlmDelta; readonly text: string }>();
  return {
    onDelta: (given) => {
      const place = given.type === "toolCall" ? `call ${given.index}` : given.type;
      const text = (held.get(place)?.text ?? "") + textOf(given);
      const delta = withoutSecrets(secrets, withText(given, text));
      const whole = textOf(delta);
      const shown = whole.length - beginningAtEnd(secrets, whole);
      held.set(place, { delta, text: whole.slice(shown) });
      if (shown > 0 || delta.type === "toolCall") show(withText(delta, whole.slice(0, shown)));
    },
    end: () => {
      for (const { delta, text } of held.values()) if (text !== "") show(withText(delta, text));
      held.clear();
    },
  };
};

/** How much of the end of a text may begin a secret. */
const beginningAtEnd = (secrets: readonly string[], text: string): number => {
  const longest = Math.max(0, ...secrets.map(({ length }) => length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (secrets.some((secret) => secret.startsWith(text.slice(-length)))) return length;
  return 0;
};

const textOf = (delta: LlmDelta): string => (delta.type === "toolCall" ? delta.arguments : delta.text);

const withText = (delta: LlmDelta, text: string): LlmDelta =>
  delta.type === "toolCall" ? { ...delta, arguments: text } : { ...delta, text };
