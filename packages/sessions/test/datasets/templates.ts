import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Template } from "@huggingface/jinja";

/** A chat template of a model's tokenizer. */
export interface ChatTemplate {
  /** Its place in the list of `@huggingface/ollama-utils`. */
  readonly place: number;
  /** Renders messages; null if the template refuses them (a role or an order that its model does not know). */
  readonly render: (row: RenderedRow, addGenerationPrompt: boolean) => string | null;
}

/** A row as a trainer renders it. */
export interface RenderedRow {
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
}

/** Returns the chat templates of Hugging Face models that `@huggingface/ollama-utils` ships. */
export const chatTemplates = (): readonly ChatTemplate[] => {
  const entry = require.resolve("@huggingface/ollama-utils");
  const source = readFileSync(join(dirname(entry), "../src/chat-template-automap.ts"), "utf8");
  return [...source.matchAll(/gguf:\s*("(?:[^"\\]|\\.)*")/g)].flatMap(([, text = '""'], place) => {
    const template = parsed(String(JSON.parse(text)));
    return template === null ? [] : [{ place, render: renderer(template) }];
  });
};

const require = createRequire(import.meta.url);

const parsed = (text: string): Template | null => {
  try {
    return new Template(text);
  } catch {
    return null;
  }
};

const renderer =
  (template: Template): ChatTemplate["render"] =>
  ({ messages, tools }, addGenerationPrompt) => {
    try {
      return template.render({
        messages,
        ...(tools.length === 0 ? {} : { tools }),
        add_generation_prompt: addGenerationPrompt,
        bos_token: "<s>",
        eos_token: "</s>",
        date_string: "26 Jul 2024",
      });
    } catch {
      return null;
    }
  };
