import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The chat templates of models in Ollama's library, which the package that contains them does not export. */
export const modelTemplates: readonly string[] = [
  ...readFileSync(
    fileURLToPath(new URL("../src/chat-template-automap.ts", import.meta.resolve("@huggingface/ollama-utils"))),
    "utf8",
  ).matchAll(/gguf:\s*("(?:[^"\\]|\\.)*")/gu),
].map(([, quoted = ""]) => String(JSON.parse(quoted)));
