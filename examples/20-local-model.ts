// A local model by text completion: its chat template renders the conversation as one text, and the answer ends where
// the next turn would begin. LOCAL_MODEL_URL is the base URL of a server (llama.cpp, vLLM, …); without it, a double on
// this machine stands in.
import { conversationMachine } from "@colloquy/machine";
import { tokenWindow } from "@colloquy/machine/policies";
import { createHost, memoryStore, textCompletion } from "@colloquy/runtime-node";
import { loopbackServer, recordedJson } from "@colloquy/runtime-test/server";
import { templateCounter } from "@colloquy/interchange/templates";
import { jinjaTemplate } from "@colloquy/interchange/templates/jinja";

// From the model's tokenizer_config.json or GGUF file.
const chatTemplate = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content | trim }}<|im_end|>
{% endfor %}
{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;
const template = jinjaTemplate(chatTemplate, { eosToken: "<|im_end|>" });

// A stand-in for the model's own tokenizer.
const tokenizer = { name: "words", count: (text: string) => text.split(/\s+/u).length };
const counter = templateCounter(template, tokenizer);

const completion = (text: string) => recordedJson({ choices: [{ index: 0, text, finish_reason: "stop" }] });
const server = await loopbackServer({
  recorded: [completion(" A queue is a line."), completion("Of people.<|im_end|>\n<|im_start|>user\nI see")],
});
const host = createHost({
  machine: conversationMachine({ counter, budget: { tokens: 4096, reserve: 512 }, policy: tokenWindow() }),
  llm: textCompletion({
    baseURL: process.env["LOCAL_MODEL_URL"] ?? server.url,
    model: process.env["LOCAL_MODEL_NAME"] ?? "local",
    template,
  }),
  store: memoryStore(),
  thread: { system: "Be short.", model: { temperature: 0.2, max_tokens: 512 } },
});

const thread = host.thread("ada");
console.log((await thread.ask("What is a queue?")).text);
console.log((await thread.ask("Of what?")).text);

const [, second] = server.requests;
console.log(JSON.stringify(second?.body));

await host.close();
await server.close();
