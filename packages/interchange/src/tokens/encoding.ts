import { ConfigurationError } from "@colloquy/machine";
import { type Tokenizer, tokenizerOf } from "./tokenizer.ts";

/** The encodings of OpenAI's chat models: `o200k_base` since gpt-4o, `cl100k_base` for gpt-4 and gpt-3.5. */
export type Encoding = "o200k_base" | "cl100k_base";

/** Returns the named encoding, or that of the named model. Throws `ConfigurationError` for an unknown name. */
export const encodingFor = (options: {
  readonly encoding?: string | undefined;
  readonly model?: string | undefined;
}): Encoding => {
  const { encoding, model } = options;
  if (encoding !== undefined && model !== undefined)
    throw new ConfigurationError(`both encoding "${encoding}" and model "${model}" are given: give one of them`);
  if (model !== undefined) return encodingOfModel(model);
  if (encoding === undefined) return "o200k_base";
  if (isEncoding(encoding)) return encoding;
  throw new ConfigurationError(`encoding must be one of ${names}, not "${encoding}"`);
};

/** Loads an encoding on its first use, which takes up to half a second and some 60 MB of memory. */
export const loadEncoding = (encoding: Encoding): Promise<Tokenizer> => {
  const tokenizer = loaded.get(encoding) ?? loaders[encoding]();
  loaded.set(encoding, tokenizer);
  return tokenizer;
};

const loaded = new Map<Encoding, Promise<Tokenizer>>();

const loaders: Readonly<Record<Encoding, () => Promise<Tokenizer>>> = {
  o200k_base: async () => {
    const { default: ranks } = await import("gpt-tokenizer/bpeRanks/o200k_base");
    const { O200KBase } = await import("gpt-tokenizer/encodingParams/o200k_base");
    return tokenizerOf(O200KBase(ranks));
  },
  cl100k_base: async () => {
    const { default: ranks } = await import("gpt-tokenizer/bpeRanks/cl100k_base");
    const { Cl100KBase } = await import("gpt-tokenizer/encodingParams/cl100k_base");
    return tokenizerOf(Cl100KBase(ranks));
  },
};

const names = Object.keys(loaders).join(", ");

const isEncoding = (name: string): name is Encoding => Object.hasOwn(loaders, name);

/** The gpt-oss models have other special tokens, but encode text in the same way. */
const modelsOfO200k =
  /^(?:gpt-(?:4o|4\.[15]|5|oss|audio|realtime)|chatgpt-4o|chat-latest|o[134]|codex-mini|computer-use)(?![a-z0-9])/;

const modelsOfCl100k = /^gpt-(?:4|3\.5|35)(?![a-z0-9.])/;

const encodingOfModel = (model: string): Encoding => {
  // Gateways add the vendor before the name, and fine-tuning adds `ft:`.
  const name = model.slice(model.lastIndexOf("/") + 1).replace(/^ft:/, "");
  if (modelsOfO200k.test(name)) return "o200k_base";
  if (modelsOfCl100k.test(name)) return "cl100k_base";
  throw new ConfigurationError(`no encoding is known for the model "${model}": name the encoding, one of ${names}`);
};
